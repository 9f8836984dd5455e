/**
 * The long version of test/e2e/edit-model.test.ts, on the built files.
 * Usage: node scripts/build.mjs && node scripts/edit-model.mjs [steps] [seed] [--trace]
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { editWalk } from '../test/support/edit-walk.mjs';

const [steps = '50000', seed = String(Date.now() % 1e9), trace] = process.argv.slice(2);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-edits-')));
const begun = performance.now();
try {
  const { counts } = await editWalk({
    root,
    seed: Number(seed),
    steps: Number(steps),
    cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    tell: (line) => console.log(line),
    trace: trace === '--trace' ? (line) => console.log(line) : undefined,
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  console.log(JSON.stringify(counts));
  console.log(`seed ${seed}: ${steps} steps without a difference, ${seconds} s`);
  rmSync(root, { recursive: true, force: true });
} catch (error) {
  console.log(`left for a look in ${root}: ${error.message}`);
  process.exitCode = 1;
}
