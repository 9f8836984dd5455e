/**
 * A daemon for scripts that kill it: started from the built files, spoken to over its socket, and
 * looked at from outside (git, ledger, locks).
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 60_000;
/** Far longer than a snapshot takes. */
const LOCK_MS = 10_000;
const FSCK_ATTEMPTS = 20;

/** `under`: words before the command, of a program that becomes the daemon (setpriv, faketime, ...). */
export async function startDaemon({ root, cli, env, under = [] }) {
  const words = [...under, process.execPath, cli, '--root', root, 'start', '--foreground'];
  const child = spawn(words[0], words.slice(1), {
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
      const client = await Client.connect(info.socket);
      if (client !== undefined) {
        const call = (method, params) => client.call(method, params);
        const kill = () => {
          child.kill('SIGKILL');
          return ended;
        };
        /** Asks it to end, and answers the code it ended with. */
        const stop = async () => {
          child.kill('SIGTERM');
          const [code] = await ended;
          return code;
        };
        return { pid: child.pid, ended, call, kill, stop, events: client.events };
      }
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      throw Object.assign(new Error(`the daemon did not start: ${stderr}`), { stderr });
    }
    if (performance.now() > end) {
      child.kill('SIGKILL');
      throw new Error(`the daemon was not there in time: ${stderr}`);
    }
    await pause(5);
  }
}

export function daemonFile(root) {
  try {
    return JSON.parse(readFileSync(join(root, '.agentsmithy/run/daemon.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Every checkpoint the daemon lists, whatever their number. */
export async function listAll(daemon, dialog) {
  const all = new Set();
  for (let before; ;) {
    const page = { dialog_id: dialog, limit: 1000, ...(before === undefined ? {} : { before }) };
    const { checkpoints } = await daemon.call('list_checkpoints', page);
    for (const { commit_id: id } of checkpoints) all.add(id);
    if (checkpoints.length < 1000) return all;
    before = checkpoints.at(-1).commit_id;
  }
}

/** path -> blob id of a checkpoint, as git reads it. */
export function treeOf(root, dialog, commit) {
  const entries = entriesOf({ root, dialog, commit });
  return Object.fromEntries(entries.map(({ path, id }) => [path, id]));
}

/** All entries of a checkpoint with their modes; paths can be had as their very bytes (`latin1`). */
export function entriesOf({ root, dialog, commit, encoding = 'utf8' }) {
  const { stdout } = spawnSync('git', ['ls-tree', '-r', '-z', commit], {
    cwd: join(root, '.agentsmithy/dialogs', dialog, 'checkpoints'),
    encoding,
  });
  const found = stdout.matchAll(/(\d+) blob ([0-9a-f]{40})\t([^\0]*)\0/gu);
  return [...found].map(([, mode, id, path]) => ({ mode, id, path }));
}

/** Complains when git finds anything wrong in a dialog's repository. */
export async function fsck(root, dialog, env) {
  // A repack in the background takes packs away that git has just listed: then it looks again. What
  // is really missing is missing the next time, too.
  for (let attempt = 1; ; attempt++) {
    const { status, complaints } = fsckOnce(root, dialog, env);
    if (attempt < FSCK_ATTEMPTS && complaints.includes(' index not opened')) {
      await pause(500);
      continue;
    }
    assert.deepEqual({ status, complaints }, { status: 0, complaints: '' });
    return;
  }
}

function fsckOnce(root, dialog, env) {
  const { status, stdout, stderr } = spawnSync('git', ['fsck', '--strict', '--full'], {
    cwd: join(root, '.agentsmithy/dialogs', dialog, 'checkpoints'),
    env: { ...env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' },
    encoding: 'utf8',
  });
  const complaints = `${stdout}${stderr}`.replace(/^(dangling|notice|Checking).*\n?/gmu, '');
  return { status, complaints };
}

/** Each line is whole and names the one before by its hash. */
export function checkLedger(root) {
  const text = readFileSync(join(root, '.agentsmithy/ledger/events.jsonl'), 'utf8');
  assert(text.endsWith('\n'), 'the ledger ends in the middle of a line');
  const lines = text.split('\n').slice(0, -1);
  let prev = '0'.repeat(64);
  lines.forEach((line, number) => {
    const entry = JSON.parse(line);
    assert.deepEqual({ seq: entry.seq, prev: entry.prev }, { seq: number + 1, prev });
    prev = createHash('sha256').update(line).digest('hex');
  });
  return lines.length;
}

/**
 * Lock files of git in our own repositories that stay: nobody but us would ever remove them. One that
 * is held for a snapshot this very moment goes by itself.
 */
export async function leftLocks(root) {
  for (const end = performance.now() + LOCK_MS; ; await pause(5)) {
    const found = readdirSync(join(root, '.agentsmithy'), { recursive: true });
    // Copied first: under jest the list comes from another realm, which strict equality sees.
    const left = [...found].filter((path) => path.endsWith('.lock'));
    if (left.length === 0 || performance.now() > end) return left;
  }
}

/** JSON-RPC, one object per line. */
class Client {
  #net;
  #unread = '';
  #lastId = 0;
  #isClosed = false;
  #waiting = new Map();
  /** Notifications, in the order they came. */
  events = [];

  /** Undefined when nobody listens (yet). */
  static async connect(address) {
    const net = connect(address);
    try {
      await once(net, 'connect');
    } catch {
      return undefined;
    }
    return new Client(net);
  }

  constructor(net) {
    this.#net = net;
    net.setEncoding('utf8');
    net.on('error', () => undefined);
    net.on('data', (text) => this.#receive(text));
    net.on('close', () => {
      this.#isClosed = true;
      for (const { reject } of this.#waiting.values()) reject(closed());
    });
  }

  call(method, params = {}) {
    if (this.#isClosed) return Promise.reject(closed());
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#net.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  #receive(text) {
    const lines = `${this.#unread}${text}`.split('\n');
    this.#unread = lines.pop();
    for (const line of lines) {
      const { id, result, error, params } = JSON.parse(line);
      if (id === undefined) this.events.push(params);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else {
        const { message, data } = error;
        waiting?.reject(Object.assign(new Error(message), { code: data.code, data }));
      }
    }
  }
}

function closed() {
  return Object.assign(new Error('the daemon is gone'), { code: 'CLOSED' });
}
