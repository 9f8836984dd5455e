/**
 * A durable commit of one changed file, on trees of growing size, in one run against
 *   - `git add -A && git commit` on a separate git folder (git's defaults: nothing is flushed), and
 *   - the floor: the same objects hashed, deflated and written in process as one small pack with
 *     its index and ref, everything flushed, nothing else done.
 * Rounds are interleaved, medians reported. Usage: node bench/store.mjs [files ...]; needs a build.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { deflateSync } from 'node:zlib';
import { createStore } from '../dist/git/store.js';

const SIZES = process.argv.slice(2).map(Number);
const ROUNDS = 60;
const SLOW_ROUNDS = 5;
const GIT = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
const DIALOG = 'BENCH';
const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

const blobId = (bytes) =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
const pathOf = (number) => `d${number % 100}/e${Math.floor(number / 100) % 100}/file-${number}.txt`;
const contentOf = (number, version) =>
  Buffer.from(`file ${number} version ${version}\n`.repeat(20));
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];

async function timed(into, work) {
  const start = performance.now();
  const result = await work();
  into.push(performance.now() - start);
  return result;
}

const folder = fs.mkdtempSync(join(tmpdir(), 'smithyd-bench-'));
try {
  const trees = [];
  for (const files of SIZES.length > 0 ? SIZES : [500, 10_000, 100_000]) {
    trees.push(await prepare(files, join(folder, String(files))));
  }
  // Size after size within each round: whatever else the machine does hits all of them.
  for (let round = 0; round < ROUNDS; round++) for (const tree of trees) await tree.step(round);
  for (const tree of trees) console.log(JSON.stringify(await tree.report()));
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}

async function prepare(files, folder) {
  const project = join(folder, 'project');
  for (let number = 0; number < files; number++) {
    const path = join(project, pathOf(number));
    if (number < 10_000) fs.mkdirSync(join(path, '..'), { recursive: true });
    fs.writeFileSync(path, contentOf(number, 0));
  }
  const separate = [`--git-dir=${join(folder, 'separate.git')}`, `--work-tree=${project}`];
  const addAndCommit = (message) => {
    execFileSync(GIT, [...separate, 'add', '-A'], { env });
    const who = ['-c', 'user.name=b', '-c', 'user.email=b'];
    execFileSync(GIT, [...who, ...separate, 'commit', '-qm', message], { env });
  };
  execFileSync(GIT, [...separate, 'init', '-q'], { env });
  const first = { git: [], ours: [] };
  await timed(first.git, () => addAndCommit('first'));

  const state = join(folder, 'state');
  const store = createStore({ state, git: GIT, environment: { PATH: process.env.PATH } });
  await store.open();
  await store.createRepository(DIALOG);
  const change = (number, version) => {
    const bytes = contentOf(number, version);
    const path = pathOf(number);
    return { path, mode: '100644', hash: blobId(bytes), content: () => bytes, size: bytes.length };
  };
  const request = (tip, changes) => ({
    dialog: DIALOG,
    branch: 'session_1',
    expected: tip,
    parents: tip === null ? [] : [tip],
    base: tip,
    changes,
    emptyFolders: [],
    message: 'bench',
    trailers: { Session: 'session_1' },
    at: 1_700_000_000_000,
  });
  const all = Array.from({ length: files }, (_, number) => change(number, 0));
  let tip = await timed(first.ours, () => store.commit(request(null, all)));
  // Not measured: the first ones pay for starting the child.
  for (let version = 1; version <= 3; version++) {
    tip = await store.commit(request(tip, [change(7, version)]));
  }
  const checkpoints = join(state, 'dialogs', DIALOG, 'checkpoints');
  const floor = createFloor(join(folder, 'floor'), objectsOf(checkpoints, tip));
  const times = { ours: [], floor: [], pack: [], git: [] };
  const rounded = (value) => Number(value.toFixed(2));

  return {
    async step(round) {
      const next = change(7, round + 10);
      tip = await timed(times.ours, () => store.commit(request(tip, [next])));
      await timed(times.floor, () => floor.whole(round));
      await timed(times.pack, () => floor.packOnly(round));
      if (round >= SLOW_ROUNDS) return;
      fs.writeFileSync(join(project, pathOf(7)), contentOf(7, round + 10));
      await timed(times.git, () => addAndCommit(`round ${round}`));
    },
    async report() {
      await store.close();
      const ours = median(times.ours);
      return {
        files,
        ours_ms: rounded(ours),
        floor_ms: rounded(median(times.floor)),
        pack_only_ms: rounded(median(times.pack)),
        git_ms: rounded(median(times.git)),
        git_to_ours: rounded(median(times.git) / ours),
        ours_to_floor: rounded(ours / median(times.floor)),
        first_ours_s: rounded(first.ours[0] / 1000),
        first_git_s: rounded(first.git[0] / 1000),
      };
    },
  };
}

/** Everything that one commit added, as type and bytes. */
function objectsOf(checkpoints, tip) {
  const run = (...args) => execFileSync(GIT, args, { cwd: checkpoints, env });
  const ids = run('rev-list', '--objects', tip, '--not', `${tip}^`).toString().trim().split('\n');
  return ids.map((line) => {
    const id = line.slice(0, 40);
    const type = run('cat-file', '-t', id).toString().trim();
    return { type, bytes: run('cat-file', type, id) };
  });
}

