/**
 * The long version of test/e2e/real-history.test.ts, on the built files: the newest commits of a
 * repository made once more under a daemon, every checkpoint compared with git's own tree.
 * Usage: node scripts/build.mjs && node scripts/real-history.mjs [repository] [commits] [seed] [samples]
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { realHistory } from '../test/support/real-history.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));
const [repository = here, commits = '50', seed = String(Date.now() % 1e9), samples] =
  process.argv.slice(2);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-real-')));
const begun = performance.now();
const mega = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
try {
  const done = await realHistory({
    repository,
    root,
    cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    commits: Number(commits),
    seed: Number(seed),
    samples: Number(samples ?? Math.max(5, Math.ceil(Number(commits) / 10))),
  });
  const { ms, restored, store, repository: size } = done;
  const left = Object.entries(done.leftOut).map(([reason, count]) => `${count} ${reason}`);
  console.log(
    [
      `${done.commits} commits, ${done.files} files written, ${mega(done.bytes)}; ${done.paths} paths in the last`,
      `${done.named} edits of named files, ${done.commands} of the project, ${done.empty} commits without a change`,
      `every checkpoint is what git has; paths left out by a rule: ${left.join(', ') || 'none'}`,
      `checkpoint ${ms.checkpoint.p50} ms p50, ${ms.checkpoint.p99} ms p99, ${ms.checkpoint.most} ms at most`,
      `start_edit ${ms.start.p50} ms p50, ${ms.start.p99} ms p99; finalize_edit ${ms.finalize.p50} ms, ${ms.finalize.p99} ms`,
      `${restored.checkpoints} checkpoints restored exactly; paths that a rule kept as they were: ${restored.stayed}`,
      `store ${mega(store.bytes)}, ledger ${mega(store.ledger)}; objects of the repository ${mega(size.bytes)}, of these commits ${mega(size.commits)}`,
      `verify is clean; seed ${seed}, ${Math.round((performance.now() - begun) / 1000)} s`,
    ].join('\n'),
  );
  rmSync(root, { recursive: true, force: true });
} catch (error) {
  console.log(`seed ${seed}, left for a look in ${root}: ${error.message}\n${error.stack}`);
  process.exitCode = 1;
}
