/** Where an attack is tried: a booby-trapped project, a canary beside it, a daemon, and what must hold after. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
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
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection, startDaemon } from '../support/daemon-process.mjs';
import { layHoneypot } from './honeypot.mjs';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
export const CLI = join(REPOSITORY, 'dist/cli/main.js');
/** Must be in nothing that is kept, sent or written down. */
export const CANARY = 'canary-5f1c-of-a-private-key';

export class Stage {
  base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-attack-'));
  root = join(this.base, 'project');
  home = join(this.base, 'home');
  /** Nobody has any business here. */
  outside = join(this.base, 'outside');
  /** Set by attacks after which there can be no daemon. */
  endsWithoutDaemon = false;
  #daemons = [];
  #connections = [];
  #undo = [];
  #before;

  constructor() {
    chmodSync(this.base, 0o755);
    for (const folder of [this.root, this.home, this.outside]) mkdirSync(folder);
    this.honeypot = layHoneypot({
      root: this.root,
      home: this.home,
      trap: join(this.base, 'trap'),
    });
    this.mend();
    this.#before = this.#untouchable();
  }

  get env() {
    return { PATH: process.env.PATH, HOME: this.home };
  }

  at(path) {
    return join(this.root, path);
  }

  state(path = '') {
    return join(this.root, '.agentsmithy', path);
  }

  write(path, content) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  /** Files of the project; null deletes. */
  put(files) {
    for (const [path, content] of Object.entries(files)) {
      if (content === null) rmSync(this.at(path), { recursive: true, force: true });
      else this.write(this.at(path), content);
    }
  }

  /** The daemon in the foreground, and one connection to it. */
  async start(env = {}) {
    const daemon = await startDaemon({ root: this.root, cli: CLI, env: { ...this.env, ...env } });
    this.#daemons.push(daemon);
    this.daemon = daemon;
    this.client = await this.connect();
    return this.client;
  }

  async connect() {
    const client = await Connection.open(this.info().socket);
    this.#connections.push(client);
    return client;
  }

  async stop(signal = 'SIGTERM') {
    await this.daemon.stop(signal);
  }

  info() {
    return JSON.parse(readFileSync(this.state('run/daemon.json'), 'utf8'));
  }

  token() {
    return readFileSync(this.state('run/token'), 'utf8').trim();
  }

  /** Runs a program to its end. */
  run(command, { env = {}, cwd = '/', input = '' } = {}) {
    const [program, ...args] = command;
    const child = spawn(program, args, { cwd, env: { ...this.env, ...env } });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
  }

  /** The command line, left running until the end. */
  spawnCli(words) {
    const child = spawn(process.execPath, [CLI, '--root', this.root, ...words], {
      cwd: '/',
      env: this.env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const ended = once(child, 'exit');
    this.after(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return child;
  }

  cli(words, options) {
    return this.run([process.execPath, CLI, '--root', this.root, ...words], options);
  }

  /** Done at the end, whatever happens. */
  after(undo) {
    this.#undo.push(undo);
  }

  /** What the user does in the project's own git counts as theirs from now on. */
  accept() {
    this.#before = this.#untouchable();
  }

  isUntouched() {
    return JSON.stringify(this.#untouchable()) === JSON.stringify(this.#before);
  }

  /** The canary as it was, for attacks that go on after one got through. */
  mend() {
    rmSync(this.outside, { recursive: true, force: true });
    this.write(join(this.outside, 'key'), CANARY);
    this.write(join(this.outside, 'sub/deep'), CANARY);
  }

  /** What must hold after every attack. */
  async verify() {
    assert.deepEqual(this.#untouchable(), this.#before, 'the canary or the user’s .git changed');
    const ran = existsSync(this.honeypot.marker) ? readFileSync(this.honeypot.marker, 'utf8') : '';
    assert.equal(ran, '', 'a command of the honeypot was run');
    this.assertSecretIsNowhere(CANARY);
    if (this.endsWithoutDaemon) return;
    const { code, stdout, stderr } = await this.cli(['--json', 'status']);
    assert.equal(code, 0, `the daemon does not answer: ${stderr}`);
    assert.equal(JSON.parse(stdout).root, this.root);
  }

  /** Looks through every byte the daemon keeps, packs unpacked. */
  assertSecretIsNowhere(secret) {
    if (!existsSync(this.state())) return;
    for (const [path, bytes] of this.#kept()) {
      assert.ok(!bytes.includes(secret), `${path} holds what nobody should have read`);
    }
  }

  async remove() {
    for (const undo of this.#undo.splice(0).reverse()) await undo();
    for (const client of this.#connections) client.destroy();
    if (existsSync(this.state('run/daemon.json'))) await this.cli(['stop']);
    for (const daemon of this.#daemons) await daemon.stop('SIGKILL');
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 });
  }

  *#kept() {
    for (const path of filesBelow(this.state())) {
      // What is on its way to another name goes while we look.
      const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
      if (isFile && existsSync(path)) yield [path, readFileSync(path)];
    }
    yield ['the objects', this.#objects()];
  }

  #objects() {
    const store = this.state('store');
    if (!existsSync(store)) return Buffer.alloc(0);
    const { stdout } = spawnSync('git', ['cat-file', '--batch-all-objects', '--batch'], {
      env: {
        PATH: process.env.PATH,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_DIR: join(store, 'kept/.git'),
        GIT_OBJECT_DIRECTORY: join(store, 'objects'),
      },
      maxBuffer: 1 << 30,
    });
    return stdout;
  }

  #untouchable() {
    return { outside: digestOf(this.outside), git: digestOf(join(this.root, '.git')) };
  }
}

export function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

/** Names, kinds, modes and bytes of everything below; not the times. */
export function digestOf(folder) {
  const hash = createHash('sha256');
  const look = (path, name) => {
    const stat = lstatSync(path);
    hash.update(`${name}\0${stat.mode}\0`);
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stat.isFile()) hash.update(readFileSync(path));
    else if (stat.isDirectory()) {
      for (const child of readdirSync(path).sort()) look(join(path, child), `${name}/${child}`);
    }
    hash.update('\0');
  };
  look(folder, '');
  return hash.digest('hex');
}
