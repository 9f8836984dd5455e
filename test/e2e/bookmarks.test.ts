import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { editing } from '../support/edits.js';
import { isAlive, signal } from '../support/processes.js';
import { until } from '../support/until.js';
import { git, sharedWork, Work, type Restored } from '../support/work.js';

interface Added {
  readonly name: string;
  readonly id: string;
  readonly commit_id: string;
  readonly event: string;
}
interface Listed {
  readonly bookmarks: Readonly<Record<string, string>>;
  readonly details: readonly { readonly name: string; readonly event: string }[];
}
interface Rewound extends Restored {
  readonly event: string;
  readonly session: string;
}
interface Line {
  readonly id: string;
  readonly action_type: string;
  readonly bookmark: string | null;
  readonly rationale: string | null;
  readonly files: readonly string[];
  readonly artifacts: readonly string[];
  readonly author: { readonly name: string; readonly kind: string };
  readonly session: string | null;
  readonly eval?: object;
}

const add = (work: Work, name: string, more: object = {}): Promise<Added> =>
  work.call('bookmark_add', { name, ...more });
const rewind = (work: Work, target: string, more: object = {}): Promise<Rewound> =>
  work.call('rewind', { target, ...more });
const list = (work: Work): Promise<Listed> => work.call('bookmark_list');
const code = async (work: Work, method: string, params: object) =>
  (await work.refusal(method, params)).data['code'];
const content = async (work: Work, at: string, path: string) =>
  (await work.call<{ content: string }>('show', { at, path })).content;

async function edited(work: Work, files: Readonly<Record<string, string | null>>) {
  const edit = editing(work);
  const started = await edit.start(Object.keys(files));
  work.put(files);
  return (await edit.finalize(started)).events.at(-1) ?? '';
}

async function lines(work: Work, action: string): Promise<readonly Line[]> {
  const { events } = await work.call<{ events: Line[] }>('history', { action_type: action });
  return events;
}

/** Without a chance to tidy up, and a new one in its place. */
async function killed(work: Work): Promise<Work> {
  const pid = work.project.daemonFile()?.pid ?? 0;
  signal(pid, 'SIGKILL');
  await until('the daemon has ended', () => !isAlive(pid));
  return Work.start(work.project);
}

