/** A daemon in the foreground, its connections, and calls whose errors are answers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 60_000;

export async function startDaemon({ root, cli, env }) {
  const child = spawn(process.execPath, [cli, '--root', root, 'start', '--foreground'], {
    env,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const ended = once(child, 'exit');
  const end = performance.now() + DEADLINE_MS;
  for (;;) {
    const info = daemonFile(root);
    if (info?.pid === child.pid) {
      const probe = await Connection.open(info.socket).catch(() => undefined);
      if (probe !== undefined) {
        probe.destroy();
        return {
          open: () => Connection.open(info.socket),
          async stop(signal) {
            child.kill(signal);
            await ended;
          },
        };
      }
    }
    if (child.exitCode !== null) throw new Error(`the daemon did not start: ${stderr}`);
    if (performance.now() > end) {
      child.kill('SIGKILL');
      throw new Error(`the daemon was not there in time: ${stderr}`);
    }
    await pause(5);
  }
}

function daemonFile(root) {
  try {
    return JSON.parse(readFileSync(join(root, '.agentsmithy/run/daemon.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

export class Connection {
  #net;
  #unread = '';
  #lastId = 0;
  #waiting = new Map();
  /** Notifications, in the order they came. */
  events = [];

  constructor(net) {
    this.#net = net;
    net.setEncoding('utf8');
    net.on('data', (chunk) => this.#receive(chunk));
    net.on('error', () => undefined);
    net.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the connection closed'));
    });
  }

  static async open(socket) {
    const net = connect(socket);
    await once(net, 'connect');
    return new Connection(net);
  }

  /** { result } or { code, data }. */
  call(method, params = {}) {
    if (this.#net.destroyed) return Promise.reject(new Error('the connection closed'));
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#net.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  /** The result of a call that must succeed. */
  async must(method, params) {
    const { result, code, message } = await this.call(method, params);
    if (result === undefined) throw new Error(`${method} was refused: ${code} ${message}`);
    return result;
  }

  /** Closes after everything was sent. */
  hangUp() {
    this.#net.end();
  }

  destroy() {
    this.#net.destroy();
  }

  #receive(chunk) {
    const lines = `${this.#unread}${chunk}`.split('\n');
    this.#unread = lines.pop();
    for (const line of lines) {
      const { id, result, error, params } = JSON.parse(line);
      if (id === undefined) {
        this.events.push(params);
        continue;
      }
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      waiting?.resolve(
        error === undefined
          ? { result }
          : { code: error.data.code, data: error.data, message: error.message },
      );
    }
  }
}
