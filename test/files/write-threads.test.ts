import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type * as Writers from '../../src/files/tree-writer.js';
import { createProject, stepsBetween, told } from './project.js';
import type { Project, Words } from './project.js';

// Threads run what was built; from source there is nothing to start them with.
const BUILT = '../../dist/files/tree-writer.js';
const { createTreeWriter } = (await import(BUILT)) as typeof Writers;

const MANY = 1_500;
const FLAGS = { old: 'the old ', new: 'the new ' };

function many(version: keyof typeof FLAGS): Words {
  const name = (number: number): string => `d${number % 40}/file-${number}`;
  return Object.fromEntries(
    Array.from({ length: MANY }, (_, number) => [
      name(number),
      `${number % 7 === 0 ? '!' : ''}${FLAGS[version]}${number}`,
    ]),
  );
}

let project: Project;
beforeEach(() => {
  project = createProject();
  project.put(many('old'));
});
afterEach(() => project.remove());

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('very many replaced files', () => {
  it('are all as wished, with the permissions they had, among other steps', async () => {
    const others = {
      old: { gone: '1', kind: '@nowhere' },
      new: { 'made/anew': '2', kind: 'file' },
    };
    const [before, after] = [
      { ...many('old'), ...others.old },
      { ...many('new'), ...others.new },
    ];
    project.put(others.old);
    project.remember(after);
    chmodSync(project.at('d1/file-1'), 0o640);
    const steps = stepsBetween(before, after);
    const seen: number[] = [];
    const writer = createTreeWriter({ root: project.root });
    const outcomes = await writer.apply(steps, project.content, {
      onProgress: (done) => seen.push(done),
    });
    expect(project.tree()).toEqual(after);
    expect(outcomes.map(({ path }) => path)).toEqual([...new Set(steps.map(({ path }) => path))]);
    expect(outcomes.filter(({ result }) => result === 'skipped')).toEqual([]);
    expect(seen).toEqual(steps.map((_, number) => number + 1));
    expect(statSync(project.at('d1/file-1')).mode & 0o777).toBe(0o640);
  });

  it('are left alone where somebody wrote, linked or moved meanwhile', async () => {
    project.remember(many('new'));
    project.put({ 'd5/file-5': 'mine' });
    unlinkSync(project.at('d6/file-6'));
    unlinkSync(project.at('d8/file-8'));
    symlinkSync('/etc/hostname', project.at('d8/file-8'));
    renameSync(project.at('d9'), project.at('elsewhere'));
    symlinkSync('elsewhere', project.at('d9'));
    const writer = createTreeWriter({ root: project.root, umask: 0o002 });
    const answer = told(
      await writer.apply(stepsBetween(many('old'), many('new')), project.content),
    );
    const tree = project.tree();
    for (const path of ['d5/file-5', 'd8/file-8', 'd9/file-9']) {
      expect([path, answer[path]]).toEqual([path, 'changed_meanwhile']);
    }
    // Where nothing is, nothing can be lost; and it looks as if its user had made it.
    expect(answer['d6/file-6']).toBe('restored');
    expect(statSync(project.at('d6/file-6')).mode & 0o777).toBe(0o664);
    expect(tree).toMatchObject({ 'd5/file-5': 'mine', 'd8/file-8': '@/etc/hostname' });
    expect(tree['d6/file-6']).toBe('the new 6');
    expect(tree['elsewhere/file-9']).toBe('the old 9');
    expect(tree['d10/file-10']).toBe('the new 10');
  });

  it('come from streams too, and one without content fails alone', async () => {
    project.remember(many('new'));
    const steps = stepsBetween(many('old'), many('new'));
    const streamed = steps.find(({ path }) => path === 'd1/file-1');
    const missing = steps.find(({ path }) => path === 'd2/file-2');
    const writer = createTreeWriter({ root: project.root });
    const answer = told(
      await writer.apply(steps, async (hash) => {
        if (missing !== undefined && 'hash' in missing && hash === missing.hash) {
          throw new Error('not there');
        }
        const content = await project.content(hash);
        const isStreamed = streamed !== undefined && 'hash' in streamed && hash === streamed.hash;
        return isStreamed ? pieces(content) : content;
      }),
    );
    expect(answer['d1/file-1']).toBe('restored');
    expect(answer['d2/file-2']).toMatch(/not there/u);
    expect(project.tree()).toMatchObject({ 'd1/file-1': 'the new 1', 'd2/file-2': 'the old 2' });
    expect(Object.values(answer).filter((one) => one === 'restored')).toHaveLength(MANY - 1);
  });

  it('stop between two of them when told to, and the rest is cancelled', async () => {
    project.remember(many('new'));
    const controller = new AbortController();
    const writer = createTreeWriter({ root: project.root });
    const answer = told(
      await writer.apply(stepsBetween(many('old'), many('new')), project.content, {
        signal: controller.signal,
        onProgress: () => controller.abort(),
      }),
    );
    const tree = project.tree();
    const [old, fresh] = [many('old'), many('new')];
    const restored = Object.keys(answer).filter((path) => answer[path] === 'restored');
    expect(restored.length).toBeGreaterThan(0);
    expect(restored.length).toBeLessThan(MANY);
    for (const path of Object.keys(answer)) {
      expect(tree[path]).toBe((restored.includes(path) ? fresh : old)[path]);
      if (!restored.includes(path)) expect(answer[path]).toBe('cancelled');
    }
  });
});

/** In a process of its own, whose threads end after their second answer. */
const DYING = `
import worker from 'node:worker_threads';
import { syncBuiltinESMExports } from 'node:module';
import { readFileSync } from 'node:fs';
const stay = setInterval(() => undefined, 1000);
worker.Worker = class extends worker.Worker {
  answers = 0;
  constructor(...all) {
    super(...all);
    this.on('message', () => ++this.answers === 2 && this.terminate());
  }
};
syncBuiltinESMExports();
const [root, writer, given] = process.argv.slice(1);
const { createTreeWriter } = await import(writer);
const { steps, contents } = JSON.parse(readFileSync(given, 'utf8'));
const source = (hash) => Promise.resolve(Buffer.from(contents[hash]));
const outcomes = await createTreeWriter({ root }).apply(steps, source);
process.stdout.write(JSON.stringify(outcomes.map(({ path, result }) => [path, result])));
clearInterval(stay);
`;

onLinux('a thread that dies', () => {
  it('costs nothing: what it did is told, what it left lying about goes away', async () => {
    project.remember(many('new'));
    const steps = stepsBetween(many('old'), many('new'));
    const hashes = steps.flatMap((step) => ('hash' in step ? [step.hash] : []));
    const contents = await Promise.all(
      hashes.map(async (hash) => [hash, (await project.content(hash)).toString()] as const),
    );
    const given = join(tmpdir(), `given-${process.pid}.json`);
    writeFileSync(given, JSON.stringify({ steps, contents: Object.fromEntries(contents) }));
    try {
      const writer = new URL(BUILT, import.meta.url).href;
      const words = ['--input-type=module', '-e', DYING, project.root, writer, given];
      const told = JSON.parse(
        execFileSync(process.execPath, words, { encoding: 'utf8' }),
      ) as string[];
      expect(told).toEqual(steps.map(({ path }) => [path, 'restored']));
      expect(project.tree()).toEqual(many('new'));
    } finally {
      rmSync(given);
    }
  });
});

async function* pieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (const byte of content) {
    await Promise.resolve();
    yield Uint8Array.of(byte);
  }
}
