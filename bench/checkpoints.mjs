/**
 * Checkpoints and restores through the daemon's socket, on trees of growing size, in turns with what
 * other tools do (a git folder beside the project: `add -A && commit`, or `add -A`, `write-tree`,
 * `commit-tree`) and with the least the same objects can cost. Medians. Needs a build.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { createStore } from '../dist/git/store.js';
import { connect } from '../dist/index.js';
import { createFloor, objectsOf } from './floor.mjs';
import { quantile } from './numbers.mjs';
import { createSeparateGit, createShadow, env, GIT } from './separate-git.mjs';
import { contentOf, edit, editPart, makeTree, pathOf } from './source-tree.mjs';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
/** Our own commands are quick, those of git on a large tree are not. */
const ROUNDS = 21;
const GIT_ROUNDS = 5;
const MANY = { rounds: 7, gitRounds: 3 };
const SIZES = [500, 10_000, 100_000];
const CHANGED = [1, 10, 500];
const LARGE_RESTORE = 5_000;
const LARGE_ROUNDS = 5;
const HISTORY = 1_000;
/** A message comes after the edits, and not with the last of them. */
const REST_MS = 100;

const median = (times) => quantile(times, 0.5);

async function timed(into, work) {
  const begun = performance.now();
  const result = await work();
  into.push(performance.now() - begun);
  return result;
}

export async function measureCheckpoints(sizes = SIZES, say = () => undefined) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-bench-'));
  const load = [loadavg()[0]];
  const subjects = [];
  try {
    for (const files of sizes) {
      say(`${files} files: first checkpoints`);
      subjects.push(await createSubject(join(base, String(files)), files));
    }
    // Size after size within each round: whatever else the machine does hits all of them.
    for (const count of CHANGED) {
      say(`${count} changed`);
      const rounds = count === 500 ? MANY : { rounds: ROUNDS, gitRounds: GIT_ROUNDS };
      for (const subject of subjects) await subject.prepareCheckpoints(count);
      for (let round = 0; round < rounds.rounds; round++) {
        for (const subject of subjects) {
          await subject.checkpoint(count, { round, withGit: round < rounds.gitRounds });
        }
      }
    }
    say('restore of one file');
    for (let round = 0; round < ROUNDS; round++) {
      for (const subject of subjects) await subject.restoreOne(round < GIT_ROUNDS);
    }
    say(`restore of ${LARGE_RESTORE} files`);
    for (let round = 0; round < LARGE_ROUNDS; round++) {
      for (const subject of subjects) await subject.restoreMany(round < 2);
    }
    load.push(loadavg()[0]);
    say(`${HISTORY} checkpoints`);
    for (const subject of subjects) await subject.makeHistory();
    load.push(loadavg()[0]);
    return { load, results: subjects.map((subject) => subject.result) };
  } finally {
    for (const subject of subjects) await subject.close();
    rmSync(base, { recursive: true, force: true, maxRetries: 50 });
  }
}

