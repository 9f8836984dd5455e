/**
 * The long version of test/e2e/any-history.test.ts, on the built files.
 * Usage: node scripts/build.mjs && node scripts/any-history.mjs [events] [seed] [samples]
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { anyHistory } from '../test/support/any-history.mjs';

const [events = '10000', seed = String(Date.now() % 1e9), samples = '1000'] = process.argv.slice(2);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-history-')));
const begun = performance.now();
try {
  const done = await anyHistory({
    root,
    cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    seed: Number(seed),
    events: Number(events),
    samples: Number(samples),
    tell: (line) => console.log(line),
  });
  const seconds = Math.round((performance.now() - begun) / 1000);
  console.log(
    `seed ${seed}: ${done.events} events, ${done.checked} files at events hold, ${seconds} s`,
  );
  rmSync(root, { recursive: true, force: true });
} catch (error) {
  console.log(`seed ${seed}, left for a look in ${root}: ${error.message}\n${error.stack}`);
  process.exitCode = 1;
}
