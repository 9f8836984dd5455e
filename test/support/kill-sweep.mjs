/**
 * Kills the daemon at random moments of its calls and looks whether it kept its promises:
 * acknowledged checkpoints are listed and can be restored exactly, an interrupted call was done or
 * not begun, git finds nothing wrong, and the next start needs no help. Time is only used to choose
 * the moment of a kill.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 60_000;
const FILES = 60;
const CALLS = [
  'create_checkpoint',
  'restore',
  'user_message',
  'undo',
  'approve',
  'restore',
  'reset',
  'redo',
];

export async function killSweep({ root, seed, kills, cli, env, tell = () => undefined }) {
  const random = randomNumbers(seed);
  /** Commit -> what was on disk when it was acknowledged. */
  const acknowledged = new Map();
  /** Every content the disk ever had when a call was made. */
  const states = new Set();
  const durations = new Map();
  const outcomes = {};
  let interrupted = 0;
  let dialog;
  let approved;
  let daemon = await start();
  try {
    scribble();
    const opened = await call('create_dialog', { title: 'sweep' });
    dialog = opened.dialog_id;
    approved = disk();
    acknowledged.set(opened.initial_checkpoint, approved);
    for (let kill = 1; kill <= kills; kill++) {
      for (let i = random(3); i >= 0; i--) await step(CALLS[random(CALLS.length)]);
      await stepAndKill(CALLS[kill % CALLS.length]);
      if (kill % 25 === 0) tell(`${kill} kills, ${acknowledged.size} checkpoints acknowledged`);
    }
    for (const commit of everyTenth([...acknowledged.keys()])) await restoreExactly(commit);
  } finally {
    daemon.child.kill('SIGKILL');
    await daemon.ended;
  }
  return { kills, interrupted, acknowledged: acknowledged.size, outcomes };

  async function start() {
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
      const info = daemonFile();
      if (info?.pid === child.pid) {
        const client = await Client.connect(info.socket);
        if (client !== undefined) return { child, ended, client };
      }
      if (child.exitCode !== null) throw new Error(`the daemon did not start: ${stderr}`);
      assert(performance.now() < end, `the daemon was not there in time: ${stderr}`);
      await pause(5);
    }
  }

  function daemonFile() {
    try {
      return JSON.parse(readFileSync(join(root, '.agentsmithy/run/daemon.json'), 'utf8'));
    } catch {
      return undefined;
    }
  }

  function call(method, params) {
    return daemon.client.call(method, params);
  }

  function disk() {
    const state = JSON.stringify(diskOf(root));
    states.add(state);
    return state;
  }

  /** Changes, adds and removes some files. */
  function scribble() {
    for (let i = 1 + random(FILES); i > 0; i--) {
      const number = random(FILES);
      const path = join(root, `d${number % 4}`, `f${number}`);
      if (random(4) === 0) rmSync(path, { force: true });
      else {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, `${random(1e9)} `.repeat(1 + random(200)));
      }
    }
  }

  function paramsOf(method) {
    if (method === 'create_checkpoint') return { message: `checkpoint ${random(1e6)}` };
    if (method === 'user_message') return { content: `message ${random(1e6)}` };
    if (method !== 'restore') return {};
    const known = [...acknowledged.keys()];
    return { checkpoint_id: known[random(known.length)] };
  }

  /** What the answer promises about commits, and about the disk. */
  function note(method, { before, params, answer }) {
    const after = disk();
    if (method === 'create_checkpoint') acknowledged.set(answer.commit_id, before);
    if (method === 'user_message') acknowledged.set(answer.checkpoint, before);
    if (method === 'approve') {
      approved = before;
      acknowledged.set(answer.approved_commit, before);
    }
    if (method === 'reset') {
      acknowledged.set(answer.pre_reset_checkpoint, before);
      same(after, approved, 'a reset did not bring the approved state');
    }
    if (method === 'restore') {
      same(after, acknowledged.get(params.checkpoint_id), 'a restore was not exact');
    }
    if (['restore', 'undo', 'redo'].includes(method)) {
      acknowledged.set(answer.new_checkpoint, after);
      if (answer.safety_checkpoint !== null) acknowledged.set(answer.safety_checkpoint, before);
    }
  }

  async function step(method) {
    if (method !== 'redo' && random(3) > 0) scribble();
    const [before, params] = [disk(), paramsOf(method)];
    const begun = performance.now();
    const answer = await call(method, params).catch(nothingToGoTo);
    const took = performance.now() - begun;
    const usual = durations.get(method) ?? took;
    durations.set(method, usual * 0.7 + took * 0.3);
    if (answer !== undefined) note(method, { before, params, answer });
  }

  async function stepAndKill(method) {
    // New work leaves nothing to redo.
    if (method === 'redo') await step('undo');
    else if (random(4) > 0) scribble();
    const [before, params] = [disk(), paramsOf(method)];
    let answer;
    const answered = call(method, params).then((value) => (answer = value), nothingToGoTo);
    await pause((durations.get(method) ?? 30) * (random(1200) / 1000));
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    await answered;
    daemon = await start();
    // Recovery comes before the first answer.
    const { checkpoints } = await call('list_checkpoints', { dialog_id: dialog, limit: 1000 });
    const listed = new Set(checkpoints.map(({ commit_id: id }) => id));
    if (answer !== undefined) note(method, { before, params, answer });
    for (const commit of acknowledged.keys()) {
      assert(listed.has(commit) || listed.size === 1000, `checkpoint ${commit} is lost`);
    }
    if (answer === undefined) await judge(method, { before, params });
    fsck();
    const known = [...acknowledged.keys()];
    await restoreExactly(known[random(known.length)]);
  }

  /** No answer came: all of it was done, or nothing. */
  async function judge(method, { before, params }) {
    interrupted += 1;
    const after = disk();
    const outcome = (outcomes[method] ??= { finished: 0, notBegun: 0 });
    outcome[after === before ? 'notBegun' : 'finished'] += 1;
    if (method === 'approve') {
      same(after, before, 'an approval changed files');
      // Whether it was done is not known from here: once more, and it is.
      const answer = await call('approve');
      note('approve', { before, params: {}, answer });
      return;
    }
    if (after === before) return;
    if (method === 'reset') same(after, approved, 'a reset was half done');
    else if (method === 'restore') {
      same(after, acknowledged.get(params.checkpoint_id), 'a restore was half done');
    } else {
      assert(['undo', 'redo'].includes(method), `${method} changed files`);
      assert(states.has(after), `${method} was half done`);
      return;
    }
    await call('undo');
    same(disk(), before, `undo after a ${method} that was cut off did not go back`);
  }

  async function restoreExactly(commit) {
    const before = disk();
    const answer = await call('restore', { checkpoint_id: commit });
    note('restore', { before, params: { checkpoint_id: commit }, answer });
  }

  function fsck() {
    const { status, stdout, stderr } = spawnSync('git', ['fsck', '--strict', '--full'], {
      cwd: join(root, '.agentsmithy/dialogs', dialog, 'checkpoints'),
      env: { ...env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' },
      encoding: 'utf8',
    });
    const complaints = `${stdout}${stderr}`.replace(/^(dangling|notice|Checking).*\n?/gmu, '');
    assert.deepEqual({ status, complaints }, { status: 0, complaints: '' });
  }
}

