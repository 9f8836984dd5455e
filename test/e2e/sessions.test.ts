import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import { projectsPerTest } from '../support/daemon-project.js';
import { git, sharedWork, Work, type Opened, type SentMessage } from '../support/work.js';
import { until } from '../support/until.js';

const ID = /^[0-9a-f]{40}$/u;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;

interface Approved {
  readonly approved_commit: string;
  readonly new_session: string;
  readonly commits_approved: number;
}
interface Reset {
  readonly reset_to: string;
  readonly new_session: string;
  readonly pre_reset_checkpoint: string;
  readonly restored: readonly string[];
  readonly deleted: readonly string[];
  readonly skipped: readonly object[];
}
interface Session {
  readonly active_session: string | null;
  readonly session_ref: string | null;
  readonly has_unapproved: boolean;
  readonly last_approved_at: string | null;
  readonly changed_files: readonly { readonly path: string; readonly diff?: string }[];
}

describe('sessions', () => {
  const shared = sharedWork();
  const inside = async (work: Work, ...args: string[]): Promise<string> =>
    git(work.checkpoints(await work.current()), args).trim();

  it('68: approve saves pending work first and merges the session into main', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const { commit_id: first } = await work.save('first');
    work.put({ a: '2' });
    const answer = await work.call<Approved>('approve', { message: 'Looks good' });
    expect(answer).toEqual({
      approved_commit: expect.stringMatching(ID),
      new_session: 'session_2',
      commits_approved: 2,
    });
    const { approved_commit: approved } = answer;
    const pending = await inside(work, 'rev-parse', 'session_1');
    expect(await inside(work, 'rev-parse', 'main')).toBe(approved);
    expect(await inside(work, 'rev-parse', 'session_2')).toBe(approved);
    expect(await inside(work, 'log', '-1', '--format=%P', approved)).toBe(`${initial} ${pending}`);
    expect(await inside(work, 'log', '-1', '--format=%P', pending)).toBe(first);
    expect(await inside(work, 'log', '-1', '--format=%s', approved)).toBe('Looks good');
    expect((await work.content(approved, 'a')).toString()).toBe('2');
    expect(work.read('a')).toBe('2');
    expect(await work.fsck()).toBe('');
  });

  it('approve without a change makes no commit and says 0', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    const nothing = await work.call<Approved>('approve');
    expect(nothing).toMatchObject({ approved_commit: initial, commits_approved: 0 });
    work.put({ a: '1' });
    await work.call('approve');
    const main = await inside(work, 'rev-parse', 'main');
    work.put({ a: '2' });
    await work.save();
    work.put({ a: '1' });
    const again = await work.call<Approved>('approve');
    expect(again).toMatchObject({ approved_commit: main, commits_approved: 0 });
    expect(await inside(work, 'rev-parse', 'main')).toBe(main);
    expect(await inside(work, 'rev-list', '--count', '--merges', 'main')).toBe('1');
  });

  it('68: reset saves pending work on the abandoned branch and goes back to main', async () => {
    const work = shared();
    await work.fresh({ a: '0', 'd/b': '0' });
    work.put({ a: '1' });
    const { approved_commit: approved } = await work.call<Approved>('approve');
    work.put({ a: '2', 'd/b': null, c: '2' });
    const answer = await work.call<Reset>('reset');
    expect(answer).toEqual({
      reset_to: approved,
      new_session: 'session_3',
      pre_reset_checkpoint: await inside(work, 'rev-parse', 'session_2'),
      restored: ['a', 'd/b'],
      deleted: ['c'],
      skipped: [],
    });
    expect(work.disk()).toEqual({ a: 'file 1', 'd/b': 'file 0' });
    expect(Object.keys(await work.tree(answer.pre_reset_checkpoint))).toEqual(['a', 'c']);
    expect(await inside(work, 'rev-parse', 'main')).toBe(approved);
    expect(await inside(work, 'rev-parse', 'session_3')).toBe(approved);
    expect((await work.save()).commit_id).toBe(approved);
    work.put({ a: '3' });
    expect((await work.save()).session).toBe('session_3');
  });

  it('get_session: a session without a change counts as none (C30)', async () => {
    const work = shared();
    const none = {
      active_session: null,
      session_ref: null,
      has_unapproved: false,
      changed_files: [],
    };
    await work.fresh({ 'a.txt': 'one\ntwo\n', gone: 'x\n', 'b.bin': Buffer.from([0, 1]) });
    expect(await work.call('get_session')).toEqual({ ...none, last_approved_at: null });
    work.put({ 'a.txt': 'one\n2\n', gone: null, new: 'x\ny\n', 'b.bin': Buffer.from([0, 2]) });
    const dirty = await work.call<Session>('get_session');
    expect(dirty).toEqual({
      active_session: 'session_1',
      session_ref: 'refs/heads/session_1',
      has_unapproved: true,
      last_approved_at: null,
      changed_files: [
        expect.objectContaining({
          path: 'a.txt',
          status: 'modified',
          additions: 1,
          deletions: 1,
          is_binary: false,
          is_too_large: false,
          diff: expect.stringContaining('-two\n+2\n'),
        }),
        expect.objectContaining({ path: 'b.bin', status: 'modified', is_binary: true }),
        expect.objectContaining({ path: 'gone', status: 'deleted', additions: 0, deletions: 1 }),
        expect.objectContaining({ path: 'new', status: 'added', additions: 2, deletions: 0 }),
      ],
    });
    expect(await work.log()).toHaveLength(1);
    await work.save();
    expect(await work.call('get_session')).toEqual(dirty);
    await work.call('approve');
    const approved = await work.call<Session>('get_session');
    expect(approved).toEqual({ ...none, last_approved_at: expect.stringMatching(ISO) });
    work.put({ new: 'z\n' });
    expect((await work.call<Session>('get_session')).active_session).toBe('session_2');
    work.put({ new: 'x\ny\n' });
    expect(await work.call('get_session')).toEqual(approved);
  });

  it('list_sessions shows the active one, and with `all` how the others ended', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    work.put({ a: '1' });
    await work.save();
    const { approved_commit: approved } = await work.call<Approved>('approve');
    work.put({ a: '2' });
    await work.call('reset');
    const shown = await work.call<{ sessions: object[] }>('list_sessions');
    const active = {
      session_name: 'session_3',
      ref_name: 'refs/heads/session_3',
      status: 'active',
      created_at: expect.stringMatching(ISO),
      closed_at: null,
      approved_commit: null,
      checkpoints_count: 0,
    };
    expect(shown.sessions).toEqual([active]);
    const { sessions } = await work.call<{ sessions: object[] }>('list_sessions', { all: true });
    expect(sessions).toEqual([
      expect.objectContaining({
        session_name: 'session_1',
        status: 'merged',
        closed_at: expect.stringMatching(ISO),
        approved_commit: approved,
        checkpoints_count: 1,
      }),
      expect.objectContaining({
        session_name: 'session_2',
        status: 'abandoned',
        closed_at: expect.stringMatching(ISO),
        approved_commit: null,
        checkpoints_count: 1,
      }),
      active,
    ]);
  });
});

