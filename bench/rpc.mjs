/**
 * `status` over the daemon's socket against a raw `node:net` JSON-lines server that answers the same
 * bytes, both in processes of their own, in turns within one run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { quantile } from './numbers.mjs';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const RAW = fileURLToPath(new URL('raw-server.mjs', import.meta.url));
const ROUNDS = 15;
const CALLS_A_ROUND = 1000;
const CLIENTS = 50;
const BURST_MS = 1500;
const BURSTS = 5;

export async function measureRpc() {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-bench-'));
  const root = join(base, 'project');
  mkdirSync(root);
  const daemon = smithyd(root, 'start');
  const answer = JSON.stringify(smithyd(root, 'status'));
  const address = join(base, 'raw.sock');
  const raw = spawn(process.execPath, [RAW, address, answer], {
    // As the daemon: on Linux a session of its own also has its own share of the processor.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(raw.stdout, 'data');
    const addresses = { daemon: daemon.socket, raw: address };
    return { ...(await roundTrips(addresses)), ...(await throughput(addresses)) };
  } finally {
    raw.kill();
    smithyd(root, 'stop');
    rmSync(base, { recursive: true, force: true, maxRetries: 50 });
  }
}

export function smithyd(root, ...words) {
  const { stdout, status } = spawnSync(
    process.execPath,
    [CLI, '--root', root, '--json', ...words],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`smithyd ${words.join(' ')} ended with ${status}`);
  return JSON.parse(stdout);
}

async function roundTrips(addresses) {
  const daemon = await open(addresses.daemon);
  const raw = await open(addresses.raw);
  const times = { daemon: [], raw: [] };
  await rounds(daemon, []);
  await rounds(raw, []);
  for (let round = 0; round < ROUNDS; round++) {
    // Whoever is first in a round is second in the next.
    const turns = [() => rounds(daemon, times.daemon), () => rounds(raw, times.raw)];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  daemon.socket.destroy();
  raw.socket.destroy();
  return { daemonP50: quantile(times.daemon, 0.5), rawP50: quantile(times.raw, 0.5) };
}

async function rounds(client, times) {
  for (let call = 0; call < CALLS_A_ROUND; call++) {
    const begun = performance.now();
    await client.call();
    times.push(performance.now() - begun);
  }
}

async function throughput(addresses) {
  const rates = { daemon: [], raw: [] };
  for (let burst = 0; burst < BURSTS; burst++) {
    const names = burst % 2 === 0 ? ['daemon', 'raw'] : ['raw', 'daemon'];
    for (const name of names) rates[name].push(await rate(addresses[name]));
  }
  return { daemonRate: quantile(rates.daemon, 0.5), rawRate: quantile(rates.raw, 0.5) };
}

/** Answers a second to so many clients, each of which asks again as soon as it is answered. */
async function rate(address) {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => open(address)));
  const end = performance.now() + BURST_MS;
  const begun = performance.now();
  const counts = await Promise.all(
    clients.map(async (client) => {
      let count = 0;
      for (; performance.now() < end; count++) await client.call();
      return count;
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  for (const { socket } of clients) socket.destroy();
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

/** A client that waits for the end of each answer and does nothing with it: the servers are measured. */
async function open(address) {
  const socket = connect(address);
  await once(socket, 'connect');
  let id = 0;
  let done = () => undefined;
  socket.on('data', (chunk) => {
    if (chunk[chunk.length - 1] === 0x0a) done();
  });
  const call = () =>
    new Promise((resolve) => {
      done = resolve;
      socket.write(`{"jsonrpc":"2.0","id":${++id},"method":"status","params":{}}\n`);
    });
  return { socket, call };
}
