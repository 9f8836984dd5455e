/**
 * How long the event loop is held while one folder with 100,000 entries is read, read again,
 * changed and removed. Usage: node scripts/build.mjs && node bench/watch-flat.mjs [entries]
 */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { watchAll } from './watch-all.mjs';

const entries = Number(process.argv[2] ?? 100_000);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-bench-')));

async function hold(what, run) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begun = performance.now();
  const result = await run();
  const took = performance.now() - begun;
  // A hold is counted when the next tick is late.
  await setTimeout(20);
  delay.disable();
  console.log(
    `${what.padEnd(22)} ${took.toFixed(0).padStart(6)} ms, longest hold ${(delay.max / 1e6).toFixed(0)} ms`,
  );
  return result;
}

try {
  mkdirSync(`${root}/flat`);
  for (let index = 0; index < entries; index += 1) {
    writeFileSync(`${root}/flat/entry-${index}`, String(index));
  }
  const cold = await hold('cold start', () => watchAll(root));
  await hold('first save, idle', () => setTimeout(2_000));
  await hold('scan', () => cold.rescan());
  writeFileSync(`${root}/flat/one-more`, '1');
  await hold('settle after a change', () => cold.settle());
  await hold('stop', () => cold.stop());
  const warm = await hold('warm start', () => watchAll(root));
  renameSync(`${root}/flat`, `${root}/moved`);
  await hold('folder renamed', () => warm.settle());
  renameSync(`${root}/moved`, `${root}/.agentsmithy/gone`);
  await hold('folder gone', () => warm.settle());
  await warm.stop();
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exit(0);
