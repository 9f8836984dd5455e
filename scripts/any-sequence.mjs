/**
 * The long version of test/e2e/any-sequence.test.ts, on the built files.
 * Usage: node scripts/build.mjs && node scripts/any-sequence.mjs [sequences] [seed] [steps]
 * A failure names the seed of its sequence: run it alone with `1 SEED STEPS`.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { anySequences } from '../test/support/any-sequence.mjs';

const [sequences = '200', seed = String(Date.now() % 1e9), steps = '30'] = process.argv.slice(2);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-any-')));
const begun = performance.now();
try {
  const { done } = await anySequences({
    root,
    cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    seed: Number(seed),
    sequences: Number(sequences),
    steps: Number(steps),
    tell: (line) => console.log(line),
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  console.log(JSON.stringify(done));
  console.log(`seeds ${seed} and on: ${sequences} sequences of ${steps} steps hold, ${seconds} s`);
  rmSync(root, { recursive: true, force: true });
} catch (error) {
  console.log(`left for a look in ${root}: ${error.message}\n${error.stack}`);
  process.exitCode = 1;
}