async function createSubject(folder, files) {
  const project = join(folder, 'project');
  mkdirSync(project, { recursive: true });
  const commit = createSeparateGit(folder, 'commit', project);
  const trees = createSeparateGit(folder, 'trees', project);
  const shadow = createShadow(folder, project);
  const result = { files, first: {}, checkpoint: {}, restore: [], gitRestore: [], gitCheckout: [] };
  Object.assign(result, {
    large: [],
    largeSaved: [],
    largeFloor: [],
    gitLarge: [],
    delete: [],
    memory: {},
    history: {},
  });

  const first = { ready: [], dialog: [], commit: [], trees: [] };
  const twin = twinOfGit(folder, files);
  await timed(first.commit, () => twin.addAndCommit());
  twin.tidy();
  makeTree(project, files);
  settleDisk();
  await timed(first.ready, () => smithyd(project, 'start'));
  const client = await connect(project, { start: false, timeoutMs: 300_000 });
  await timed(first.dialog, () => client.create_dialog({}));
  await timed(first.trees, () => trees.writeTree());
  commitByGit();
  for (const [name, [time]] of Object.entries(first)) result.first[name] = time;
  const { current_dialog_id: dialog, pid } = await client.status();
  const state = join(project, '.agentsmithy');
  const checkpoints = join(state, 'dialogs', dialog, 'checkpoints');
  result.memory.first = memoryOf(pid);

  function commitByGit() {
    commit.addAndCommit();
    commit.tidy();
  }

  let version = 0;
  let part = 0;
  let floor;
  let inProcess;

  return {
    result,
    async prepareCheckpoints(count) {
      result.checkpoint[count] = { daemon: [], store: [], floor: [] };
      Object.assign(result.checkpoint[count], { commit: [], shadow: [], trees: [] });
      const objects = [];
      // Not measured: the first ones pay for starting children.
      for (let warm = 0; warm < 3; warm++) {
        edit(project, files, { count, version: ++version });
        const { commit_id: tip } = await client.create_checkpoint({});
        objects.splice(0, Infinity, ...objectsOf({ git: GIT, checkpoints, tip, env }));
        result.checkpoint[count].tip = tip;
      }
      floor = createFloor(join(folder, `floor-${count}`), objects);
      await inProcess?.close();
      inProcess = await openStore({
        folder,
        count,
        state,
        dialog,
        tip: result.checkpoint[count].tip,
      });
      await inProcess.commit(
        changesOf(edit(project, files, { count, version: ++version }), version),
      );
      commitByGit();
      await shadow.addAndCommit();
      shadow.tidy();
      trees.writeTree();
    },
    async checkpoint(count, { round, withGit }) {
      const times = result.checkpoint[count];
      const numbers = edit(project, files, { count, version: ++version });
      const turns = [
        () => timed(times.daemon, () => client.create_checkpoint({})),
        () => timed(times.store, () => inProcess.commit(changesOf(numbers, version))),
        () => timed(times.floor, () => floor.write(version)),
      ];
      if (withGit) {
        turns.push(async () => {
          await timed(times.commit, () => commit.addAndCommit());
          commit.tidy();
        });
        turns.push(async () => {
          await timed(times.shadow, () => shadow.addAndCommit());
          shadow.tidy();
        });
        turns.push(() => timed(times.trees, () => trees.writeTree()));
      }
      for (const turn of round % 2 === 0 ? turns : turns.reverse()) {
        settleDisk();
        await pause(REST_MS);
        await turn();
      }
    },
    async restoreOne(withGit) {
      const { commit_id: target } = await client.create_checkpoint({});
      if (withGit) commitByGit();
      edit(project, files, { count: 1, version: ++version });
      await client.create_checkpoint({});
      settleDisk();
      await timed(result.restore, () => client.restore({ checkpoint_id: target }));
      if (!withGit) return;
      const head = commit.head();
      for (const [times, command] of [
        [result.gitRestore, ['restore', `--source=${head}`, '.']],
        [result.gitCheckout, ['checkout', head, '--', '.']],
      ]) {
        edit(project, files, { count: 1, version: ++version });
        await client.known_files({ limit: 1 });
        settleDisk();
        await timed(times, () => commit.git(...command));
      }
    },
    /**
     * Once saved before, once not: then the daemon does that first, as it always does. Each with files
     * of its own: ext4 without a journal goes around names deleted in the last minutes one by one
     * whenever a file is made beside them, and every restore deletes what it replaces.
     */
    async restoreMany(withGit) {
      const count = Math.min(LARGE_RESTORE, files);
      const editNext = () => editPart(project, files, { count, part: part++, version: ++version });
      const { commit_id: target } = await client.create_checkpoint({});
      if (withGit) commitByGit();
      for (const times of [result.large, result.largeSaved]) {
        editNext();
        if (times === result.largeSaved) await client.create_checkpoint({});
        settleDisk();
        const { restored } = await timed(times, () => client.restore({ checkpoint_id: target }));
        if (restored.length !== count) throw new Error(`${restored.length} of ${count} restored`);
      }
      settleDisk();
      const numbers = editNext();
      await client.known_files({ limit: 1 });
      await timed(result.largeFloor, () => replaceAll(project, numbers, version));
      if (!withGit) return;
      const head = commit.head();
      editNext();
      await client.known_files({ limit: 1 });
      await timed(result.gitLarge, () => {
        commit.addAndCommit();
        commit.git('restore', `--source=${head}`, '.');
      });
      commit.tidy();
    },
    async makeHistory() {
      await client.create_checkpoint({});
      // Deleting a dialog leaves one pack of everything: what is added from here on is the history's.
      const scratch = await client.create_dialog({ title: 'scratch' });
      await client.use_dialog({ dialog_id: dialog });
      await timed(result.delete, () => client.delete_dialog({ dialog_id: scratch.dialog_id }));
      await quiet(client, { state, pid });
      // Those that are there now make room for new ones, so none of them counts as there before.
      const before = diskUse(state) - diskUse(join(state, 'ledger', 'diffs'));
      let compressed = 0;
      const times = [];
      for (let number = 0; number < HISTORY; number++) {
        const from = (number * 37) % files;
        const count = 1 + (number % 10);
        for (const one of edit(project, files, { count, version: ++version, from })) {
          compressed += deflateSync(contentOf(one, version)).length;
        }
        await timed(times, () => client.create_checkpoint({}));
      }
      await quiet(client, { state, pid });
      result.history = { added: diskUse(state) - before, compressed, p50: median(times) };
      result.history.p99 = quantile(times, 0.99);
      result.memory.end = memoryOf(pid);
    },
    async close() {
      await inProcess?.close();
      await client.close();
      smithyd(project, 'stop');
    },
  };
}

