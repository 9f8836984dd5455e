/**
 * The long version of test/watch/oracle.test.ts, on the built files.
 * Usage: node scripts/build.mjs && node scripts/oracle.mjs [steps] [seed] [engine...]
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createWatcher } from '../dist/watch/watcher.js';
import { oracle } from '../test/support/oracle.mjs';
import { projectRules } from '../test/support/rules.mjs';

const [steps = '200000', seed = String(Date.now() % 1e9), ...engines] = process.argv.slice(2);

for (const engine of engines.length > 0 ? engines : ['directories', 'chokidar']) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-oracle-')));
  mkdirSync(`${root}/.agentsmithy`, { mode: 0o700 });
  writeFileSync(`${root}/.agentsmithy/.gitignore`, '*\n');
  const watcher = createWatcher({
    root,
    stateDir: `${root}/.agentsmithy`,
    config: { maxFileBytes: 52_428_800, watcher: engine },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    log: { write: (level, what, fields) => console.log(level, what, fields) },
    rules: projectRules(root),
  });
  const batches = [];
  const notices = [];
  watcher.onChange((batch) => batches.push(batch));
  watcher.onNotice((notice) => notices.push(notice.type));
  await watcher.start();
  const watched = {
    watcher,
    batches,
    state: () => new Map([...watcher.entries()].map((e) => [e.path, `${e.mode} ${e.hash}`])),
    async settle() {
      const { fresh } = await watcher.settle();
      if (!fresh) throw new Error('The watcher could not settle.');
    },
  };
  const begun = performance.now();
  try {
    const { moments, settledInBetween } = await oracle({
      root,
      watched,
      seed: Number(seed),
      steps: Number(steps),
      pause: 600,
    });
    const seconds = Math.round((performance.now() - begun) / 1000);
    console.log(
      `${engine}: ${steps} steps, seed ${seed}: ${moments} comparisons, 0 differences, ` +
        `${settledInBetween} settles in between, ${notices.length} notices, ${seconds} s`,
    );
  } catch (error) {
    console.log(`${engine}: ${error.message}`);
    process.exitCode = 1;
  } finally {
    await watcher.stop();
    rmSync(root, { recursive: true, force: true });
  }
}
// chokidar keeps a few watches of folders that came and went quickly, also after its end.
process.exit();
