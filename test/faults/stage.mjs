/**
 * The stage of one fault: a project with a history in a folder of its own, a daemon on it, a note of
 * everything that was acknowledged, and the faults that are at work until they are healed.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { attach } from '../support/strace.mjs';
import { daemonFile, startDaemon } from '../support/sweep-daemon.mjs';
import { ran } from './means.mjs';

const DEADLINE_MS = 40_000;
const OWN = new Set(['.git', '.agentsmithy']);
const FILES = { 'a.txt': 'one\n', 'src/b.js': 'let b = 1;\n', 'src/deep/c.md': '# c\n' };

export class Stage {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-fault-')));
  root = join(this.folder, 'project');
  /** What lies beside the project and is nobody's business. */
  outside = join(this.folder, 'outside');
  /** Commit -> { dialog, state }: what was on the disk when it was acknowledged. */
  acknowledged = new Map();
  /** What may lie in the folder of the stage. */
  beside = new Set(['project', 'outside']);
  /** What doctor may say of this place: a small disk stays one. */
  complaints = new Set();
  /** Paths that are on the disk and, as documented, in no checkpoint. */
  untracked = new Set();
  daemon;
  dialog;
  /** Takes more options for the next starts: `env`, `under`. */
  options = {};
  #cli;
  #env;
  #healers = [];
  #endings = [];

  constructor({ cli, env }) {
    this.#cli = cli;
    this.#env = env;
    chmodSync(this.folder, 0o755);
    mkdirSync(this.root);
    mkdirSync(this.outside);
    writeFileSync(join(this.outside, 'canary'), 'alive');
  }

  path(...parts) {
    return join(this.root, '.agentsmithy', ...parts);
  }

  at(path) {
    return join(this.root, path);
  }

  get env() {
    return this.#env;
  }

  get cli() {
    return this.#cli;
  }

  /** Runs the command line to its end. */
  command(args, { env = {}, under = [] } = {}) {
    const words = [...under, process.execPath, this.#cli, '--root', this.root, ...args];
    const { status, stdout, stderr } = spawnSync(words[0], words.slice(1), {
      env: { ...this.#env, ...env },
      cwd: '/',
      encoding: 'utf8',
    });
    return { code: status, stdout, stderr };
  }

  async start(options = this.options) {
    const { env = {}, under = [] } = options;
    const all = { ...this.#env, ...env };
    this.daemon = await startDaemon({ root: this.root, cli: this.#cli, env: all, under });
    return this.daemon;
  }

  /** What a start that must fail says. */
  async noStart(options) {
    const outcome = await this.start(options).then(
      () => 'it started',
      (error) => error,
    );
    assert.notEqual(outcome, 'it started', 'the daemon started');
    return outcome.stderr ?? String(outcome);
  }

  /** A project, a daemon, a dialog, and two checkpoints that were acknowledged. */
  async begin(files = FILES, options = this.options) {
    this.put(files);
    await this.start(options);
    await this.open();
    this.put({ 'a.txt': 'two\n', 'src/new.txt': 'new\n' });
    await this.save('second');
  }

  async open() {
    const before = this.disk();
    const opened = await this.call('create_dialog', { title: 'fault' });
    this.dialog = opened.dialog_id;
    this.acknowledge(opened.initial_checkpoint, before);
    this.first = opened.initial_checkpoint;
    return opened;
  }

  call(method, params) {
    return this.daemon.call(method, params);
  }

  /** The error of a call that must not succeed; every error has a code of the table. */
  async refusal(method, params) {
    const outcome = await this.call(method, params).then(
      (answer) => ({ answer }),
      (error) => ({ error }),
    );
    assert(outcome.error !== undefined, `${method} was answered: ${JSON.stringify(outcome)}`);
    assert.notEqual(outcome.error.code, 'INTERNAL', outcome.error.message);
    return outcome.error;
  }

  async save(message = 'saved') {
    const before = this.disk();
    const answer = await this.call('create_checkpoint', { message });
    const skipped = new Set(answer.skipped.map(({ path }) => path));
    const kept = Object.entries(before).filter(([path]) => !skipped.has(path));
    this.acknowledge(answer.commit_id, Object.fromEntries(kept));
    return answer;
  }

  async restore(checkpoint) {
    const before = this.disk();
    const answer = await this.call('restore', { checkpoint_id: checkpoint });
    if (answer.safety_checkpoint !== null) this.acknowledge(answer.safety_checkpoint, before);
    this.acknowledge(answer.new_checkpoint, this.disk());
    return answer;
  }

  acknowledge(commit, state) {
    this.acknowledged.set(commit, { dialog: this.dialog, state });
  }

  get tip() {
    return [...this.acknowledged.keys()].at(-1);
  }

  /** Writes files; null deletes. */
  put(files) {
    for (const [path, content] of Object.entries(files)) {
      if (content === null) rmSync(this.at(path), { recursive: true, force: true });
      else {
        mkdirSync(dirname(this.at(path)), { recursive: true });
        writeFileSync(this.at(path), content);
      }
    }
  }

  read(path) {
    return readFileSync(this.at(path), 'utf8');
  }

  /** path, as its bytes -> mode and blob id, of files and links. */
  disk() {
    return diskOf(this.root, this.untracked);
  }

  async status() {
    return this.call('status');
  }

  async warnings() {
    return (await this.status()).warnings.join('\n');
  }

  log() {
    return existsSync(this.path('run/daemon.log'))
      ? readFileSync(this.path('run/daemon.log'), 'utf8')
      : '';
  }

  daemonFile() {
    return daemonFile(this.root);
  }

  /** Processes that the daemon started, by a word of their command. */
  children(word) {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/u.test(name) && parentOf(name) === this.daemon.pid)
      .filter((name) => commandOf(name).includes(word))
      .map(Number);
  }

  /** A fault by strace, in all threads of the daemon or of `pid`, until it is healed. */
  async inject(fault, { path, pid = this.daemon.pid, follow = false, only = false } = {}) {
    const log = join(this.folder, `trace-${this.#healers.length}.log`);
    this.#healers.push(() => rmSync(log, { force: true }));
    const where = path === undefined ? [] : [path].flat().flatMap((one) => ['-P', one]);
    const calls = `trace=${fault.slice(0, fault.indexOf(':'))}`;
    const args = ['-y', '-o', log, ...where, '-e', calls, '-e', `inject=${fault}`];
    const tracing = await attach(pid, args, { follow, only });
    let isOn = true;
    const stop = async () => {
      if (!isOn) return;
      isOn = false;
      await tracing.stop();
    };
    this.#healers.push(stop);
    return {
      stop,
      said: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
      isHit: () => /INJECTED|DELAYED|by SIG(?:KILL|STOP)/u.test(textOf(log)),
    };
  }

  /** Calls and has the daemon killed on the way; the call itself may have been answered. */
  async killed(fault, where, act) {
    const tracing = await this.inject(fault, where);
    const acting = act().then(
      (answer) => ({ answer }),
      (error) => ({ error }),
    );
    const outcome = await Promise.race([this.daemon.ended.then(() => undefined), acting]);
    assert(outcome?.answer === undefined, `the call was answered: ${JSON.stringify(outcome)}`);
    await this.until('the daemon is gone', () => this.isGone());
    await tracing.stop();
    return acting;
  }

  isGone() {
    return !existsSync(`/proc/${this.daemon.pid}/exe`) || stateOf(this.daemon.pid) === 'Z';
  }

  /** Done when the fault is to end, newest first. */
  onHeal(healer) {
    this.#healers.push(healer);
  }

  /** The cause is gone. */
  async heal() {
    for (const healer of this.#healers.splice(0).reverse()) await healer();
  }

  async until(what, look) {
    const end = performance.now() + DEADLINE_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
      await pause(10);
    }
  }

  /** Done when everything is over, newest first. */
  onEnd(ending) {
    this.#endings.push(ending);
  }

  /** The project lies elsewhere, on a disk that is ours. */
  moveTo(root) {
    rmSync(this.root, { recursive: true, maxRetries: 20 });
    this.root = root;
    this.beside.delete('project');
    this.complaints.add('disk space');
    mkdirSync(root, { recursive: true });
  }

  /** The project lies on a small disk in memory; the end of `options` is mount's. */
  onSmallDisk(options) {
    const disk = this.scratch('disk');
    assert(ran('mount', '-t', 'tmpfs', '-o', options, 'none', disk), 'nothing was mounted');
    this.moveTo(join(disk, 'project'));
    this.onEnd(() => this.until('nobody uses the disk', () => ran('umount', disk)));
    return disk;
  }

  /** A folder outside the project for what the fault itself needs. */
  scratch(name) {
    this.beside.add(name);
    mkdirSync(join(this.folder, name), { recursive: true });
    return join(this.folder, name);
  }

  findProgram(name) {
    const places = this.#env.PATH.split(delimiter).map((folder) => join(folder, name));
    return places.find((file) => existsSync(file));
  }

  /** Looks at the last ones only, where a fault needs many checkpoints and each look takes time. */
  keepSome(count) {
    this.acknowledged = new Map([...this.acknowledged].slice(-count));
  }

  async end() {
    await this.heal();
    if (this.daemon !== undefined && !this.isGone()) await this.daemon.kill();
    // Of a start that failed under strace, which was told to go and left its daemon alone.
    for (const pid of namingIt(this.root)) process.kill(pid, 'SIGKILL');
    await this.until('nobody is left', () => namingIt(this.root).length === 0);
    for (const ending of this.#endings.splice(0).reverse()) await ending();
    // Node's own way ends at a depth that a fault may have left.
    assert(ran('rm', '-rf', this.folder));
  }
}

/** path -> mode and blob id; names are taken as bytes, for not all of them are UTF-8. */
function diskOf(root, untracked) {
  const found = {};
  const walk = (folder, prefix) => {
    for (const name of readdirSync(Buffer.from(folder, 'latin1'), { encoding: 'latin1' }).sort()) {
      const path = `${prefix}${name}`;
      if (OWN.has(name) || untracked.has(path)) continue;
      const full = Buffer.from(`${folder}/${name}`, 'latin1');
      const stat = lstatSync(full);
      if (stat.isDirectory()) walk(`${folder}/${name}`, `${path}/`);
      else if (stat.isSymbolicLink()) {
        found[path] = `120000 ${blobId(readlinkSync(full, { encoding: 'buffer' }))}`;
      } else if (stat.isFile()) {
        const mode = (stat.mode & 0o100) === 0 ? '100644' : '100755';
        found[path] = `${mode} ${blobId(readFileSync(full))}`;
      }
    }
  };
  walk(Buffer.from(root).toString('latin1'), '');
  return found;
}

/** Processes that name the folder as one of their arguments. */
function namingIt(root) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name) && commandOf(name).split(' ').includes(root))
    .map(Number);
}

function blobId(bytes) {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function textOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function parentOf(pid) {
  return Number(/\) . (\d+)/u.exec(textOf(`/proc/${pid}/stat`))?.[1] ?? 0);
}

function stateOf(pid) {
  return /\) (.) /u.exec(textOf(`/proc/${pid}/stat`))?.[1];
}

function commandOf(pid) {
  return textOf(`/proc/${pid}/cmdline`).split('\0').join(' ');
}
