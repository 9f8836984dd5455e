/**
 * The watcher against chokidar, on trees of 10,000 and 100,000 files, in one run.
 * Usage: node scripts/build.mjs && node bench/watch.mjs [--idle] [sizes...]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeTree } from './watch-tree.mjs';

const SUBJECT = fileURLToPath(new URL('./watch-subject.mjs', import.meta.url));
const options = process.argv.slice(2);
const idle = options.includes('--idle');
const sizes = options.filter((option) => /^\d+$/u.test(option)).map(Number);

function measure(subject, root, mode) {
  const args = [SUBJECT, subject, root, ...(mode === undefined ? [] : [mode])];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

for (const files of sizes.length > 0 ? sizes : [10_000, 100_000]) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-bench-')));
  try {
    makeTree(root, files);
    console.log(`${files} files`);
    rmSync(`${root}/.agentsmithy`, { recursive: true, force: true });
    console.log('  smithyd cold  ', JSON.stringify(measure('smithyd', root, 'ready')));
    console.log('  smithyd warm  ', JSON.stringify(measure('smithyd', root, 'ready')));
    console.log(
      '  smithyd       ',
      JSON.stringify(measure('smithyd', root, idle ? 'idle' : undefined)),
    );
    rmSync(`${root}/.agentsmithy`, { recursive: true, force: true });
    console.log('  chokidar 6    ', JSON.stringify(measure('chokidar', root)));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
