/**
 * The long version of test/e2e/power-cut.test.ts, on the built files; needs root and a loop device.
 * Usage: node scripts/build.mjs && node scripts/power-cut.mjs [rounds] [seed]
 */
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { powerCuts, whyNoPowerCut } from '../test/support/power-cut.mjs';
import { randomNumbers } from '../test/support/random-numbers.mjs';

const [rounds = '20', seed = String(Date.now() % 1e9)] = process.argv.slice(2);
const why = whyNoPowerCut();
if (why !== undefined) {
  console.log(`no power can be cut here: ${why}`);
  process.exit(2);
}
const begun = performance.now();
const report = await powerCuts({
  rounds: Number(rounds),
  seed: Number(seed),
  cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
  env: { PATH: process.env.PATH, HOME: process.env.HOME },
  random: randomNumbers(Number(seed)),
  tell: (line) => console.log(line),
}).catch((error) => {
  console.log(`seed ${seed}: ${error.stack}`);
  process.exit(1);
});
console.log(
  `seed ${seed}: ${report.rounds} cuts (${report.interrupted} in the middle of a call), ` +
    `${report.lostFiles} unflushed files of the user gone, ` +
    `${report.acknowledged} acknowledged checkpoints, none lost, ` +
    `${Math.round((performance.now() - begun) / 1000)} s`,
);