/** A copy of the daemon's store, used without the daemon. */
async function openStore({ folder, count, state, dialog, tip: start }) {
  const copy = join(folder, `state-${count}`);
  rmSync(copy, { recursive: true, force: true });
  // Nothing that the daemon writes by itself while it is copied.
  for (const part of ['store', `dialogs/${dialog}/checkpoints/.git`]) {
    cpSync(join(state, part), join(copy, part), { recursive: true });
  }
  const store = createStore({ state: copy, git: GIT, environment: { PATH: process.env.PATH } });
  await store.open();
  let tip = start;
  return {
    async commit(changes) {
      tip = await store.commit({
        dialog,
        branch: 'session_1',
        expected: tip,
        parents: [tip],
        base: tip,
        changes,
        emptyFolders: [],
        message: 'bench',
        trailers: { Session: 'session_1' },
        at: 1_700_000_000_000,
      });
    },
    close: () => store.close(),
  };
}

/** On a tree of its own: who comes second to one pays for what the first left in the caches. */
function twinOfGit(folder, files) {
  const twin = join(folder, 'twin');
  mkdirSync(twin, { recursive: true });
  makeTree(twin, files);
  const git = createSeparateGit(folder, 'first', twin);
  settleDisk();
  return git;
}

/** What was written before is on the disk: a flush would wait for it, and git's commands flush nothing. */
function settleDisk() {
  spawnSync('sync');
}

/** The least that replacing files whole can cost: each written beside and renamed over, nothing else. */
function replaceAll(project, numbers, version) {
  for (const number of numbers) {
    const path = join(project, pathOf(number));
    writeFileSync(`${path}.new`, contentOf(number, version));
    renameSync(`${path}.new`, path);
  }
}

function changesOf(numbers, version) {
  return numbers.map((number) => {
    const bytes = Buffer.from(contentOf(number, version));
    const hash = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    const content = () => bytes;
    return { path: pathOf(number), mode: '100644', hash, content, size: bytes.length };
  });
}

/** Until nothing is rolled up in the background any more. */
async function quiet(client, { state, pid }) {
  for (let same = 0, last = -1; same < 5;) {
    await pause(200);
    const now = diskUse(state) + (await client.status()).store.packs;
    // It counts for seconds before it writes, and what it replaces is there until its end.
    same = now === last && !isRepacking(pid) ? same + 1 : 0;
    last = now;
  }
}

function isRepacking(pid) {
  return childrenOf(pid).some((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0').includes('repack');
    } catch {
      // It has just ended.
      return true;
    }
  });
}

function childrenOf(pid) {
  if (process.platform !== 'linux') return [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children.split(' ').filter(Boolean);
}

/** What the disk gives for it, in whole blocks. */
function diskUse(state) {
  const { stdout } = spawnSync('du', ['-s', '-B1', state], { encoding: 'utf8' });
  return Number(stdout.split('\t')[0]);
}

/** Of the daemon and of the git children it keeps, in bytes; the peak is the daemon's alone. */
function memoryOf(pid) {
  const field = (process, name) => {
    const text = readFileSync(`/proc/${process}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'mu').exec(text)?.[1] ?? 0) * 1024;
  };
  if (process.platform !== 'linux') return { daemon: 0, peak: 0, children: 0 };
  const sum = childrenOf(pid).reduce((all, child) => all + field(child, 'VmRSS'), 0);
  return { daemon: field(pid, 'VmRSS'), peak: field(pid, 'VmHWM'), children: sum };
}

function smithyd(root, command) {
  const { status, stderr } = spawnSync(process.execPath, [CLI, '--root', root, '--json', command], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`smithyd ${command} ended with ${status}: ${stderr}`);
}
