/** Random changes by two processes; at random moments the known state must be what git sees. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const WRITER = fileURLToPath(new URL('./oracle-writer.mjs', import.meta.url));

function startWriter(root, seed) {
  const child = spawn(process.execPath, [WRITER, root, String(seed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(steps) {
      child.stdin.write(`${steps}\n`);
      const { done } = await answers.next();
      if (done) throw new Error('A writer died.');
    },
    end: () => child.stdin.end(),
  };
}

/** What git makes of the tree: path -> "mode hash". */
function gitView(root, gitDir) {
  const env = {
    PATH: process.env.PATH,
    GIT_DIR: gitDir,
    GIT_WORK_TREE: root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, env, maxBuffer: 1 << 28, encoding: 'utf8' });
  rmSync(join(gitDir, 'index'), { force: true });
  git('add', '-A', '.');
  const view = new Map();
  for (const line of git('ls-files', '-s', '-z').split('\0')) {
    const match = /^(\d+) ([0-9a-f]+) \d\t(.*)$/su.exec(line);
    if (match !== null) view.set(match[3], `${match[1]} ${match[2]}`);
  }
  return view;
}

function differences(known, expected) {
  const found = [];
  for (const [path, state] of expected) {
    if (known.get(path) !== state) found.push({ path, git: state, known: known.get(path) });
  }
  for (const [path, state] of known) {
    if (!expected.has(path)) found.push({ path, git: undefined, known: state });
  }
  return found;
}

/**
 * `watched` as in project.ts. `published` follows the batches alone and must come out the same.
 * Returns how many moments were compared; throws at the first difference.
 */
export async function oracle({ root, watched, seed, steps, pause }) {
  const gitDir = mkdtempSync(join(tmpdir(), 'smithyd-oracle-'));
  execFileSync('git', ['init', '-q', '--bare', gitDir]);
  execFileSync('git', ['--git-dir', gitDir, 'config', 'core.bare', 'false']);
  execFileSync('git', ['--git-dir', gitDir, 'config', 'core.looseCompression', '0']);
  execFileSync('git', ['--git-dir', gitDir, 'config', 'core.excludesFile', '/dev/null']);
  const writers = [startWriter(root, seed), startWriter(root, seed + 7919)];
  const published = watched.state();
  let random = seed;
  let moments = 0;
  let settledInBetween = 0;
  try {
    for (let left = steps; left > 0;) {
      random = (random * 1103515245 + 12345) % 2147483648;
      const burst = Math.min(left, 1 + (random % pause));
      left -= burst;
      const running = Promise.all(writers.map((writer) => writer.run(Math.ceil(burst / 2))));
      // Settling while others write must neither hang nor confuse anything.
      let isOver = false;
      void running.finally(() => (isOver = true));
      while (!isOver) {
        await watched.watcher.settle();
        settledInBetween += 1;
        await setTimeout(1);
      }
      await running;
      await watched.settle();
      apply(published, watched.batches.splice(0));
      const expected = gitView(root, gitDir);
      const wrong = differences(watched.state(), expected);
      const misreported = differences(published, expected);
      moments += 1;
      if (wrong.length + misreported.length > 0) {
        throw new Error(
          `seed ${seed}, ${steps - left} steps: ${JSON.stringify({ wrong, misreported }, null, 1)}`,
        );
      }
    }
  } finally {
    for (const writer of writers) writer.end();
    rmSync(gitDir, { recursive: true, force: true });
  }
  return { moments, settledInBetween };
}

/** What a listener knows who never asks. Also checks that no batch reports a non-change. */
function apply(published, batches) {
  for (const { changes, untracked } of batches) {
    for (const path of untracked) published.delete(path);
    for (const { path, change, before, after } of changes) {
      const was = before === undefined ? undefined : `${before.mode} ${before.hash}`;
      if (published.get(path) !== was) {
        throw new Error(`${path}: ${change} from ${was}, but ${published.get(path)} was known`);
      }
      if (after === undefined) published.delete(path);
      else published.set(path, `${after.mode} ${after.hash}`);
      if (published.get(path) === was) throw new Error(`${path}: reported without a change`);
    }
  }
}