describe('dialogs', () => {
  const shared = sharedWork();

  it('have histories of their own', async () => {
    const work = shared();
    const one = await work.fresh({ a: '0' });
    const two = await work.call<Opened>('create_dialog', { title: 'two' });
    const inOne = { dialog_id: one.dialog_id };
    work.put({ a: '1' });
    await work.call('create_checkpoint', { message: 'in one', ...inOne });
    await work.call('approve', inOne);
    const session = await work.call<Session>('get_session', { dialog_id: two.dialog_id });
    expect(session.active_session).toBe('session_1');
    const names = (await work.log()).map(({ message }) => message);
    expect(names).toEqual(['Initial checkpoint: two']);
    await work.call('use_dialog', { dialog_id: one.dialog_id.slice(0, 26).toLowerCase() });
    expect(await work.current()).toBe(one.dialog_id);
    expect((await work.log())[1]?.message).toBe('in one');
    const { data } = await work.refusal('use_dialog', { dialog_id: '01JUNKJUNKJUNKJUNKJUNKJUNK' });
    expect(data['code']).toBe('DIALOG_NOT_FOUND');
    await work.call('reset', { dialog_id: two.dialog_id });
    expect(work.read('a')).toBe('0');
    await work.call('undo', { dialog_id: two.dialog_id });
    expect(work.read('a')).toBe('1');
  });

  it('85: that are deleted free their bytes and leave no folder, and the others stay whole', async () => {
    const work = shared();
    const kept = await work.fresh({ a: 'shared by both' });
    const { dialog_id: id } = await work.call<Opened>('create_dialog');
    const noise = Array.from({ length: 60_000 }, (_, i) => (i * 7919 * (i + 13)) % 65_536).join();
    work.put({ large: noise });
    await work.save();
    work.put({ large: null });
    await work.save();
    const folder = work.project.path('dialogs', id);
    expect(existsSync(folder)).toBe(true);
    const size = async (): Promise<number> => {
      const { store } = await work.call<{ store: { bytes: number } }>('status');
      return store.bytes;
    };
    const before = await size();
    const answer = await work.call<{ freed_bytes: number }>('delete_dialog', { dialog_id: id });
    expect(answer.freed_bytes).toBeGreaterThan(10_000);
    expect(before - (await size())).toBeGreaterThan(10_000);
    expect(existsSync(folder)).toBe(false);
    const { data } = await work.refusal('list_checkpoints', { dialog_id: id });
    expect(data['code']).toBe('DIALOG_NOT_FOUND');
    await work.call('use_dialog', { dialog_id: kept.dialog_id });
    expect((await work.content(kept.initial_checkpoint, 'a')).toString()).toBe('shared by both');
    expect(await work.fsck()).toBe('');
  });
});

