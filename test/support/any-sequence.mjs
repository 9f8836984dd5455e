/**
 * Any sequence of edits, checkpoints, approvals, resets, restores, undos and redos, and of changes by
 * others in the middle of them. After each step:
 *   - a checkpoint is what `git add -A` makes of the folder at that moment;
 *   - what was on disk in a tracked file at a checkpoint, or before anything was put back, is in the
 *     hidden repository and reachable;
 *   - what is not tracked is untouched;
 *   - git finds nothing wrong.
 * The seed repeats a sequence, but for the moments at which others write.
 */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createEdits, diskOf } from './any-edits.mjs';
import { createGitView, git } from './git-view.mjs';
import { randomNumbers } from './random-numbers.mjs';
import { checkLedger, fsck, startDaemon } from './sweep-daemon.mjs';

const CALLS = {
  create_checkpoint: 5,
  user_message: 3,
  approve: 2,
  reset: 2,
  restore: 5,
  restore_paths: 3,
  keep_external: 1,
  dry_run: 1,
  undo: 3,
  redo: 2,
  restart: 1,
};
const WEIGHTED = Object.entries(CALLS).flatMap(([name, weight]) => Array(weight).fill(name));

export async function anySequences({ root, cli, env, seed, sequences, steps, tell = () => {} }) {
  const view = createGitView(root);
  const done = {};
  let daemon = await startDaemon({ root, cli, env });
  try {
    for (let number = 0; number < sequences; number++) {
      try {
        await sequence(seed + number);
      } catch (error) {
        error.message = `seed ${seed + number}: ${error.message}`;
        throw error;
      }
      if ((number + 1) % 10 === 0) tell(`${number + 1} sequences`);
    }
    checkLedger(root);
  } finally {
    await daemon.kill();
    view.remove();
  }
  return { sequences, done };

  async function sequence(own) {
    const random = randomNumbers(own);
    const edits = createEdits(root, random);
    for (const name of readdirSync(root).filter((one) => one !== '.agentsmithy')) {
      rmSync(join(root, name), { recursive: true, force: true });
    }
    const trace = [];
    for (let i = random(8); i > 0; i--) edits.edit();
    let seen = view.look();
    const opened = await daemon.call('create_dialog', { title: `sequence ${own}` });
    const dialog = opened.dialog_id;
    const repository = join(root, '.agentsmithy/dialogs', dialog, 'checkpoints');
    const known = [opened.initial_checkpoint];
    let tip = opened.initial_checkpoint;
    /** Blob id -> when it had to be kept. */
    const owed = new Map();
    keep('the beginning');
    equal(opened.initial_checkpoint, seen.tree, 'the initial checkpoint');
    try {
      for (let step = 0; step < steps; step++) await oneStep();
      await checkOwed();
      await fsck(root, dialog, env);
    } catch (error) {
      const { files } = await daemon.call('known_files').catch(() => ({ files: [] }));
      error.message += `\n  after ${trace.join(', ')}`;
      error.message += `\n  known: ${files.map(({ path }) => path).join(', ')}`;
      throw error;
    }
    await daemon.call('delete_dialog', { dialog_id: dialog });

    async function oneStep() {
      for (let i = random(6); i > 0; i--) edits.edit();
      const name = WEIGHTED[random(WEIGHTED.length)];
      trace.push(name);
      done[name] = (done[name] ?? 0) + 1;
      if (name === 'restart') {
        await daemon.kill();
        // Also while nobody looks.
        for (let i = random(4); i > 0; i--) edits.edit();
        daemon = await startDaemon({ root, cli, env });
        return;
      }
      seen = view.look();
      const before = diskOf(root);
      const disturbing = random(4) === 0 ? disturb() : undefined;
      const answer = await perform(name);
      const written = await disturbing;
      // One that put nothing back promises nothing.
      if (!isIdle(name, answer)) keep(name, written?.path);
      if (answer !== undefined) note(answer);
      if (written !== undefined) {
        trace.push(`disturbed at ${written.path}`);
        // Where it is, or saved before it went: nothing else is allowed.
        const onDisk = diskOf(root).get(written.path) === `file ${written.id}`;
        if (!onDisk) {
          owed.set(written.id, `written during ${name}`);
          await checkOwed();
        }
        return;
      }
      const after = view.look();
      untouched(before, diskOf(root), after);
      check(name, answer, { before, after });
      if (random(4) === 0) await checkOwed();
    }

    /** Somebody writes a file while the daemon works. */
    async function disturb() {
      await pause(random(25));
      return edits.write();
    }

    /** What somebody else replaced himself may have been gone before the daemon looked. */
    function keep(when, replaced = '') {
      for (const [path, id] of seen.blobs) {
        if (`${path}/`.startsWith(`${replaced}/`) || `${replaced}/`.startsWith(`${path}/`))
          continue;
        owed.set(id, when);
      }
    }

    function perform(name) {
      const target = known[random(known.length)];
      const call = (method, params = {}) =>
        daemon.call(method, { dialog_id: dialog, ...params }).catch((error) => {
          // A path that was never anywhere is refused as a whole.
          const isRefused = error.code === 'INVALID_PARAMS' && name === 'restore_paths';
          if (!isRefused && error.code !== 'CHECKPOINT_NOT_FOUND') throw error;
        });
      const at = { checkpoint_id: target };
      switch (name) {
        case 'create_checkpoint':
          return call(name, random(2) === 0 ? { message: 'x' } : {});
        case 'user_message':
          return call(name, { content: 'x' });
        case 'restore_paths':
          return call('restore', { ...at, paths: [edits.pickPath(), edits.pickPath()] });
        case 'keep_external':
          return call('restore', { ...at, mode: 'keep_external' });
        case 'dry_run':
          return call('restore', { ...at, dry_run: true });
        case 'restore':
          return call(name, at);
        default:
          return call(name);
      }
    }

    /** Every checkpoint an answer names can be gone to later. */
    function note(answer) {
      const { commit_id: id, checkpoint, approved_commit: approved, new_checkpoint: made } = answer;
      const { pre_reset_checkpoint: saved, safety_checkpoint: safety, reset_to: reset } = answer;
      const fresh = [id, checkpoint, approved, saved, safety, made].filter((one) => Boolean(one));
      known.push(...fresh.filter((one) => !known.includes(one)));
      tip = reset ?? fresh.at(-1) ?? tip;
    }

    function check(name, answer, { before, after }) {
      if (answer === undefined || isIdle(name, answer)) {
        assert.equal(after.tree, seen.tree, `${name} changed files`);
        return;
      }
      const saved = answer.commit_id ?? answer.checkpoint ?? answer.approved_commit;
      if (saved !== undefined) {
        equal(saved, seen.tree, name);
        assert.equal(after.tree, seen.tree, `${name} changed files`);
        return;
      }
      const safety = answer.pre_reset_checkpoint ?? answer.safety_checkpoint;
      if (safety !== null) equal(safety, seen.tree, `what ${name} saved first`);
      const now = answer.new_checkpoint ?? answer.reset_to;
      const isWhole = answer.skipped.length === 0;
      if (answer.new_checkpoint !== undefined) equal(now, after.tree, `the checkpoint of ${name}`);
      const target = answer.restored_to ?? answer.reset_to;
      if (!isWhole || name === 'restore_paths' || name === 'keep_external') return;
      // What the rules left out before stays, and may be seen under the rules that came back.
      const left = [...before.keys()].filter((path) => !seen.blobs.has(path));
      const found = new Map([...after.blobs].filter(([path]) => !left.includes(path)));
      const wanted = blobsOf(target);
      for (const path of left) wanted.delete(path);
      assert.deepEqual(found, wanted, `the outcome of ${name}`);
    }

    function blobsOf(commit) {
      const lines = git(repository, ['ls-tree', '-r', '-z', commit]).split('\0').filter(Boolean);
      return new Map(lines.map((line) => [line.slice(53), line.slice(12, 52)]));
    }

    function equal(commit, tree, what) {
      const found = git(repository, ['rev-parse', `${commit}^{tree}`]).trim();
      if (found === tree) return;
      const listing = git(repository, ['ls-tree', '-r', commit]);
      const wanted = JSON.stringify([...view.look().blobs], null, 1);
      assert.fail(`${what} is not what git sees: ${listing}\n${wanted}`);
    }

    /** Nothing that git does not see was written or removed. */
    function untouched(before, after, { blobs }) {
      for (const [path, state] of before) {
        if (seen.blobs.has(path) || blobs.has(path)) continue;
        assert.equal(after.get(path), state, `${path} is not tracked and was changed`);
      }
    }

    async function checkOwed() {
      // One more look by the daemon, so that what it holds is what there is.
      await daemon.call('list_checkpoints', { dialog_id: dialog, limit: 1 });
      const listing = git(repository, ['rev-list', '--objects', '--all']);
      const reachable = new Set(listing.split('\n').map((line) => line.slice(0, 40)));
      for (const [id, when] of owed) assert(reachable.has(id), `${id} is lost (${when}, ${tip})`);
    }
  }
}

/** A call that is not meant to change a file, or found none to change. */
function isIdle(name, answer) {
  if (name === 'restore_paths' && answer === undefined) return true;
  if (name !== 'keep_external') return name === 'dry_run';
  return answer === undefined || answer.restored.length + answer.deleted.length === 0;
}
