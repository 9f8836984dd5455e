/**
 * The long version of test/e2e/crash.test.ts, on the built files.
 * Usage: node scripts/build.mjs && node scripts/kill-sweep.mjs [kills] [seed]
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { killSweep } from '../test/support/kill-sweep.mjs';

const [kills = '300', seed = String(Date.now() % 1e9)] = process.argv.slice(2);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-sweep-')));
const begun = performance.now();
try {
  const report = await killSweep({
    root,
    seed: Number(seed),
    kills: Number(kills),
    cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    tell: (line) => console.log(line),
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  console.log(JSON.stringify(report.outcomes));
  for (const [method, steps] of Object.entries(report.steps)) {
    const all = Object.values(steps).reduce((sum, count) => sum + count, 0);
    console.log(`${method}: ${all} kills`);
    for (const [step, count] of Object.entries(steps).sort()) console.log(`  ${count} ${step}`);
  }
  console.log(
    `seed ${seed}: ${report.kills} kills (${report.interrupted} before the answer), ` +
      `${report.acknowledged} acknowledged checkpoints, none lost, ${seconds} s`,
  );
  rmSync(root, { recursive: true, force: true });
} catch (error) {
  console.log(`seed ${seed}, left for a look in ${root}: ${error.stack}`);
  process.exitCode = 1;
}
