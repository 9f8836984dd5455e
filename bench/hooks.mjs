/** A commit with our hook before it against one without, in turns within one run. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { quantile, round, verdict } from './numbers.mjs';
import { smithyd } from './rpc.mjs';
import { table } from './section.mjs';

const TIMES = 40;
const WHO = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.org'];
const WAYS = { hook: [], plain: ['-c', 'core.hooksPath=/dev/null'] };

export function hooksSection() {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-bench-'));
  const git = (...words) => execFileSync('git', [...WHO, ...words], { cwd: root, stdio: 'ignore' });
  const times = { running: [], hung: [], none: [], plain: [] };
  let number = 0;
  const commit = (way) => {
    writeFileSync(join(root, `file-${number % 50}.txt`), `${number++}\n`);
    git('add', '-A');
    const begun = performance.now();
    git(...WAYS[way], 'commit', '-qm', 'x');
    return performance.now() - begun;
  };
  /** With the hook and without, in turns; what the hook adds in the state the daemon is in. */
  const measure = (into) => {
    for (const way of Object.keys(WAYS)) commit(way);
    for (let turn = 0; turn < TIMES; turn++) {
      const ways = turn % 2 === 0 ? ['hook', 'plain'] : ['plain', 'hook'];
      for (const way of ways) times[way === 'hook' ? into : 'plain'].push(commit(way));
    }
  };
  let pid;
  try {
    git('init', '-q');
    smithyd(root, 'start');
    smithyd(root, 'hooks', 'install');
    ({ pid } = smithyd(root, 'status'));
    measure('running');
    process.kill(pid, 'SIGSTOP');
    measure('hung');
    process.kill(pid, 'SIGCONT');
    smithyd(root, 'stop');
    measure('none');
  } finally {
    smithyd(root, 'stop');
    rmSync(root, { recursive: true, force: true, maxRetries: 50 });
  }
  const plain = quantile(times.plain, 0.5);
  const row = (what, values, target) => {
    const added = quantile(values, 0.5) - plain;
    const cells = [what, `${round(quantile(values, 0.5), 0)} ms`, `${round(added, 0)} ms`];
    return [...cells, `at most ${target} ms`, verdict(added <= target)];
  };
  return [
    `${TIMES} commits each, in turns with as many without a hook: ${round(plain, 0)} ms, median. Most of what the hook adds is the start of Node.`,
    '',
    table([
      ['a commit with the hook, median', 'takes', 'added by it', 'target', ''],
      row('and a daemon that saves a checkpoint', times.running, 300),
      row('and a daemon that hangs', times.hung, 300),
      row('and no daemon', times.none, 300),
    ]),
  ];
}
