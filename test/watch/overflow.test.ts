import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, it } from '@jest/globals';
import type { WatchNotice } from '../../src/core/watching.js';
import { project } from '../support/project.js';

interface Answer {
  fresh: boolean;
  notices: WatchNotice[];
  entries: [string, string][];
}

const blobId = (text: string): string =>
  createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex');

it('misses nothing when it stood still while the event queue ran over, and shows the doubt', async () => {
  const here = project();
  // Two events per file: created and written.
  const limit = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
  const count = Math.min(30_000, Math.ceil(limit * 0.6));
  for (let folder = 0; folder < 50; folder += 1) mkdirSync(`${here.root}/d${folder}`);
  const child = spawn(process.execPath, ['test/support/watch-child.mjs', here.root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    child.kill('SIGSTOP');
    const expected: Record<string, string> = {};
    for (let index = 0; index < count; index += 1) {
      const path = `d${index % 50}/f${index}`;
      writeFileSync(`${here.root}/${path}`, String(index));
      expected[path] = blobId(String(index));
    }
    child.kill('SIGCONT');
    child.stdin.write('now\n');
    const line = await lines.next();
    const answer = JSON.parse(String(line.value)) as Answer;
    expect(answer.fresh).toBe(true);
    expect(Object.fromEntries(answer.entries)).toEqual(expected);
    // Only a queue that really ran over must have been noticed.
    if (2 * count > limit) {
      expect(answer.notices.map(({ type }) => type)).toContain('watch_desynced');
    }
  } finally {
    child.kill('SIGKILL');
    await here.end();
  }
}, 120_000);