describe('what a session changed', () => {
  const shared = sharedWork();

  it('is put into words while others go on', async () => {
    const work = shared();
    await work.fresh({ a: 'a' });
    const many = Array.from(
      { length: 3_000 },
      (_, n) => [`many/${n}`, `${n}\n`.repeat(20)] as const,
    );
    work.put(Object.fromEntries(many));
    await work.save();
    const order: string[] = [];
    const done = (name: string) => (): void => void order.push(name);
    await Promise.all([
      work.call('get_session').then(done('session')),
      work.call('diff', { from: 'main' }).then(done('diff')),
      work.call('create_checkpoint').then(done('checkpoint')),
    ]);
    expect(order[0]).toBe('checkpoint');
  });
});

describe('many dialogs', () => {
  const shared = sharedWork();

  it('know what differs from their last checkpoints, however many were used meanwhile', async () => {
    const work = shared();
    const first = await work.fresh({ a: 'a', b: 'b' });
    work.put({ a: 'pending in the first', b: null });
    for (let other = 0; other < 10; other++) await work.call('create_dialog');
    work.put({ c: 'new' });
    const { changed } = await work.call<{ changed: object }>('create_checkpoint', {
      dialog_id: first.dialog_id,
    });
    expect(changed).toEqual({ added: 1, modified: 1, deleted: 1 });
    const again = await work.call<{ changed: object }>('create_checkpoint', {
      dialog_id: first.dialog_id,
    });
    expect(again.changed).toEqual({ added: 0, modified: 0, deleted: 0 });
  });
});

describe('events', () => {
  const shared = sharedWork();

  it('tell of dialogs, messages, checkpoints, sessions and restores, in order', async () => {
    const work = shared();
    const first = await work.fresh({ a: '0' });
    const listener = await work.project.socket();
    const types = ['dialog', 'user', 'checkpoint', 'session', 'restore'];
    await listener.call('subscribe', { types });
    const opened = await work.call<Opened>('create_dialog', { title: 'heard' });
    const id = opened.dialog_id;
    work.put({ a: '1' });
    const sent = await work.call<SentMessage>('user_message', { content: 'hello' });
    const { approved_commit: approved } = await work.call<Approved>('approve');
    work.put({ a: '2' });
    const { commit_id: commit } = await work.save();
    await work.restore(approved);
    await work.call('reset');
    await work.call('use_dialog', { dialog_id: first.dialog_id });
    await work.call('delete_dialog', { dialog_id: id });
    const heard = await until('the deletion was told', () => {
      const events = listener.received.flatMap(({ event }) => (event === undefined ? [] : [event]));
      return events.at(-1)?.['what'] === 'deleted' ? events : undefined;
    });
    const position = { cursor: expect.any(String), at: expect.stringMatching(ISO) };
    const session = { dialog_id: id, session: 'session_1' };
    const one = { added: 0, modified: 1, deleted: 0 };
    expect(heard).toEqual([
      { type: 'dialog', what: 'created', dialog_id: id, title: 'heard', ...position },
      {
        type: 'checkpoint',
        commit_id: sent.checkpoint,
        kind: 'message',
        message: 'Before user message: hello',
        changed: one,
        ...session,
        ...position,
      },
      { type: 'user', content: 'hello', checkpoint: sent.checkpoint, ...session, ...position },
      expect.objectContaining({ type: 'session', what: 'approved', approved_commit: approved }),
      expect.objectContaining({ type: 'checkpoint', commit_id: commit, session: 'session_2' }),
      expect.objectContaining({ type: 'checkpoint', kind: 'restore' }),
      expect.objectContaining({ type: 'restore', restored_to: approved, restored: 1, deleted: 0 }),
      expect.objectContaining({ type: 'session', what: 'reset', new_session: 'session_3' }),
      expect.objectContaining({ type: 'dialog', what: 'used', dialog_id: first.dialog_id }),
      expect.objectContaining({ type: 'dialog', what: 'deleted', dialog_id: id }),
    ]);
    listener.destroy();
  });

  it('reach only those who asked for the dialog', async () => {
    const work = shared();
    const { dialog_id: id } = await work.fresh({ a: '0' });
    const other = await work.call<Opened>('create_dialog');
    const listener = await work.project.socket();
    await listener.call('subscribe', { dialog_id: id, types: ['checkpoint'] });
    await work.call('create_checkpoint', { message: 'x', dialog_id: other.dialog_id });
    await work.call('create_checkpoint', { message: 'y', dialog_id: id });
    const event = await listener.event('checkpoint');
    expect(event['message']).toBe('y');
    listener.destroy();
  });
});

