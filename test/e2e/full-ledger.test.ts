import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLedger } from '../../src/ledger/ledger.js';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { attach, canTrace, type Attached } from '../support/strace.mjs';
import { Work, git, type Opened, type Saved } from '../support/work.js';

const newProject = projectsPerTest();
const tracing: Attached[] = [];
afterEach(async () => {
  for (const attached of tracing.splice(0)) await attached.stop();
});

const traced = canTrace() ? it : it.skip;

/** From here on the disk of the ledger is full, and nothing else is; until `stop`. */
async function fillLedger({ project }: Work, fault = 'pwrite64:error=ENOSPC'): Promise<Attached> {
  const { pid } = await project.status();
  const ledger = project.path('ledger/events.jsonl');
  const attached = await attach(pid, ['-o', '/dev/null', '-P', ledger, '-e', `inject=${fault}`]);
  tracing.push(attached);
  return attached;
}

/** What a restore is about to do is written, and the disk says that it may not last. */
async function unflushedIntent({ project }: Work): Promise<Attached> {
  const { pid } = await project.status();
  const fault = ['-P', project.path(), '-e', 'inject=fsync:error=EIO'];
  const attached = await attach(pid, ['-o', '/dev/null', ...fault]);
  tracing.push(attached);
  return attached;
}

function branches(work: Work, dialog: string): string {
  return git(work.checkpoints(dialog), ['for-each-ref', '--format=%(refname:short) %(objectname)']);
}

function dialogFolders(project: Project): string[] {
  return readdirSync(project.path('dialogs')).filter((name) => /^[0-9A-Z]{26}$/u.test(name));
}

/** A commit that no branch names any more. */
function leftCommit(work: Work, dialog: string): string {
  const found = git(work.checkpoints(dialog), ['fsck', '--dangling', '--no-reflogs']);
  const [, commit = 'none'] = /^dangling commit ([0-9a-f]{40})$/mu.exec(found) ?? [];
  return commit;
}

/** The line that was refused is in the file after all: a disk may fail when it has written. */
async function arrives(project: Project, dialog: string, fact: object): Promise<void> {
  const ledger = createLedger({ folder: project.path('ledger') });
  await ledger.open();
  const author = { name: 'smithyd', version: '0', kind: 'daemon' };
  const ts = '2026-11-19T00:00:00.000Z';
  await ledger.append([{ ts, author, action_type: 'dialog', dialog_id: dialog, fact }]);
  await ledger.close();
}

const CALLS: readonly (readonly [string, object])[] = [
  ['create_checkpoint', { message: 'not to be' }],
  ['user_message', { content: 'not to be' }],
  ['approve', {}],
  ['reset', {}],
  ['restore', {}],
  ['undo', {}],
];

describe('a call that fails', () => {
  it('takes nothing back of the calls before it that went well', async () => {
    const work = await Work.start(newProject());
    const { dialog_id: dialog } = await work.fresh({ a: '0', b: '0' });
    const { commit_id: first } = await work.save('first');
    const { edit_id: edit } = await work.call<{ edit_id: string }>('start_edit', { files: ['a'] });
    work.put({ a: 'by the dialog' });
    await work.call('finalize_edit', { edit_id: edit });
    work.put({ b: 'by hand' });
    await work.restore(first, { mode: 'keep_external' });
    expect([work.read('a'), work.read('b')]).toEqual(['0', 'by hand']);
    const before = branches(work, dialog);
    await work.refusal('restore', { checkpoint_id: 'f'.repeat(40) });
    await work.refusal('restore', { checkpoint_id: 'f'.repeat(40) });
    expect(branches(work, dialog)).toBe(before);
  });
});

describe('the intent of a restore that could not be flushed', () => {
  traced('goes with the refusal: the next one goes back to what was there then', async () => {
    const work = await Work.start(newProject());
    const { initial_checkpoint: first } = await work.fresh({ a: '0' });
    work.put({ a: 'one' });
    await work.save('one');
    const deaf = await unflushedIntent(work);
    const { data } = await work.refusal('restore', { checkpoint_id: first });
    expect(data).toMatchObject({ code: 'STORAGE_IO' });
    await deaf.stop();
    expect(work.read('a')).toBe('one');
    expect(existsSync(work.project.path('intent.json'))).toBe(false);
    work.put({ a: 'two' });
    await work.save('two');
    const full = await fillLedger(work);
    await work.refusal('restore', { checkpoint_id: first });
    await full.stop();
    expect(work.read('a')).toBe('two');
  });

  traced('is not carried out by the next start', async () => {
    const project = newProject();
    const work = await Work.start(project);
    const { initial_checkpoint: first } = await work.fresh({ a: '0' });
    work.put({ a: 'one' });
    await work.save('one');
    const deaf = await unflushedIntent(work);
    await work.refusal('restore', { checkpoint_id: first });
    await deaf.stop();
    const { pid } = await project.status();
    process.kill(pid, 'SIGKILL');
    await work.socket.closed();
    const again = await Work.start(project);
    await again.log();
    expect(again.read('a')).toBe('one');
  });
});

