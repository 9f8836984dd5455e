import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createProject, stepsBetween } from './project.js';
import type { Project, Words } from './project.js';

const ROUNDS = 4;
const FILES = 1000;

let project: Project;
let outside: string;
beforeEach(() => {
  project = createProject();
  outside = mkdtempSync(join(tmpdir(), 'smithyd-outside-'));
  mkdirSync(join(outside, 'sub'));
  writeFileSync(join(outside, 'canary'), 'alive');
});
afterEach(() => {
  project.remove();
  rmSync(outside, { recursive: true, force: true });
});

const onLinux = process.platform === 'linux' ? it : it.skip;

describe('a folder that is swapped for a link while files are written below it', () => {
  onLinux('23: lets nothing out of the root', async () => {
    project.put({ 'up/d/sub/first': '0' });
    const swapper = spawn(
      process.execPath,
      ['test/files/swapper.mjs', project.at('up/d'), outside],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const lines = createInterface(swapper.stdout)[Symbol.asyncIterator]();
    const counts = new Map<string, number>();
    try {
      await lines.next();
      for (let round = 1; round <= ROUNDS; round += 1) {
        const words = wordsOf(round);
        project.remember(words);
        // What is there is anybody's guess: both new files and deletions are asked for.
        const steps = [...stepsBetween({}, words), ...stepsBetween(wordsOf(round - 1), {})];
        for (const { result } of await project.writer.apply(steps, project.content)) {
          counts.set(result, (counts.get(result) ?? 0) + 1);
        }
      }
      swapper.stdin.end();
      const last: IteratorResult<string, unknown> = await lines.next();
      expect(Number(last.value)).toBeGreaterThan(100);
      await once(swapper, 'close');
    } finally {
      swapper.kill('SIGKILL');
    }
    expect(counts.get('restored') ?? 0).toBeGreaterThan(0);
    expect(counts.get('skipped') ?? 0).toBeGreaterThan(0);
    expect(readdirSync(outside, { recursive: true }).sort()).toEqual(['canary', 'sub']);
  });
});

function wordsOf(round: number): Words {
  const names = Array.from(
    { length: FILES },
    (_, n) => `up/d/${n % 2 === 0 ? 'sub/' : ''}${round}-${n}`,
  );
  return Object.fromEntries(names.map((name) => [name, `${round}`]));
}