describe('bookmarks', () => {
  const shared = sharedWork();

  it('name an event, a checkpoint or the project as it is now', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n', b: 'b\n' });
    const one = await edited(work, { a: '1\n' });
    await edited(work, { a: '2\n' });
    work.put({ b: 'not saved yet\n' });
    const now = await add(work, 'now_1');
    const start = await add(work, 'start', { checkpoint: first.slice(0, 8) });
    const event = await add(work, 'after/one', { event: one });
    expect(now).toMatchObject({ name: 'now_1', id: now.commit_id });
    expect(start).toMatchObject({ id: first, commit_id: first });
    expect(event.id).toBe(one);
    expect((await work.log()).map(({ message }) => message)).toContain('Bookmark now_1');
    const { bookmarks, details } = await list(work);
    expect(bookmarks).toEqual({ now_1: now.id, start: first, 'after/one': one });
    expect(details.map(({ event: line }) => line)).toEqual([now.event, start.event, event.event]);
    const written = readFileSync(work.project.path('ledger/bookmarks.json'), 'utf8');
    expect(JSON.parse(written)).toEqual(bookmarks);
    expect(await content(work, 'start', 'a')).toBe('0\n');
    expect(await content(work, 'after/one', 'a')).toBe('1\n');
    expect(await content(work, 'now_1', 'b')).toBe('not saved yet\n');
    const names = await work.call<{ text: string }>('diff', {
      from: 'start',
      to: 'now_1',
      format: 'name_status',
    });
    expect(names.text).toBe('M\ta\nM\tb\n');
    for (const name of ['now_1', 'start', 'after/one'])
      await work.call('bookmark_remove', { name });
  });

  it('write a checkpoint event when they come and go, and nothing else changes the list', async () => {
    const work = shared();
    await work.fresh({ a: '0\n' });
    const { id, event } = await add(work, 'here');
    const { event: gone } = await work.call<Added>('bookmark_remove', { name: 'here' });
    const told = (await lines(work, 'checkpoint')).slice(0, 2);
    expect(told.map((line) => [line.id, line.bookmark])).toEqual([
      [gone, 'here'],
      [event, 'here'],
    ]);
    expect((await list(work)).bookmarks).toEqual({});
    expect(await code(work, 'show', { at: 'here', path: 'a' })).toBe('CHECKPOINT_NOT_FOUND');
    expect(await content(work, id, 'a')).toBe('0\n');
  });

  it('are refused with a reason', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n' });
    await add(work, 'taken');
    const taken = await work.refusal('bookmark_add', { name: 'taken' });
    expect(taken.data).toMatchObject({ code: 'NAME_TAKEN', name: 'taken' });
    for (const name of ['a b', 'a:b', '-x', '../x', 'main', 'session_3', 'evt-12', 'snap-0001']) {
      expect([name, await code(work, 'bookmark_add', { name })]).toEqual([name, 'NAME_INVALID']);
    }
    for (const name of [first, first.slice(0, 8), first.slice(0, 4).toUpperCase()]) {
      expect([name, await code(work, 'bookmark_add', { name })]).toEqual([name, 'NAME_INVALID']);
    }
    // Of hexadecimal digits, and no checkpoint begins with them; or too short to be an id.
    const other = first.startsWith('0000') ? '1111' : '0000';
    for (const name of [other, first.slice(0, 3)]) {
      await add(work, name);
      await work.call('bookmark_remove', { name });
    }
    expect(await code(work, 'bookmark_add', { name: 'x'.repeat(150) })).toBe('NAME_INVALID');
    const both = { name: 'both', event: 'evt-000001', checkpoint: first };
    expect(await code(work, 'bookmark_add', both)).toBe('INVALID_PARAMS');
    expect(await code(work, 'bookmark_add', { name: 'n', event: 'evt-99999' })).toBe(
      'EVENT_NOT_FOUND',
    );
    expect(await code(work, 'bookmark_add', { name: 'n', checkpoint: 'ffffffff' })).toBe(
      'CHECKPOINT_NOT_FOUND',
    );
    const missing = await work.refusal('bookmark_remove', { name: 'takne' });
    expect(missing.data).toMatchObject({ code: 'BOOKMARK_NOT_FOUND', near: ['taken'] });
    const near = await work.refusal('restore', { checkpoint_id: 'takne' });
    expect(near.data).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND', near: ['taken'] });
    await work.call('bookmark_remove', { name: 'taken' });
  });

  it('keep what they name when its dialog is deleted, and give it back when they go', async () => {
    const work = shared();
    const { dialog_id: doomed } = await work.fresh({ a: 'of the doomed dialog\n', b: '0\n' });
    const event = await edited(work, { a: 'edited there\n' });
    await edited(work, { a: 'and again\n' });
    const { commit_id: saved } = await work.save('saved there');
    await add(work, 'kept', { checkpoint: saved });
    await add(work, 'kept_event', { event });
    await work.fresh({ a: 'another\n' });
    await work.call('delete_dialog', { dialog_id: doomed });
    const again = await killed(work);
    expect(await content(again, 'kept', 'a')).toBe('and again\n');
    expect(await content(again, saved.slice(0, 8), 'a')).toBe('and again\n');
    expect(await content(again, 'kept_event', 'a')).toBe('edited there\n');
    expect(await content(again, event, 'a')).toBe('edited there\n');
    const restored = await again.restore('kept_event');
    expect(again.disk()).toEqual({ a: 'file edited there\n', b: 'file 0\n' });
    expect(restored.safety_checkpoint ?? restored.new_checkpoint).toMatch(/^[0-9a-f]{40}$/u);
    expect(git(again.project.path('store/kept'), ['fsck', '--strict'])).not.toContain('missing');
    for (const name of ['kept', 'kept_event']) await again.call('bookmark_remove', { name });
    const pins = git(again.project.path('store/kept'), ['for-each-ref', 'refs/heads/pin-*']);
    expect(pins).toBe('');
    expect(await code(again, 'show', { at: saved, path: 'a' })).toBe('CHECKPOINT_NOT_FOUND');
  });
});

describe('what is made of bookmarks', () => {
  const shared = sharedWork();

  it('is made again from the ledger after a kill', async () => {
    let work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n' });
    await add(work, 'one', { checkpoint: first });
    await add(work, 'two');
    const file = work.project.path('ledger/bookmarks.json');
    const kept = work.project.path('store/kept');
    const before = await list(work);
    rmSync(file);
    git(kept, ['update-ref', '-d', `refs/heads/pin-${first}`]);
    git(kept, ['update-ref', 'refs/heads/pin-evt-999999', first]);
    work = await killed(work);
    expect(await list(work)).toEqual(before);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(before.bookmarks);
    const pins = git(kept, ['for-each-ref', '--format=%(refname:short)', 'refs/heads']);
    expect(pins).toBe(`pin-${first}\n`);
    writeFileSync(file, '{"never":"made"}');
    work = await killed(work);
    expect(await list(work)).toEqual(before);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(before.bookmarks);
  });
});