describe('files for others to read', () => {
  const newProject = projectsPerTest();
  const open: { close(): void }[] = [];
  afterEach(() => open.splice(0).forEach((database) => database.close()));

  /** Every table but the bookkeeping, as any program sees it. */
  function tables(file: string): Record<string, unknown[]> {
    const database = new Database(file, { readonly: true });
    open.push(database);
    const names = ['sessions', 'dialog_branches', 'messages', 'dialog_file_edits'];
    return Object.fromEntries(
      names.map((name) => [name, database.prepare(`SELECT * FROM ${name}`).all()]),
    );
  }

  it('index.json and journal.sqlite say what happened, and are made again when lost', async () => {
    const project = newProject();
    let work = await Work.start(project);
    const first = await work.fresh({ a: '0' });
    const { dialog_id: id } = await work.call<Opened>('create_dialog', { title: 'kept' });
    work.put({ a: '1' });
    const sent = await work.call<SentMessage>('user_message', { content: 'hi', message_id: 'm' });
    const { approved_commit: approved } = await work.call<Approved>('approve');
    work.put({ a: '2' });
    const { commit_id: tip } = await work.save();
    const index = project.path('dialogs/index.json');
    const journal = project.path('dialogs', id, 'journal.sqlite');
    await project.cli(['stop']);

    const read = (): { dialogs: { id: string }[] } =>
      JSON.parse(readFileSync(index, 'utf8')) as { dialogs: { id: string }[] };
    const written = read();
    expect(written).toEqual({
      dialogs: [
        expect.objectContaining({ id: first.dialog_id, last_approved_at: null }),
        {
          id,
          title: 'kept',
          created_at: expect.stringMatching(ISO),
          updated_at: expect.stringMatching(ISO),
          active_session: 'session_2',
          last_approved_at: expect.stringMatching(ISO),
          initial_checkpoint: expect.stringMatching(ID),
        },
      ],
      current_dialog_id: id,
    });
    const rows = tables(journal);
    expect(rows['sessions']).toEqual([
      expect.objectContaining({
        session_name: 'session_1',
        ref_name: 'refs/heads/session_1',
        status: 'merged',
        approved_commit: approved,
        checkpoints_count: 1,
      }),
      expect.objectContaining({ session_name: 'session_2', status: 'active' }),
    ]);
    expect(rows['dialog_branches']).toEqual([
      expect.objectContaining({ branch_type: 'main', head_commit: approved }),
      expect.objectContaining({
        branch_type: 'session',
        ref_name: 'refs/heads/session_2',
        head_commit: tip,
      }),
    ]);
    expect(rows['messages']).toEqual([
      expect.objectContaining({
        message_index: 0,
        message_id: 'm',
        content: 'hi',
        checkpoint: sent.checkpoint,
        session: 'session_1',
      }),
    ]);

    for (const lose of [
      () => rmSync(index),
      () => rmSync(journal),
      () => writeFileSync(index, 'not json'),
      () => writeFileSync(journal, 'not a database, and long enough to be looked at'.repeat(50)),
    ]) {
      open.splice(0).forEach((database) => database.close());
      lose();
      work = await Work.start(project);
      const { dialogs } = await work.call<{ dialogs: object[] }>('list_dialogs');
      expect(dialogs).toEqual(written.dialogs);
      const again = { content: 'hi', message_id: 'm', dialog_id: id };
      expect(await work.call('user_message', again)).toEqual(sent);
      await project.cli(['stop']);
      expect(read()).toEqual(written);
      expect(tables(journal)).toEqual(rows);
    }
  });

  it('journal.sqlite is made again while the daemon runs, as soon as its loss is noticed', async () => {
    const project = newProject();
    const work = await Work.start(project);
    const { dialog_id: id } = await work.fresh({ a: '0' });
    const send = (name: string): Promise<SentMessage> =>
      work.call('user_message', { content: name, message_id: name });
    const sent = [await send('first')];
    const journal = project.path('dialogs', id, 'journal.sqlite');
    for (const lose of [
      () => rmSync(journal),
      () => writeFileSync(journal, 'not a database, and long enough to be looked at'.repeat(200)),
      () => writeFileSync(journal, ''),
    ]) {
      lose();
      // The same message again is found, and one that comes meanwhile is not left out.
      expect(await send('first')).toEqual(sent[0]);
      lose();
      sent.push(await send(`message ${sent.length}`));
      await until('the journal holds every message', () => {
        try {
          return tables(journal)['messages']?.length === sent.length;
        } catch {
          return false;
        } finally {
          open.splice(0).forEach((database) => database.close());
        }
      });
    }
  });
});