function createFloor(folder, objects) {
  const packs = join(folder, 'objects/pack');
  const heads = join(folder, 'refs/heads');
  for (const path of [packs, heads]) fs.mkdirSync(path, { recursive: true });
  const TYPES = { commit: 1, tree: 2, blob: 3 };
  let number = 0;

  /** The right amount of hashing and deflating; the ids inside the trees are left as they are. */
  function encode(salt) {
    const ids = [];
    const parts = [
      Buffer.from(`PACK\0\0\0\x02\0\0\0${String.fromCharCode(objects.length)}`, 'latin1'),
    ];
    for (const { type, bytes } of objects) {
      const changed = Buffer.from(bytes);
      changed.write(String(salt), Math.max(0, changed.length - 12));
      const id = createHash('sha1').update(`${type} ${changed.length}\0`).update(changed).digest();
      ids.push(id);
      const head = [(TYPES[type] << 4) | (changed.length & 15)];
      for (let size = changed.length >> 4; size > 0; size >>= 7) {
        head[head.length - 1] |= 128;
        head.push(size & 127);
      }
      parts.push(Buffer.from(head), deflateSync(changed));
    }
    const body = Buffer.concat(parts);
    const sum = createHash('sha1').update(body).digest();
    const index = Buffer.concat([
      Buffer.alloc(8 + 1024),
      ...ids.sort(Buffer.compare),
      Buffer.alloc(8 * ids.length),
      sum,
    ]);
    return {
      pack: Buffer.concat([body, sum]),
      index: Buffer.concat([index, createHash('sha1').update(index).digest()]),
    };
  }

  function write(path, bytes) {
    const file = fs.openSync(path, 'wx');
    fs.writeSync(file, bytes);
    fs.fsyncSync(file);
    fs.closeSync(file);
  }

  function flush(path) {
    const handle = fs.openSync(path, 'r');
    fs.fsyncSync(handle);
    fs.closeSync(handle);
  }

  return {
    whole(salt) {
      const { pack, index } = encode(salt);
      const name = join(packs, `pack-${++number}`);
      write(`${name}.pack`, pack);
      write(`${name}.idx`, index);
      flush(packs);
      write(join(heads, 'main.lock'), `${'a'.repeat(40)}\n`);
      fs.renameSync(join(heads, 'main.lock'), join(heads, 'main'));
      flush(heads);
    },
    packOnly(salt) {
      write(join(packs, `only-${++number}.pack`), encode(salt).pack);
    },
  };
}
