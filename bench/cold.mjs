/** A cold `smithyd status` against a bare `node -e 0`, in turns within one run. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { quantile } from './numbers.mjs';
import { smithyd } from './rpc.mjs';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const TIMES = 40;

export function measureCold() {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-bench-'));
  const root = join(base, 'project');
  mkdirSync(root);
  smithyd(root, 'start');
  const commands = { status: [CLI, '--root', root, 'status'], node: ['-e', '0'] };
  const times = { status: [], node: [] };
  try {
    for (const args of Object.values(commands)) time(args);
    for (let turn = 0; turn < TIMES; turn++) {
      const names = turn % 2 === 0 ? ['status', 'node'] : ['node', 'status'];
      for (const name of names) times[name].push(time(commands[name]));
    }
  } finally {
    smithyd(root, 'stop');
    rmSync(base, { recursive: true, force: true, maxRetries: 50 });
  }
  return { status: quantile(times.status, 0.5), node: quantile(times.node, 0.5) };
}

function time(args) {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
  return performance.now() - begun;
}