describe('rewind', () => {
  const shared = sharedWork();

  it('goes to the state right after an event and begins a session there', async () => {
    const work = shared();
    const { initial_checkpoint: first, dialog_id: dialog } = await work.fresh({
      a: '0\n',
      b: 'b\n',
    });
    const one = await edited(work, { a: '1\n', c: 'new\n' });
    await edited(work, { a: '2\n', c: null });
    work.put({ b: 'nobody told\n' });
    const before = work.disk();
    const answer = await rewind(work, one);
    expect(work.disk()).toEqual({ a: 'file 1\n', b: 'file b\n', c: 'file new\n' });
    expect(answer).toMatchObject({ restored_to: one, session: 'session_2', kept: [], skipped: [] });
    expect([...answer.restored].sort()).toEqual(['a', 'b', 'c']);
    const [line] = await lines(work, 'rewind');
    expect(line).toMatchObject({ id: answer.event, session: 'session_1' });
    const { sessions } = await work.call<{ sessions: object[] }>('list_sessions', { all: true });
    expect(sessions).toMatchObject([
      { session_name: 'session_1', status: 'abandoned' },
      { session_name: 'session_2', status: 'active', checkpoints_count: 1 },
    ]);
    const history = git(work.checkpoints(dialog), ['log', '--format=%H %s', 'session_2']);
    expect(history.trim().split('\n')).toEqual([
      `${answer.new_checkpoint} Rewound to ${one}`,
      `${first} Initial checkpoint: a test`,
    ]);
    await work.restore(answer.safety_checkpoint ?? '');
    expect(work.disk()).toEqual(before);
    expect(await work.fsck()).toBe('');
  });

  it('goes to bookmarks and checkpoints, undo goes back, blame knows who wrote what is there', async () => {
    const work = shared();
    await work.fresh({ a: '0\n' });
    await edited(work, { a: '0\nby ann\n' });
    await add(work, 'mine');
    await edited(work, { a: 'other\n' });
    const { new_checkpoint: at, safety_checkpoint: safety } = await rewind(work, 'mine');
    expect(safety).not.toBeNull();
    expect(work.read('a')).toBe('0\nby ann\n');
    expect(await editing(work).authors('a')).toBe('unknown agent:ann');
    await work.call('undo');
    expect(work.read('a')).toBe('other\n');
    await work.call('redo');
    expect(work.read('a')).toBe('0\nby ann\n');
    expect((await work.log()).map(({ commit_id: id }) => id)).toContain(at);
    await rewind(work, at.slice(0, 10), { branch: 'fix.1' });
    work.put({ a: 'on the branch\n' });
    expect((await work.save('on it')).session).toBe('fix.1');
    expect(await content(work, 'fix.1', 'a')).toBe('on the branch\n');
    const { new_session: next } = await work.call<{ new_session: string }>('approve');
    expect(next).toBe('session_4');
    await work.call('bookmark_remove', { name: 'mine' });
  });

  it('is refused with a reason and then changes nothing', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n' });
    const open = await editing(work).start(['a']);
    work.put({ a: 'half\n' });
    expect(await code(work, 'rewind', { target: first })).toBe('RESTORE_BLOCKED');
    await editing(work).finalize(open);
    const refused = async (params: object) => code(work, 'rewind', params);
    expect(await refused({ target: 'nothing' })).toBe('CHECKPOINT_NOT_FOUND');
    expect(await refused({ target: 'evt-99999' })).toBe('EVENT_NOT_FOUND');
    expect(await refused({ target: first, branch: 'session_1' })).toBe('NAME_TAKEN');
    expect(await refused({ target: first, branch: 'session_9' })).toBe('NAME_INVALID');
    for (const branch of ['main', 'a/b', '..', 'x.lock', '-d', 'goal']) {
      expect([branch, await refused({ target: first, branch })]).toEqual([branch, 'NAME_INVALID']);
    }
    expect(work.read('a')).toBe('half\n');
    const { sessions } = await work.call<{ sessions: object[] }>('list_sessions', { all: true });
    expect(sessions).toHaveLength(1);
    const branches = git(work.checkpoints(await work.current()), ['branch', '--format=%(refname)']);
    expect(branches.split('\n').filter(Boolean).sort()).toEqual([
      'refs/heads/main',
      'refs/heads/session_1',
    ]);
  });

  it('is told to those who listen, and is still there after a kill', async () => {
    let work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n' });
    const ear = await work.project.socket();
    await ear.call('subscribe', { types: ['session', 'bookmark', 'note', 'eval'] });
    work.put({ a: '1\n' });
    const { event, session } = await rewind(work, first);
    await add(work, 'heard');
    await work.call('note', { text: 'said' });
    await work.call('record_eval', { name: 'bench', metrics: { ms: 3 }, report: 'long' });
    await ear.event('eval');
    const heard = ear.received.flatMap(({ event: one }) => (one === undefined ? [] : [one]));
    expect(heard.map(({ type, what, name, text }) => [type, what ?? name ?? text])).toEqual([
      ['session', 'rewound'],
      ['bookmark', 'added'],
      ['note', 'said'],
      ['eval', 'bench'],
    ]);
    work = await killed(work);
    expect((await lines(work, 'rewind'))[0]?.id).toBe(event);
    expect((await work.save('after')).session).toBe(session);
    expect((await work.call<{ ok: boolean }>('doctor')).ok).toBe(true);
    await work.call('bookmark_remove', { name: 'heard' });
  });
});

