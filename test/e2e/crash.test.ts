import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import { createStore } from '../../src/git/store.js';
import { GIT } from '../git/helpers.js';
import { CLI, projectsPerTest, type Project } from '../support/daemon-project.js';
import { killSweep } from '../support/kill-sweep.mjs';
import {
  argumentsOf,
  isAlive,
  plainEnvironment,
  processesOf,
  signal,
} from '../support/processes.js';
import { attach, canTrace, startUnder } from '../support/strace.mjs';
import { until } from '../support/until.js';
import { git, Work, type Opened } from '../support/work.js';

const newProject = projectsPerTest();
const traced = canTrace() ? it : it.skip;
const SOMEBODY = {
  GIT_AUTHOR_NAME: 'Somebody',
  GIT_AUTHOR_EMAIL: 'somebody@example.org',
  GIT_COMMITTER_NAME: 'Somebody',
  GIT_COMMITTER_EMAIL: 'somebody@example.org',
};

describe('a daemon that is killed', () => {
  // Hundreds take `node scripts/kill-sweep.mjs 300`; the seed repeats the calls, not the moments.
  it('60: at any step loses nothing it acknowledged, leaves nothing half done and says so', async () => {
    const kills = 6;
    const report = await killSweep({
      root: newProject().root,
      seed: 20_260,
      kills,
      cli: CLI,
      env: plainEnvironment(),
    });
    expect(report.kills).toBe(kills);
    expect(report.acknowledged).toBeGreaterThan(kills);
  }, 600_000);

  it('makes a lost repository again, for the ledger knows what it named', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: dialog } = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const { commit_id: tip } = await work.save('kept');
    await project.cli(['stop']);
    rmSync(project.path('dialogs', dialog), { recursive: true });
    work = await Work.start(project);
    work.put({ a: '2' });
    await work.save('goes on');
    await work.restore(tip);
    expect(work.read('a')).toBe('1');
    expect(await work.fsck()).toBe('');
  });

  it('sets a dialog aside that is lost, says so, and opens the others', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: known } = await work.fresh({ a: '0' });
    const { commit_id: kept } = await work.save('kept');
    work.put({ a: '1' });
    const { dialog_id: lost } = await work.call<Opened>('create_dialog', { title: 'lost' });
    await project.cli(['stop']);
    // What nothing reaches any more is given back, as `gc` would.
    rmSync(project.path('dialogs', lost), { recursive: true });
    const store = createStore({
      state: project.path(),
      git: GIT,
      environment: plainEnvironment(),
    });
    await store.open();
    await store.prune();
    await store.close();

    work = await Work.start(project);
    const { dialogs } = await work.call<{ dialogs: { id: string }[] }>('list_dialogs');
    expect(dialogs.map(({ id }) => id)).toEqual([known, lost]);
    const said = `Dialog ${lost} cannot be used; the others can.`;
    expect((await project.status()).warnings).toContainEqual(expect.stringContaining(said));
    const refusal = await work.refusal('create_checkpoint', { dialog_id: lost });
    expect(refusal.data).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
    await work.call('use_dialog', { dialog_id: known });
    await work.save('goes on');
    await work.restore(kept);
    expect(work.read('a')).toBe('0');

    await work.call('delete_dialog', { dialog_id: lost });
    await project.cli(['stop']);
    work = await Work.start(project);
    expect((await work.call<{ dialogs: { id: string }[] }>('list_dialogs')).dialogs.length).toBe(1);
    expect((await project.status()).warnings).toEqual([]);
  });

  it('gives nothing back that somebody may still want put back', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: dialog } = await work.fresh({ a: '0' });
    const { dialog_id: gone } = await work.call<Opened>('create_dialog', { title: 'to go' });
    await work.call('use_dialog', { dialog_id: dialog });
    work.put({ b: '0' });
    await work.save('the newest of all');
    const { edit_id: edit } = await work.call<{ edit_id: string }>('start_edit', {
      files: ['a'],
      dialog_id: gone,
    });
    work.put({ a: 'by the edit' });
    await work.call('finalize_edit', { edit_id: edit });
    work.put({ a: 'by hand' });
    await work.call('detect_unknown_modifications');
    await work.call('delete_dialog', { dialog_id: gone });
    await project.cli(['stop']);
    leaveHalfDialog(project, dialog);

    work = await Work.start(project);
    await work.call('handle_unknown_changes', { files: ['a'], strategy: 'reject' });
    expect(work.read('a')).toBe('by the edit');
  });

  it('gives a journal the lines that it was short of when the daemon was killed', async () => {
    const project = newProject();
    let work = await Work.start(project);
    await work.fresh({ a: '0' });
    for (let round = 1; round <= 4; round++) {
      await work.call('user_message', { content: `round ${round}` });
      const { edit_id: edit } = await work.call<{ edit_id: string }>('start_edit', {
        files: ['a'],
      });
      work.put({ a: `by the edit ${round}` });
      await work.call('finalize_edit', { edit_id: edit });
      if (round === 2) await work.call('approve', {});
      if (round === 3) await work.call('reset', {});
      await work.save(`round ${round}`);
      // Sooner than the journal follows.
      process.kill((await project.status()).pid, 'SIGKILL');
      await work.socket.closed();
      work = await Work.start(project);
      const { checks } = await work.call<{ checks: { name: string }[] }>('doctor');
      expect(checks.find(({ name }) => name === 'journals')).toMatchObject({
        ok: true,
        detail: '1 of 1 checked, equal to the ledger',
      });
    }
  });

  it('gets a branch back that was lost, for the ledger knows where it was', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: dialog } = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const { commit_id: tip } = await work.save('kept');
    await project.cli(['stop']);
    for (const name of ['main', 'session_1']) {
      rmSync(join(work.checkpoints(dialog), '.git/refs/heads', name));
    }
    // Half a dialog is removed with all that only it used: not with what the lost branch reached.
    const half = leaveHalfDialog(project, dialog);
    work = await Work.start(project);
    work.put({ a: '2' });
    const { commit_id: next } = await work.save('goes on');
    expect((await work.log()).map(({ commit_id: id }) => id).slice(0, 2)).toEqual([next, tip]);
    expect((await project.status()).warnings).toEqual([
      'The branch main was not where the ledger has it and has been brought there.',
      'The branch session_1 was not where the ledger has it and has been brought there.',
      'A dialog that was half made or half deleted has been removed.',
    ]);
    expect(existsSync(half)).toBe(false);
    await work.restore(tip);
    expect(work.read('a')).toBe('1');
    expect(await work.fsck()).toBe('');
  });

  it('is not kept from starting by a commit that somebody made in its repository', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: other } = await work.call<Opened>('create_dialog', { title: 'other' });
    const { dialog_id: dialog } = await work.fresh({ a: '0' });
    const { commit_id: tip } = await work.save('kept');
    await project.cli(['stop']);
    const inside = work.checkpoints(dialog);
    const foreign = git(inside, ['commit-tree', '-p', tip, '-m', 'mine', `${tip}^{tree}`]).trim();
    git(inside, ['update-ref', 'refs/heads/session_1', foreign]);
    git(inside, ['update-ref', 'refs/heads/mine', foreign]);
    git(inside, ['update-ref', 'refs/heads/feature/mine', foreign]);
    work = await Work.start(project);
    work.put({ a: '1' });
    const { commit_id: next } = await work.save('goes on');
    expect((await work.log()).map(({ commit_id: id }) => id).slice(0, 2)).toEqual([next, tip]);
    // What somebody calls his own stays, and frees or blocks nothing of ours.
    await work.call('delete_dialog', { dialog_id: other });
    expect(git(inside, ['rev-parse', 'mine', 'feature/mine'])).toBe(`${foreign}\n`.repeat(2));
    await work.call('approve');
    const { checks } = await work.call<{ checks: { detail: string }[] }>('doctor');
    expect(checks.filter(({ detail }) => /EISDIR|feature/u.test(detail))).toEqual([]);
    await work.restore(tip);
    expect(work.read('a')).toBe('0');
  });

  traced.each(['reset', 'restore', 'rewind'] as const)(
    'after the last word on a %s does not do it a second time',
    async (what) => {
      const project = newProject();
      let work = await Work.start(project);
      const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
      work.put({ a: '1' });
      await work.save('work');
      // The line is in the ledger; what was under way is about to be crossed out.
      const fault = ['-P', project.path('intent.json'), '-e', 'inject=unlink:signal=KILL'];
      const tracer = await attach((await project.status()).pid, fault);
      const call = work.socket.call(...callOf(what, initial)).catch(() => undefined);
      await tracer.ended;
      await call;
      expect(existsSync(project.path('intent.json'))).toBe(true);
      work = await Work.start(project);
      const { session } = await work.save('goes on');
      expect(existsSync(project.path('intent.json'))).toBe(false);
      expect(session).toBe(what === 'restore' ? 'session_1' : 'session_2');
      const { warnings } = await project.status();
      expect(warnings).toEqual([`A ${what} that was cut off has been finished.`]);
      const restores = (await work.log()).filter(({ kind }) => kind === 'restore');
      expect(restores).toHaveLength(what === 'restore' ? 1 : 0);
      expect(readFileSync(join(project.root, 'a'), 'utf8')).toBe('0');
    },
  );

  it('starts while another program holds a journal, and knows messages it was told before', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: dialog } = await work.fresh({ a: '0' });
    const message = { content: 'do it', message_id: 'first' };
    const sent = await work.call('user_message', message);
    await project.cli(['stop']);
    const other = new Database(project.path('dialogs', dialog, 'journal.sqlite'));
    try {
      other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE meta SET rowid = rowid');
      work = await Work.start(project);
      expect(await work.call('user_message', message)).toEqual(sent);
      const next = { content: 'go on', message_id: 'second' };
      expect(await work.call('user_message', next)).toMatchObject({ message_index: 1 });
      work.put({ a: '1' });
      expect((await work.save('saved')).changed).toMatchObject({ modified: 1 });
    } finally {
      other.close();
    }
  });

  it('knows of a checkpoint without a line what that could not take in', async () => {
    const project = newProject();
    let work = await Work.start(project);
    await work.call('update_config', { maxFileBytes: 100 });
    const { dialog_id: dialog } = await work.fresh({ a: '0' });
    const { commit_id: tip } = await work.save('kept');
    await project.cli(['stop']);
    work.put({ large: 'x'.repeat(101) });
    const ahead = commitAhead(project, work.checkpoints(dialog), tip);
    work = await Work.start(project);
    expect(await work.log()).toHaveLength(3);
    await work.call('update_config', { maxFileBytes: 1_000 });
    await work.save('with it');
    const { deleted, skipped } = await work.restore(ahead);
    expect(deleted).toEqual([]);
    expect(skipped).toEqual([{ path: 'large', reason: 'not_in_checkpoint' }]);
  });

  traced('mends as soon as there is room when the disk was full at the start', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: dialog } = await work.fresh({ a: '0' });
    const { commit_id: tip } = await work.save('kept');
    await project.cli(['stop']);
    const inside = work.checkpoints(dialog);
    const ahead = commitAhead(project, inside, tip);
    const ledger = project.path('ledger/events.jsonl');
    const fault = ['-P', ledger, '-e', 'inject=pwrite64:error=ENOSPC'];
    const start = [process.execPath, CLI, '--root', project.root, 'start', '--foreground'];
    startUnder(fault, start, plainEnvironment());
    await until('the daemon answers', () => project.daemonFile());
    work = new Work(project, await project.socket());
    for (const _ of [1, 2]) {
      const refusal = await work.refusal('create_checkpoint', { message: 'no room' });
      expect(refusal.data).toMatchObject({ code: 'STORAGE_FULL' });
    }
    const said = 'What was saved cannot be read: There is no space';
    expect((await project.status()).warnings).toContainEqual(expect.stringContaining(said));
    const tracers = processesOf(project.root).filter((pid) => argumentsOf(pid)[0] === 'strace');
    for (const pid of tracers) signal(pid, 'SIGKILL');
    await until('strace has gone', () => !tracers.some(isAlive));
    const { commit_id: next } = await work.save('with room');
    const listed = (await work.log()).map(({ commit_id: id }) => id);
    expect(listed.slice(0, 3)).toEqual([next, ahead, tip]);
    expect((await project.status()).warnings.join()).not.toContain(said);
  });
});

/** A copy of another one without its branches: what a kill leaves of one that was being made. */
function leaveHalfDialog(project: Project, dialog: string): string {
  const half = project.path('dialogs', '01ARZ3NDEKTSV4RRFFQ69G5FAV');
  cpSync(project.path('dialogs', dialog), half, { recursive: true });
  const heads = join(half, 'checkpoints/.git/refs/heads');
  for (const name of readdirSync(heads)) rmSync(join(heads, name));
  return half;
}

/** As a kill between branch and ledger leaves it. */
function commitAhead(project: Project, inside: string, tip: string): string {
  const ahead = execFileSync('git', ['commit-tree', '-p', tip, '-m', 'ahead', `${tip}^{tree}`], {
    cwd: inside,
    env: plainEnvironment({ ...SOMEBODY, GIT_OBJECT_DIRECTORY: project.path('store/objects') }),
    encoding: 'utf8',
  }).trim();
  git(inside, ['update-ref', 'refs/heads/session_1', ahead]);
  return ahead;
}

function callOf(what: 'reset' | 'restore' | 'rewind', initial: string): [string, object] {
  if (what === 'reset') return ['reset', {}];
  return [what, what === 'restore' ? { checkpoint_id: initial } : { target: initial }];
}
