/**
 * Commits many times in a repository with our hooks and counts the checkpoints:
 * `node scripts/many-commits.mjs [TIMES]`. Fails when one is missing.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

const [times = '1000'] = process.argv.slice(2);
const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const root = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-commits-'));
const env = { PATH: process.env.PATH, HOME: process.env.HOME, GIT_CONFIG_GLOBAL: '/dev/null' };
const who = [
  '-c',
  'user.name=Somebody',
  '-c',
  'user.email=somebody@example.org',
  '-c',
  'gc.auto=0',
];
const git = (...words) => execFileSync('git', [...who, ...words], { cwd: root, env });
const smithyd = (...words) =>
  JSON.parse(
    execFileSync(process.execPath, [CLI, '--root', root, '--json', ...words], {
      env,
      maxBuffer: 1e9,
    }),
  );

/** The log comes in pages. */
function preCommits() {
  let count = 0;
  let before = [];
  for (;;) {
    const { checkpoints } = smithyd('log', '--limit', '1000', ...before);
    count += checkpoints.filter(({ kind }) => kind === 'pre_commit').length;
    if (checkpoints.length < 1000) return count;
    before = ['--before', checkpoints.at(-1).commit_id];
  }
}

let made;
const slow = [];
try {
  git('init', '-q');
  smithyd('start');
  smithyd('hooks', 'install');
  for (let time = 0; time < Number(times); time++) {
    writeFileSync(join(root, `file-${time % 50}.txt`), `${time}\n`);
    git('add', '-A');
    const begun = performance.now();
    git('commit', '-qm', String(time));
    slow.push(performance.now() - begun);
  }
  made = preCommits();
} finally {
  smithyd('stop');
  rmSync(root, { recursive: true, force: true });
}
slow.sort((a, b) => a - b);
const took = `${Math.round(slow[slow.length >> 1])} ms each, ${Math.round(slow.at(-1))} ms at most`;
console.log(`${times} commits made ${made} checkpoints (${took})`);
if (made !== Number(times)) process.exitCode = 1;