describe('remarks', () => {
  const shared = sharedWork();

  it('are lines of the history, with files, artifacts and their author', async () => {
    const work = shared();
    await work.fresh({ a: '0\n' });
    const note = await work.call<{ event: string }>('note', {
      text: 'why this is so',
      files: ['a'],
      artifacts: ['traces/1.json'],
      agent: { name: 'ann' },
    });
    const { event } = await work.call<{ event: string }>('record_eval', {
      name: 'unit tests',
      metrics: { passed: 12, failed: 1 },
      passed: false,
      report: 'one failed',
    });
    const [said] = await lines(work, 'meta_note');
    expect(said).toMatchObject({
      id: note.event,
      rationale: 'why this is so',
      files: ['a'],
      artifacts: ['traces/1.json'],
      author: { name: 'ann', kind: 'agent' },
    });
    const [ran] = await lines(work, 'eval_run');
    expect(ran).toMatchObject({
      id: event,
      eval: {
        name: 'unit tests',
        metrics: { passed: 12, failed: 1 },
        passed: false,
        report: 'one failed',
      },
    });
    const refused = (method: string, params: object) => code(work, method, params);
    expect(await refused('note', { text: '' })).toBe('INVALID_PARAMS');
    expect(await refused('note', { text: 'x', files: ['../y'] })).toBe('PATH_OUTSIDE_ROOT');
    expect(await refused('record_eval', { name: 'x', metrics: { a: 'b' } })).toBe('INVALID_PARAMS');
  });
});

describe('bookmarks, rewind and notes on the command line', () => {
  const shared = sharedWork();

  it('are commands', async () => {
    const work = shared();
    await work.fresh({ a: '0\n' });
    const say = async (...words: string[]) => (await work.project.cli(words)).stdout;
    expect(await say('bookmark', 'list')).toContain('No bookmarks yet');
    const event = await edited(work, { a: '1\n' });
    expect(await say('bookmark', 'add', 'good', '--event', event)).toBe(`good is ${event}.\n`);
    await edited(work, { a: '2\n' });
    expect(await say('bookmark', 'list')).toMatch(new RegExp(`^good +${event} `, 'u'));
    expect(await say('show', 'good:a')).toBe('1\n');
    expect(await say('rewind', 'good', '--branch', 'again')).toContain('again begins');
    expect(work.read('a')).toBe('1\n');
    expect(await say('note', 'all is well')).toMatch(/^Noted as evt-\d+\.\n$/u);
    // A snapshot of the new branch may come at any time.
    expect(await say('history', '-n', '3')).toContain('all is well');
    expect(await say('bookmark', 'rm', 'good')).toBe(`Removed good, which was ${event}.\n`);
    expect((await work.project.cli(['bookmark', 'rm', 'good'])).code).toBe(4);
    expect(existsSync(work.project.path('ledger/bookmarks.json'))).toBe(true);
  });
});