describe('a ledger without space', () => {
  traced.each(CALLS)(
    '82: refuses %s as a whole: branches and files stay, and the next call works once there is room',
    async (method, params) => {
      const work = await Work.start(newProject());
      const { dialog_id: dialog, initial_checkpoint: first } = await work.fresh({ a: '0', b: '0' });
      work.put({ a: '1', c: '1' });
      const { commit_id: tip } = await work.save('known');
      // Pending work is saved by a call of its own, so that the ledger refuses the last step.
      const before = { branches: branches(work, dialog), disk: work.disk() };
      const full = await fillLedger(work);
      const given = method === 'restore' ? { checkpoint_id: first } : params;
      const refusal = await work.refusal(method, given);
      expect(refusal.data).toMatchObject({ code: 'STORAGE_FULL' });
      expect(branches(work, dialog)).toBe(before.branches);
      expect(work.disk()).toEqual(before.disk);
      // Reading goes on.
      expect((await work.log()).map(({ commit_id: id }) => id)).toEqual([tip, first]);
      await full.stop();

      work.put({ b: '2' });
      const saved = await work.save('again');
      expect(saved.changed).toEqual({ added: 0, modified: 1, deleted: 0 });
      await work.call(method, given);
      await work.restore(saved.commit_id);
      expect(work.disk()).toEqual({ ...before.disk, b: 'file 2' });
      expect(await work.fsck()).toBe('');
    },
  );

  traced('saves the very content again that it refused', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: '0' });
    work.put({ a: '1', 'new/b': '1' });
    const full = await fillLedger(work);
    await work.refusal('create_checkpoint');
    await work.refusal('create_checkpoint');
    await full.stop();
    const { commit_id: id, changed } = await work.call<Saved>('create_checkpoint');
    expect(changed).toEqual({ added: 1, modified: 1, deleted: 0 });
    expect((await work.content(id, 'new/b')).toString()).toBe('1');
  });

  traced('leaves no dialog behind that it could not write down', async () => {
    const work = await Work.start(newProject());
    const { dialog_id: known } = await work.fresh({ a: '0' });
    const full = await fillLedger(work);
    await work.refusal('create_dialog', { title: 'not to be' });
    await full.stop();
    const { dialogs } = await work.call<{ dialogs: { id: string }[] }>('list_dialogs');
    expect(dialogs.map(({ id }) => id)).toEqual([known]);
    await work.call<Opened>('create_dialog', { title: 'to be' });
  });

  traced(
    'and one that fails to flush: everything acknowledged is there after a restart',
    async () => {
      const project = newProject();
      let work = await Work.start(project);
      await work.fresh({ a: '0' });
      work.put({ a: '1' });
      const { commit_id: known } = await work.save('known');
      work.put({ a: '2' });
      const failing = await fillLedger(work, 'pwrite64:error=EIO:when=1');
      const refusal = await work.refusal('create_checkpoint');
      expect(refusal.data).toMatchObject({ code: 'STORAGE_IO' });
      await failing.stop();
      // What was not flushed once is not believed the second time.
      expect((await work.refusal('create_checkpoint')).data).toMatchObject({ code: 'STORAGE_IO' });
      await project.cli(['stop']);
      work = await Work.start(project);
      const saved = await work.save('after the restart');
      expect(saved.changed).toEqual({ added: 0, modified: 1, deleted: 0 });
      await work.restore(known);
      expect(work.read('a')).toBe('1');
      expect(readFileSync(project.path('run/daemon.log'), 'utf8')).toContain('"ready"');
    },
  );

  traced('that wrote what it refused: a new dialog is there after a restart', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: known } = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const failing = await fillLedger(work, 'pwrite64:error=EIO:when=1');
    const refusal = await work.refusal('create_dialog', { title: 'Second' });
    expect(refusal.data).toMatchObject({ code: 'STORAGE_IO' });
    await failing.stop();
    // Nothing more is made that could not be written down.
    await work.refusal('create_dialog', { title: 'Third' });
    const [second = '', ...more] = dialogFolders(project).filter((id) => id !== known);
    expect(more).toEqual([]);
    // The objects are shared: seen from the one, those of the other are reachable by nothing.
    const initial = leftCommit(work, known);
    await project.cli(['stop']);

    await arrives(project, second, { what: 'created', title: 'Second', initial });
    work = await Work.start(project);
    const { dialogs } = await work.call<{ dialogs: { id: string }[] }>('list_dialogs');
    expect(dialogs.map(({ id }) => id)).toEqual([known, second]);
    for (const dialog_id of [known, second]) {
      await work.call('use_dialog', { dialog_id });
      await work.save('goes on');
      expect(await work.fsck()).toBe('');
    }
    await work.restore(initial);
    expect(work.read('a')).toBe('1');
  });

  traced('that wrote what it refused: a checkpoint survives who gives space back', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const { dialog_id: dialog } = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const failing = await fillLedger(work, 'pwrite64:error=EIO:when=1');
    await work.refusal('create_checkpoint');
    await failing.stop();
    expect((await work.refusal('gc')).data).toMatchObject({ code: 'STORAGE_IO' });
    const commit = leftCommit(work, dialog);
    await project.cli(['stop']);

    await arrives(project, dialog, { what: 'saved', commit, kind: 'manual' });
    work = await Work.start(project);
    expect((await work.log()).map(({ commit_id: id }) => id)[0]).toBe(commit);
    work.put({ a: '2' });
    await work.save('goes on');
    await work.restore(commit);
    expect(work.read('a')).toBe('1');
  });
});
