/**
 * The long version of test/watch/memory.test.ts: a sparse file of 5 GB, below a cap raised for it.
 * Usage: node scripts/build.mjs && node scripts/big-file.mjs [bytes]
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { watchInProcess } from '../test/support/watch-process.mjs';

const bytes = Number(process.argv[2] ?? 5e9);
const megabytes = (value) => `${Math.round(value / 2 ** 20)} MB`;
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-big-')));
try {
  mkdirSync(`${root}/.agentsmithy`, { mode: 0o700 });
  const watching = await watchInProcess(root, 2 * bytes);
  try {
    const before = await watching.ask();
    writeFileSync(`${root}/big`, '');
    truncateSync(`${root}/big`, bytes);
    const begun = performance.now();
    const { fresh, entries, peakBytes } = await watching.ask();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(
      `${megabytes(bytes)}: known as ${entries[0]?.[1]} after ${seconds} s, fresh: ${fresh}; ` +
        `peak memory ${megabytes(before.peakBytes)} before, ${megabytes(peakBytes)} after`,
    );
  } finally {
    await watching.end();
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
