/**
 * 200 readers of events over HTTP and 50 clients of the socket, all at once, while notes are written
 * and files edited: `node scripts/many-readers.mjs [SECONDS]`. Fails when any reader misses an event,
 * hears one twice or out of order, or when the slowest hundredth of `status` takes over 50 ms.
 * The readers are a process of their own, so that reading costs the measuring nothing but cores. A bare
 * server that answers the same bytes is asked as often: how slow it is, is the machine.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection, startDaemon } from '../test/support/daemon-process.mjs';

const READERS = 200;
const CLIENTS = 50;
/** Of the clients: these write notes, as fast as one every so often; one more edits a file. */
const WRITERS = 5;
const EVERY_MS = 100;
const SLOWEST_P99_MS = 50;
const RAW = fileURLToPath(new URL('../bench/raw-server.mjs', import.meta.url));
const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

if (process.send === undefined) await measure(Number(process.argv[2] ?? 60));
else await read(JSON.parse(process.argv[2]));

async function measure(seconds) {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-readers-'));
  const { PATH, HOME } = process.env;
  const daemon = await startDaemon({ root, cli: CLI, env: { PATH, HOME } });
  const run = (name) => readFileSync(join(root, '.agentsmithy/run', name), 'utf8').trim();
  const { url } = JSON.parse(run('daemon.json')).http;
  const child = fork(fileURLToPath(import.meta.url), [
    JSON.stringify({ url, token: run('token') }),
  ]);
  try {
    await once(child, 'message');
    const clients = [];
    while (clients.length < CLIENTS)
      clients.push(await Connection.open(JSON.parse(run('daemon.json')).socket));
    await Promise.all(clients.map((client) => client.must('subscribe', { types: ['note'] })));
    const bare = await Connection.open(await startBare(root, await clients[0].must('status')));
    const end = performance.now() + seconds * 1000;
    const bareTimes = askBare(bare, end);
    const { times, notes } = await load(clients, root, end);
    const floor = p99Of(await bareTimes);

    child.send({ notes });
    const [{ wrong }] = await once(child, 'message');
    const deaf = clients.filter(({ events }) => !isWhole(events.map(numberOf), notes)).length;
    const p99 = p99Of(times);
    const { memory_bytes: memory } = await clients[0].must('status');
    console.log(
      `${notes} notes to ${READERS} readers and ${CLIENTS} sockets in ${seconds} s: ` +
        `${wrong + deaf} missed something; ${times.length} times status, ` +
        `p50 ${times[times.length >> 1].toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (a bare server ${floor.toFixed(1)} ms); ${Math.round(memory / 1e6)} MB`,
    );
    if (wrong + deaf > 0 || p99 > SLOWEST_P99_MS) process.exitCode = 1;
  } finally {
    child.kill();
    await daemon.stop('SIGTERM');
    rmSync(root, { recursive: true, force: true });
  }
}

function p99Of(times) {
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
}

async function startBare(root, answer) {
  const address = join(root, 'bare.sock');
  const server = spawn(process.execPath, [RAW, address, JSON.stringify(answer)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => server.kill());
  await once(server.stdout, 'data');
  server.unref();
  server.stdout.destroy();
  return address;
}

async function askBare(bare, end) {
  const times = [];
  while (performance.now() < end) {
    const begun = performance.now();
    await bare.must('status');
    times.push(performance.now() - begun);
    await pause(EVERY_MS / 10);
  }
  bare.destroy();
  return times;
}

/** Everybody asks for the status again and again; some write in between. */
async function load(clients, root, end) {
  const times = [];
  let notes = 0;
  const ask = async (client, number) => {
    // Not all at the same moment.
    await pause((EVERY_MS * number) / CLIENTS);
    while (performance.now() < end) {
      const begun = performance.now();
      await client.must('status');
      times.push(performance.now() - begun);
      if (number < WRITERS) await client.must('note', { text: String(++notes) });
      if (number === WRITERS) await edit(client, root);
      await pause(Math.max(0, EVERY_MS - (performance.now() - begun)));
    }
  };
  await Promise.all(clients.map(ask));
  // Whoever has heard the last one has heard all that will come.
  await clients[0].must('note', { text: String(++notes) });
  const isTold = ({ events }) => events.length >= notes;
  for (let turn = 0; turn < 1000 && !clients.every(isTold); turn++) await pause(10);
  return { times, notes };
}

async function edit(client, root) {
  const { edit_id } = await client.must('start_edit', { files: ['a.txt'] });
  writeFileSync(join(root, 'a.txt'), `${performance.now()}\n`);
  await client.must('finalize_edit', { edit_id });
}

function numberOf({ text }) {
  return Number(text);
}

/** Notes are numbered when they are sent, and two writers may change places on the way. */
function isWhole(numbers, count) {
  return numbers.length === count && new Set(numbers).size === count;
}

async function read({ url, token }) {
  const readers = await Promise.all(Array.from({ length: READERS }, () => listen(url, token)));
  process.send('ready');
  const [{ notes }] = await once(process, 'message');
  for (let turn = 0; turn < 3000 && readers.some(({ cursors }) => cursors.length < notes); turn++) {
    await pause(10);
  }
  const isGood = ({ cursors, numbers }) =>
    isWhole(numbers, notes) && cursors.every((cursor, at) => at === 0 || cursor > cursors[at - 1]);
  process.send({ wrong: readers.filter((reader) => !isGood(reader)).length });
}

async function listen(url, token) {
  const sent = request(`${url}/api/events?types=note`, {
    headers: { authorization: `Bearer ${token}` },
    agent: false,
  }).end();
  const [response] = await once(sent, 'response');
  const reader = { cursors: [], numbers: [] };
  let unread = '';
  let begin;
  const begun = new Promise((resolve) => (begin = resolve));
  response.setEncoding('utf8');
  response.on('data', (text) => {
    const blocks = `${unread}${text}`.split('\n\n');
    unread = blocks.pop();
    for (const block of blocks) {
      if (block.startsWith('event: subscribed')) begin();
      if (!block.startsWith('id: ')) continue;
      const [id, data] = block.split('\n');
      reader.cursors.push(Number(id.slice(4)));
      reader.numbers.push(numberOf(JSON.parse(data.slice(6))));
    }
  });
  await begun;
  return reader;
}
