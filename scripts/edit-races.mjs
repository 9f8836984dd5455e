/**
 * The long version of the races in test/e2e/edit-model.test.ts, on the built files.
 * Usage: node scripts/build.mjs && node scripts/edit-races.mjs [rounds]
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { startDaemon } from '../test/support/daemon-process.mjs';
import { rapidBrackets } from '../test/support/edit-races.mjs';

const [rounds = '10000'] = process.argv.slice(2);
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-races-')));
const root = join(folder, 'project');
mkdirSync(root);
const daemon = await startDaemon({
  root,
  cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
  env: { PATH: process.env.PATH, HOME: process.env.HOME },
});
try {
  for (const clients of [1, 2]) {
    const begun = performance.now();
    await rapidBrackets({
      open: () => daemon.open(),
      root,
      beside: join(folder, 'moving'),
      file: `raced-by-${clients}.txt`,
      rounds: Number(rounds),
      clients,
    });
    const seconds = Math.round((performance.now() - begun) / 1000);
    console.log(`${clients} clients: ${rounds} brackets, no unknown change, ${seconds} s`);
  }
} catch (error) {
  console.log(error.stack);
  process.exitCode = 1;
} finally {
  await daemon.stop('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
