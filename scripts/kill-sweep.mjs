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

/** A project is looked at as a whole after each kill: a new one keeps that affordable. */
const KILLS_PER_PROJECT = 50;
const [kills = '300', given = String(Date.now() % 1e9)] = process.argv.slice(2);
const begun = performance.now();
const sums = { kills: 0, interrupted: 0, acknowledged: 0 };
const outcomes = {};
const steps = {};

/** Adds numbers up, two levels deep. */
function add(into, from) {
  for (const [name, counts] of Object.entries(from)) {
    const own = (into[name] ??= {});
    for (const [key, count] of Object.entries(counts)) own[key] = (own[key] ?? 0) + count;
  }
}

async function sweep(seed, count) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-sweep-')));
  const report = await killSweep({
    root,
    seed,
    kills: count,
    cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    tell: (line) => console.log(`seed ${seed}: ${line}`),
  }).catch((error) => {
    console.log(`seed ${seed}, left for a look in ${root}: ${error.stack}`);
    process.exit(1);
  });
  rmSync(root, { recursive: true, force: true });
  for (const key of Object.keys(sums)) sums[key] += report[key];
  add(outcomes, report.outcomes);
  add(steps, report.steps);
}

for (let seed = Number(given); sums.kills < Number(kills); seed++) {
  await sweep(seed, Math.min(KILLS_PER_PROJECT, Number(kills) - sums.kills));
}
console.log(JSON.stringify(outcomes));
for (const [method, counts] of Object.entries(steps)) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  console.log(`${method}: ${all} kills`);
  for (const [step, count] of Object.entries(counts).sort()) console.log(`  ${count} ${step}`);
}
console.log(
  `seeds ${given} and on: ${sums.kills} kills (${sums.interrupted} before the answer), ` +
    `${sums.acknowledged} acknowledged checkpoints, none lost, ` +
    `${Math.round((performance.now() - begun) / 1000)} s`,
);
