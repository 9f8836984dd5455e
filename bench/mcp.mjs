/**
 * How long an agent waits for `smithyd mcp`: from the start of the process to the answer of
 * `initialize`, against a bare `node -e 0`, in turns within one run. The daemon runs already.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { quantile, round, verdict } from './numbers.mjs';
import { smithyd } from './rpc.mjs';
import { table } from './section.mjs';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const TIMES = 20;
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  },
};

export async function mcpSection() {
  const { first, mcp, node } = await measureMcp();
  const times = mcp / node;
  return [
    '',
    table([
      ['what', 'smithyd', 'compared with', 'target', ''],
      [
        '`smithyd mcp` until `initialize` is answered, median of 20',
        `${round(mcp, 1)} ms`,
        `${round(node, 1)} ms bare \`node -e 0\``,
        `at most 3 times bare; is ${round(times)}`,
        verdict(times <= 3),
      ],
      ['the same when the daemon has to load the protocol', `${round(first, 1)} ms`, '', '', ''],
    ]),
  ];
}

async function measureMcp() {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-bench-'));
  const root = join(base, 'project');
  mkdirSync(root);
  smithyd(root, 'start');
  const times = { mcp: [], node: [] };
  const measure = { mcp: () => timeMcp(root), node: timeNode };
  try {
    // The first one makes the daemon load the protocol.
    const first = await timeMcp(root);
    timeNode();
    for (let turn = 0; turn < TIMES; turn++) {
      const names = turn % 2 === 0 ? ['mcp', 'node'] : ['node', 'mcp'];
      for (const name of names) times[name].push(await measure[name]());
    }
    return { first, mcp: quantile(times.mcp, 0.5), node: quantile(times.node, 0.5) };
  } finally {
    smithyd(root, 'stop');
    rmSync(base, { recursive: true, force: true, maxRetries: 50 });
  }
}

function timeNode() {
  const begun = performance.now();
  spawnSync(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  return performance.now() - begun;
}

async function timeMcp(root) {
  const begun = performance.now();
  const child = spawn(process.execPath, [CLI, '--root', root, 'mcp'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  let text = '';
  for await (const chunk of child.stdout) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  const taken = performance.now() - begun;
  if (JSON.parse(text).result?.serverInfo?.name !== 'smithyd') throw new Error(`said ${text}`);
  child.stdin.end();
  await ended;
  return taken;
}
