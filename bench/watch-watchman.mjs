/** Watchman (the Debian package) as a subject: its server in the foreground, and one client. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

/** Undefined when it is not installed. */
export function watchmanVersion() {
  try {
    return execFileSync('watchman', ['--version'], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

export async function watchman(root) {
  const state = mkdtempSync(join(tmpdir(), 'smithyd-watchman-'));
  const socket = join(state, 'sock');
  const server = spawn(
    'watchman',
    [
      ...['--foreground', `--sockname=${socket}`, `--logfile=${join(state, 'log')}`],
      ...[`--statefile=${join(state, 'state')}`, '--no-save-state'],
      // One of its own: the user's server may be running.
      `--pidfile=${join(state, 'pid')}`,
    ],
    { stdio: 'ignore' },
  );
  const client = await open(socket, server);
  const seen = new Map();
  let names = new Set();
  client.heard(({ files = [] }) => {
    for (const name of files) seen.set(name, (seen.get(name) ?? 0) + 1);
  });
  const files = ['type', 'f'];
  await client.ask(['watch', root]);
  // The first answer comes when the first look at the whole tree is over.
  await client.ask(['query', root, { expression: ['name', 'complete'], fields: ['name'] }]);
  const isReadyAt = performance.now();
  await client.ask(['subscribe', root, 'bench', { expression: files, fields: ['name'] }]);
  return {
    isReadyAt,
    pid: server.pid,
    isKnown: (path, count) => seen.get(path) !== count,
    hashOf: (path) => seen.get(path),
    async settle() {
      const burst = { expression: ['allof', files, ['dirname', 'burst']], fields: ['name'] };
      names = new Set((await client.ask(['query', root, burst])).files);
    },
    has: (path) => names.has(path),
    async stop() {
      client.end();
      const over = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await over;
      rmSync(state, { recursive: true, force: true });
    },
  };
}

/** Its socket is there a moment before it listens. */
async function connected(socket, server) {
  for (;;) {
    if (server.exitCode !== null) throw new Error('watchman does not start');
    const net = connect(socket);
    try {
      await once(net, 'connect');
      return net;
    } catch {
      await setTimeout(1);
    }
  }
}

/** One JSON value a line in both directions; what nobody asked for is a notice. */
async function open(socket, server) {
  const net = await connected(socket, server);
  const waiting = [];
  let listener = () => undefined;
  createInterface({ input: net }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.subscription !== undefined && message.subscribe === undefined) listener(message);
    else waiting.shift()?.(message);
  });
  return {
    heard: (to) => (listener = to),
    ask(command) {
      return new Promise((resolve, reject) => {
        waiting.push((answer) => {
          if (answer.error === undefined) resolve(answer);
          else reject(new Error(answer.error));
        });
        net.write(`${JSON.stringify(command)}\n`);
      });
    },
    end: () => net.end(),
  };
}
