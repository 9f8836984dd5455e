import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { project } from '../support/project.js';
import { watchInProcess } from '../support/watch-process.mjs';

const SIZE = 512 * 2 ** 20;

// The full size, 5 GB, is for scripts/big-file.mjs.
it('a file is read in a fixed amount of memory, however large it is', async () => {
  const here = project();
  try {
    writeFileSync(`${here.root}/small`, '1');
    const watching = await watchInProcess(here.root, 2 * SIZE);
    try {
      const before = await watching.ask();
      writeFileSync(`${here.root}/large`, '');
      truncateSync(`${here.root}/large`, SIZE);
      const after = await watching.ask();
      const git = ['hash-object', '--no-filters', `${here.root}/large`];
      const id = execFileSync('git', git, { encoding: 'utf8' }).trim();
      expect(new Map(after.entries).get('large')).toBe(id);
      expect(after.peakBytes - before.peakBytes).toBeLessThan(SIZE / 4);
    } finally {
      await watching.end();
    }
  } finally {
    await here.end();
  }
}, 120_000);