/** Says which paths differ, not what is in them. */
function same(found, wanted, complaint) {
  if (found === wanted) return;
  const [a, b] = [JSON.parse(found), JSON.parse(wanted ?? '{}')];
  const paths = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const differ = paths.filter((path) => a[path] !== b[path]);
  throw new Error(`${complaint}: ${differ.length} of ${paths.length} differ: ${differ.join(' ')}`);
}

function nothingToGoTo(error) {
  if (error.code !== 'CHECKPOINT_NOT_FOUND' && error.code !== 'CLOSED') throw error;
}

function everyTenth(list) {
  return list.filter((_, index) => index % 10 === 0);
}

/** path -> content, for all files of the project. */
function diskOf(root) {
  const found = {};
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.name === '.agentsmithy') continue;
    for (const name of readdirSync(join(root, entry.name)).sort()) {
      found[`${entry.name}/${name}`] = readFileSync(join(root, entry.name, name), 'latin1');
    }
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** mulberry32: whole numbers from 0 to below `end`. */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
}

/** JSON-RPC, one call at a time. */
class Client {
  #net;
  #unread = '';
  #lastId = 0;
  #waiting = new Map();

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
      for (const { reject } of this.#waiting.values()) {
        reject(Object.assign(new Error('the daemon is gone'), { code: 'CLOSED' }));
      }
    });
  }

  call(method, params = {}) {
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
      const { id, result, error } = JSON.parse(line);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(Object.assign(new Error(error.message), { code: error.data.code }));
    }
  }
}
