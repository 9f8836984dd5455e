/**
 * Kills the daemon in the middle of its calls and looks whether it kept its promises: acknowledged
 * checkpoints are listed and can be restored exactly, an interrupted call was done or not begun and
 * the daemon says which, git and the ledger's chain are whole, and the next start needs no help.
 * Where strace works every kill is at a chosen step; elsewhere time chooses the moment.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { randomNumbers } from './random-numbers.mjs';
import { killAt, pointsOf, repackTrap } from './kill-points.mjs';
import { checkLedger, fsck, leftLocks, listAll, startDaemon, treeOf } from './sweep-daemon.mjs';
import { canTrace } from './strace.mjs';

const FILES = 60;
const CALLS = [
  'create_checkpoint',
  'restore',
  'user_message',
  'undo',
  'approve',
  'reset',
  'redo',
  'rewind',
  'bookmark_add',
  'repack',
];
/** Small checkpoints until the daemon begins to repack by itself. */
const MOST_PACKS = 200;

export async function killSweep({ root, seed, kills, cli, env, tell = () => undefined }) {
  const random = randomNumbers(seed);
  const isTraced = canTrace();
  const folder = mkdtempSync(join(tmpdir(), 'smithyd-points-'));
  const trap = isTraced ? repackTrap(folder, findGit(env.PATH)) : undefined;
  const path = trap === undefined ? env.PATH : `${trap.bin}${delimiter}${env.PATH}`;
  // One thread for files: the n-th call of its kind is then the same step every time.
  const daemonEnv = { ...env, PATH: path, ...(isTraced ? { UV_THREADPOOL_SIZE: '1' } : {}) };
  /** Commit -> what was on disk when it was acknowledged. */
  const acknowledged = new Map();
  /** Every content the disk ever had when a call was made. */
  const states = new Set();
  const durations = new Map();
  /** Per call: points still to come, where strace works. */
  const points = new Map();
  const outcomes = {};
  const steps = {};
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
    for (let kill = 1, turn = 0; kill <= kills; turn++) {
      const method = CALLS[turn % CALLS.length];
      if (method === 'repack' && trap === undefined) continue;
      for (let i = random(3); i >= 0; i--) await step(CALLS[random(CALLS.length - 1)]);
      if (!(await (method === 'repack' ? repackAndKill() : stepAndKill(method)))) continue;
      if (kill % 25 === 0) tell(`${kill} kills, ${acknowledged.size} checkpoints acknowledged`);
      kill += 1;
    }
    const all = [...acknowledged];
    for (const [commit, state] of all) assert.deepEqual(treeOf(root, dialog, commit), blobs(state));
    for (const [commit] of everyTenth(all)) await restoreExactly(commit);
    await fsck(root, dialog, env);
    checkLedger(root);
  } finally {
    await daemon.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  return { kills, interrupted, acknowledged: acknowledged.size, outcomes, steps };

  function start() {
    return startDaemon({ root, cli, env: daemonEnv });
  }

  function call(method, params) {
    return daemon.call(method, params);
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
    if (method === 'bookmark_add') return { name: `bookmark_${random(1e9)}` };
    if (method !== 'restore' && method !== 'rewind') return {};
    const known = [...acknowledged.keys()];
    const target = known[random(known.length)];
    return method === 'restore' ? { checkpoint_id: target } : { target };
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
    if (method === 'bookmark_add') acknowledged.set(answer.commit_id, before);
    if (method === 'restore' || method === 'rewind') {
      same(after, acknowledged.get(targetOf(params)), `a ${method} was not exact`);
    }
    if (['restore', 'rewind', 'undo', 'redo'].includes(method)) {
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

  /** False when the call ended before the point was reached, so that nothing was killed. */
  async function stepAndKill(method) {
    // New work leaves nothing to redo.
    if (method === 'redo') await step('undo');
    else if (random(4) > 0) scribble();
    const given = { before: disk(), params: paramsOf(method) };
    let answer;
    const act = () => call(method, given.params).then((value) => (answer = value), nothingToGoTo);
    if (!isTraced) {
      const answered = act();
      await pause((durations.get(method) ?? 30) * (random(1200) / 1000));
      await daemon.kill();
      await answered;
      count(method, 'some moment');
    } else {
      if ((points.get(method) ?? []).length === 0) {
        points.set(method, shuffled(await pointsOf({ folder, daemon, act })));
        if (answer !== undefined) note(method, { ...given, answer });
        return false;
      }
      const site = { folder, root, daemon, act };
      const { step: reached, acted } = await killAt(site, points.get(method).pop());
      if (reached === undefined) {
        await acted;
        if (answer !== undefined) note(method, { ...given, answer });
        return false;
      }
      await daemon.ended;
      await acted;
      count(method, reached);
    }
    await comeBack(method);
    if (answer !== undefined) note(method, { ...given, answer });
    await lookAround(method);
    if (answer === undefined) await judge(method, given);
    await restoreRandom();
    return true;
  }

  /** Many small checkpoints until the daemon repacks, which ends at a step of our choice. */
  async function repackAndKill() {
    if ((points.get('repack') ?? []).length === 0) points.set('repack', shuffled(repackPoints()));
    const { name, number, signal } = points.get('repack').pop();
    trap.set(`${name}:signal=${signal}:when=${number}`);
    for (let made = 0; trap.isSet(); made++) {
      assert(made < MOST_PACKS, `no repack after ${made} checkpoints`);
      // A state without files there may have been gone back to.
      mkdirSync(join(root, 'd0'), { recursive: true });
      writeFileSync(join(root, 'd0', `f${random(FILES)}`), `${random(1e9)}`);
      const before = disk();
      const answer = await call('create_checkpoint', { message: `small ${made}` });
      acknowledged.set(answer.commit_id, before);
    }
    if (!(await trap.sprung(daemon.ended))) return false;
    await daemon.kill();
    count('repack', `${signal === 'KILL' ? 'git killed' : 'git outlives the daemon'}, ${name}`);
    // With STOP the repack is still there while the next daemon begins, and goes on under it.
    await comeBack('repack');
    await lookAround('repack');
    await restoreRandom();
    for (const pid of trap.held()) process.kill(pid, 'SIGCONT');
    await trap.over();
    await lookAround('repack');
    await restoreRandom();
    return true;
  }

  /** Starts again; what was left to mend must be told. */
  async function comeBack(method) {
    const hasIntent = existsSync(join(root, '.agentsmithy/intent.json'));
    const adopted = adoptions();
    daemon = await start();
    // Recovery comes before the first answer.
    await call('list_dialogs');
    const { warnings } = await call('status');
    const said = warnings.filter((one) => /cut off|brought there|half made/u.test(one)).join(' ');
    if (hasIntent) assert.match(said, /has been finished/u, `${method} was finished in silence`);
    if (adoptions() > adopted) assert.match(said, /finished|kept/u, 'adopted in silence');
    const outcome = (outcomes[method] ??= { finished: 0, takenBack: 0, nothingToMend: 0 });
    if (/finished|kept/u.test(said)) outcome.finished += 1;
    else if (/taken back|removed/u.test(said)) outcome.takenBack += 1;
    else outcome.nothingToMend += 1;
  }

  function adoptions() {
    const ledger = readFileSync(join(root, '.agentsmithy/ledger/events.jsonl'), 'utf8');
    return ledger.split('"recovered":true').length;
  }

  async function lookAround(method) {
    const listed = await listAll(daemon, dialog);
    for (const commit of acknowledged.keys()) assert(listed.has(commit), `${commit} is lost`);
    assert.deepEqual(await leftLocks(root), [], `${method} left locks`);
    checkLedger(root);
    await fsck(root, dialog, env);
  }

  async function restoreRandom() {
    const known = [...acknowledged.keys()];
    await restoreExactly(known[random(known.length)]);
  }

  function count(method, reached) {
    const counts = (steps[method] ??= {});
    counts[reached] = (counts[reached] ?? 0) + 1;
  }

  function shuffled(list) {
    return list
      .map((one) => [random(1e9), one])
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one);
  }

  /** No answer came: all of it was done, or nothing. */
  async function judge(method, { before, params }) {
    interrupted += 1;
    const after = disk();
    if (method === 'approve') {
      same(after, before, 'an approval changed files');
      // Whether it was done is not known from here: once more, and it is.
      const answer = await call('approve');
      note('approve', { before, params: {}, answer });
      return;
    }
    if (after === before) return;
    if (method === 'reset') same(after, approved, 'a reset was half done');
    else if (method === 'restore' || method === 'rewind') {
      same(after, acknowledged.get(targetOf(params)), `a ${method} was half done`);
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
}

function targetOf({ checkpoint_id: checkpoint, target }) {
  return checkpoint ?? target;
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

/** path -> blob id, as git names the contents of a state of the disk. */
function blobs(state) {
  const entries = Object.entries(JSON.parse(state)).map(([path, text]) => {
    const content = Buffer.from(text, 'latin1');
    const hash = createHash('sha1').update(`blob ${content.length}\0`).update(content);
    return [path, hash.digest('hex')];
  });
  return Object.fromEntries(entries);
}

/** What a repack does: new packs get their names, the old ones go. */
function repackPoints() {
  const calls = { rename: [1, 2], link: [1], fsync: [1], chmod: [1], unlink: [1, 2, 7, 40, 120] };
  return Object.entries(calls).flatMap(([name, numbers]) =>
    numbers.flatMap((number) => ['KILL', 'STOP'].map((signal) => ({ name, number, signal }))),
  );
}

function findGit(path) {
  const found = path.split(delimiter).map((folder) => join(folder, 'git'));
  return found.find((file) => existsSync(file));
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
