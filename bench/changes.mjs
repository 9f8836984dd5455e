/**
 * A look at what happened: full buffers and a project with many files of which 200 changed, over the
 * socket. Against what somebody would do without it, in the same run: the buffers as they are through
 * a socket, and `git status --porcelain` on the same tree. Needs a build.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { connect } from '../dist/index.js';
import { endDaemon } from './daemon-end.mjs';
import { quantile, round, verdict } from './numbers.mjs';
import { table } from './section.mjs';
import { contentOf, makeTree, pathOf } from './source-tree.mjs';

const SIZES = [100_000];
const CHANGED = 200;
const LOOKS = 1_000;
const STATUSES = 10;
const TARGET = { p50: 5, p99: 25, quietP50: 2 };

export async function changesSection({ sizes = SIZES, say = () => undefined } = {}) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-bench-'));
  try {
    const rows = [];
    for (const files of sizes) rows.push(...(await measure(join(base, String(files)), files, say)));
    return [
      `Buffers full (1,000 console, 100 network, 500 WebSocket, 50 actions), ${CHANGED} files changed; ${LOOKS} looks each.`,
      '',
      table([['what', 'files', 'p50 ms', 'p99 ms', 'bytes', 'verdict'], ...rows]),
    ];
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 50 });
  }
}

async function measure(root, files, say) {
  makeTree(root, files);
  git(root, ['init', '-q']);
  git(root, ['add', '.']);
  git(root, ['-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-qm', 'all']);
  const client = await connect(root, { timeoutMs: 600_000 });
  try {
    say(`${files} files: first checkpoint`);
    await client.create_dialog({ title: 'bench' });
    const { cursor } = await client.get_changes_since({ client: 'bench' });
    const buffers = fullBuffers();
    await client.push_telemetry(buffers);
    for (let at = 0; at < CHANGED; at++) {
      const number = (at * 37) % files;
      writeFileSync(join(root, pathOf(number)), contentOf(number, 7));
    }
    // The first one counts the lines of what it shows.
    await client.get_changes_since({ checkpoint: cursor });
    say('looks');
    const full = await timed(LOOKS, () => client.get_changes_since({ checkpoint: cursor }));
    await client.get_changes_since({ client: 'quiet' });
    const quiet = await timed(LOOKS, () => client.get_changes_since({ client: 'quiet' }));
    say('the alternatives');
    const dumped = await dumping(join(root, '..', 'dump.sock'), JSON.stringify(buffers));
    const statuses = await timed(STATUSES, () => git(root, ['status', '--porcelain']));
    return [
      row('everything since a mark', files, {
        ...full,
        ok: full.p50 <= TARGET.p50 && full.p99 <= TARGET.p99,
      }),
      row('nothing happened', files, { ...quiet, ok: quiet.p50 <= TARGET.quietP50 }),
      row('the buffers as JSON through a socket', files, {
        ...dumped,
        ratio: dumped.p50 / full.p50,
        size: dumped.bytes / full.bytes,
      }),
      row('git status --porcelain', files, { ...statuses, ratio: statuses.p50 / full.p50 }),
    ];
  } finally {
    await endDaemon(client);
  }
}

function row(what, files, { p50, p99, bytes, ok, ratio, size }) {
  const times = ratio === undefined ? '' : `${round(ratio, 2)} times the time of a look`;
  const more = size === undefined ? '' : `, ${round(size, 1)} times its bytes`;
  return [
    what,
    files,
    round(p50, 2),
    round(p99, 2),
    bytes,
    ok === undefined ? `${times}${more}` : verdict(ok),
  ];
}

async function timed(count, act) {
  const times = [];
  let bytes = 0;
  for (let at = 0; at < count; at++) {
    const begun = performance.now();
    const answer = await act();
    times.push(performance.now() - begun);
    bytes = Buffer.byteLength(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), bytes };
}

/** The whole buffers, asked for and parsed, again and again over one connection. */
async function dumping(address, text) {
  const server = createServer((socket) => socket.on('data', () => socket.write(`${text}\n`)));
  await new Promise((resolve) => server.listen(address, resolve));
  const socket = connectSocket(address);
  try {
    let received = '';
    let done = () => undefined;
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
      if (received.endsWith('\n')) done(JSON.parse(received.slice(0, -1)));
    });
    return await timed(LOOKS / 5, () => {
      received = '';
      const answered = new Promise((resolve) => (done = resolve));
      socket.write('?');
      return answered;
    });
  } finally {
    socket.destroy();
    server.close();
  }
}

function fullBuffers() {
  const repeat = (length, make) => Array.from({ length }, (_, n) => make(n));
  return {
    console: repeat(1_000, (n) => ({
      level: ['log', 'debug', 'error', 'warning'][n % 4],
      message: `Part ${'abcdefghij'[n % 10]} of order ${10_000 + n} at 2026-01-01T00:00:00.000Z: state=idle rerenders=${n % 5}`,
      source: `src/part${n % 30}.ts:${n}`,
    })),
    network: repeat(100, (n) => ({
      ...{
        url: `http://localhost:3000/api/${n % 25}?t=${n}`,
        method: 'GET',
        status: n % 9 === 0 ? 500 : 200,
      },
      duration_ms: 20 + n,
    })),
    websocket: repeat(500, (n) => ({
      ...{
        event: n % 50 === 0 ? 'close' : 'message',
        url: 'ws://localhost:3000/live',
        id: 'a',
        message: `tick ${n}`,
      },
    })),
    actions: repeat(50, (n) => ({
      type: 'click',
      url: 'http://localhost:3000/',
      target: `#b${n}`,
    })),
  };
}

function git(root, args) {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}
