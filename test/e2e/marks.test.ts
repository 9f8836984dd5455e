import { rmSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import type { Changes } from '../support/s0-scenarios.js';
import { sharedWork, Work } from '../support/work.js';

interface Marked {
  readonly name: string;
  readonly checkpoint: string;
  readonly cursor: string;
}
interface Listed {
  readonly name: string;
  readonly checkpoint: string;
  readonly severity: string;
  readonly summary: string;
  readonly url: string | null;
  readonly baseline?: string;
}

const newProject = projectsPerTest();

const mark = (work: Work, name: string, more: object = {}) =>
  work.call<Marked>('mark', { name, ...more });
const list = async (work: Work) => (await work.call<{ marks: Listed[] }>('list_marks')).marks;
const own = async (work: Work) =>
  (await list(work)).map(({ name }) => name).filter((name) => name !== 'session_start');
const word = (number: number) => `mark_${String.fromCharCode(97 + number)}`;
const say = (work: Work, level: string, message: string) =>
  work.call('push_telemetry', { console: [{ level, message }] });

describe('marks', () => {
  const shared = sharedWork();

  it('are a checkpoint, a bookmark and a position', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const { checkpoint, cursor } = await mark(work, 'before_refactor');
    const { bookmarks } = await work.call<{ bookmarks: Record<string, string> }>('bookmark_list');
    expect(bookmarks).toEqual({ before_refactor: checkpoint });
    expect((await work.log()).map(({ message }) => message)).toContain('Mark before_refactor');
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: '2\n' });
    await edit.finalize(started);
    const named = await work.call<Changes>('get_changes_since', { checkpoint: 'before_refactor' });
    expect(named.files?.changed).toMatchObject([{ path: 'a', by: 'agent:ann' }]);
    const byCursor = await work.call<Changes>('get_changes_since', { checkpoint: cursor });
    expect(byCursor.files).toEqual(named.files);
    const { text } = await work.call<{ text: string }>('diff', { from: 'before_refactor' });
    expect(text).toContain('-1\n+2\n');
    const { content } = await work.call<{ content: string }>('show', {
      ...{ at: 'before_refactor', path: 'a' },
    });
    expect(content).toBe('1\n');
    await work.call('delete_mark', { name: 'before_refactor' });
    const { data } = await work.refusal('delete_mark', { name: 'before_refactor' });
    expect(data['code']).toBe('MARK_NOT_FOUND');
    expect(await own(work)).toEqual([]);
  });

  it.each([
    ['Before Refactor', 'NAME_INVALID', 'before_refactor'],
    ['before_2026_11_17', 'NAME_INVALID', 'before'],
    ['x'.repeat(51), 'NAME_INVALID', 'x'.repeat(50)],
    ['session_7', 'NAME_INVALID', undefined],
  ])('cannot be called %j', async (name, code, suggestion) => {
    const { data } = await shared().refusal('mark', { name });
    expect(data).toMatchObject({ code });
    expect(data['suggestion']).toBe(suggestion);
  });

  it('cannot have a name that is taken', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    await mark(work, 'taken');
    await work.call('bookmark_add', { name: 'of_somebody' });
    for (const name of ['taken', 'of_somebody']) {
      expect((await work.refusal('mark', { name })).data['code']).toBe('NAME_TAKEN');
    }
    await work.call('delete_mark', { name: 'taken' });
    await work.call('bookmark_remove', { name: 'of_somebody' });
  });

  it('are twenty: the oldest makes room, unless somebody bookmarked what it names', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const { checkpoint } = await mark(work, word(0));
    await work.call('bookmark_add', { name: 'keep', checkpoint });
    for (let number = 1; number <= 21; number++) await mark(work, word(number));
    const names = await own(work);
    expect(names).toContain(word(0));
    expect(names).not.toContain(word(1));
    expect(names).toHaveLength(21);
    expect((await list(work)).map(({ name }) => name)).toContain('session_start');
    await work.call('bookmark_remove', { name: 'keep' });
    await mark(work, 'one_more');
    expect(await own(work)).toHaveLength(20);
    expect(await own(work)).not.toContain(word(0));
    for (const name of await own(work)) await work.call('delete_mark', { name });
  });

  it('read as a timeline with how things were', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    await mark(work, 'before_auth_refactor');
    await say(work, 'warning', 'Careful');
    await work.call('push_telemetry', {
      actions: [{ type: 'navigation', url: 'http://localhost/checkout' }],
    });
    await mark(work, 'after_auth_refactor');
    await say(work, 'error', 'Broken');
    await mark(work, 'after_cleanup');
    await mark(work, 'before_commit');
    const marks = (await list(work)).slice(-4);
    expect(
      marks.map(({ name, severity, summary }) => `${name} -> ${severity}: ${summary}`),
    ).toEqual([
      'before_auth_refactor -> clean: No significant changes.',
      'after_auth_refactor -> warning: 1 new console warning(s)',
      'after_cleanup -> error: 1 new console error(s)',
      'before_commit -> clean: No significant changes.',
    ]);
    const page = 'http://localhost/checkout';
    expect(marks.map(({ url }) => url)).toEqual([null, page, page, page]);
    const { stdout } = await work.project.cli(['marks']);
    expect(stdout).toMatch(
      /after_auth_refactor +(just now|\d+ s ago) +[0-9a-f]{8} +-> warning: 1 new/u,
    );
  });

  it('set themselves when a session begins, and move with the next one', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '1\n' });
    const start = async () => (await list(work)).find(({ name }) => name === 'session_start');
    expect((await start())?.checkpoint).toBe(first);
    work.put({ a: '2\n' });
    await work.save();
    const { approved_commit: approved } = await work.call<{ approved_commit: string }>('approve');
    expect((await start())?.checkpoint).toBe(approved);
    expect(await work.call<object>('get_session_health')).toMatchObject({
      since: 'session_start',
      files_changed: 0,
    });
    work.put({ a: '3\n', b: 'b\n' });
    expect(await work.call<object>('get_session_health')).toMatchObject({
      severity: 'warning',
      files_changed: 2,
      unknown_changes: 2,
    });
    const { text } = await work.call<{ text: string }>('diff', { from: 'session_start' });
    expect(text).toContain('-2\n+3\n');
  });

  it('stay out of the way of a bookmark that somebody called the same', async () => {
    const project = newProject();
    const work = await Work.start(project);
    await work.fresh({ a: '1\n' });
    const { id } = await work.call<{ id: string }>('bookmark_add', { name: 'pre_commit' });
    work.put({ a: '2\n' });
    await work.call('create_checkpoint', { kind: 'pre_commit' });
    const { bookmarks } = await work.call<{ bookmarks: Record<string, string> }>('bookmark_list');
    expect(bookmarks).toEqual({ pre_commit: id });
    expect((await list(work)).map(({ name }) => name)).toEqual(['session_start']);
  });

  it('that set themselves go with their dialog', async () => {
    const work = shared();
    const { dialog_id: dialog } = await work.fresh({ a: '1\n' });
    await work.call('delete_dialog', { dialog_id: dialog });
    expect((await list(work)).map(({ name }) => name)).not.toContain('session_start');
    expect(
      (await work.refusal('get_changes_since', { checkpoint: 'session_start' })).data,
    ).toMatchObject({
      code: 'MARK_NOT_FOUND',
    });
  });
});

describe('marks, when all of them are to stay', () => {
  it('are refused with advice', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: '1\n' });
    // Each with a bookmark of its own, so that none can make room.
    for (let number = 0; number < 99; number++) {
      const name = `m_${'x'.repeat(number % 40)}_${String.fromCharCode(97 + Math.floor(number / 40))}`;
      const { checkpoint } = await mark(work, name);
      await work.call('bookmark_add', { name: `keep-${number}`, checkpoint });
    }
    const { data, message } = await work.refusal('mark', { name: 'one_more' });
    expect(data).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'marks' });
    expect(data['hint']).toContain('bookmark');
    expect(message).toContain('100');
    // Those that set themselves still do.
    work.put({ a: '2\n' });
    await work.call('create_checkpoint', { kind: 'pre_commit' });
    expect(await own(work)).toContain('pre_commit');
  });
});

describe('marks over a restart', () => {
  it('are still there, with and without what was derived, and know how endpoints did', async () => {
    const project = newProject();
    let work = await Work.start(project);
    await work.fresh({ a: '1\n' });
    const network = (url: string, status: number) =>
      work.call('push_telemetry', { network: [{ url, method: 'GET', status }] });
    await network('http://localhost/api/users', 200);
    await mark(work, 'known_good');
    const before = await list(work);
    for (const isDerivedGone of [false, true]) {
      await project.cli(['stop']);
      if (isDerivedGone) rmSync(project.path('ledger/derived'), { recursive: true, force: true });
      work = await Work.start(project);
      expect(await list(work)).toEqual(before);
      await network('http://localhost/api/users', 500);
      const found = await work.call<Changes>('get_changes_since', { checkpoint: 'known_good' });
      expect(found.network?.failures).toEqual([
        { path: '/api/users', status: 500, previous_status: 200 },
      ]);
    }
  });
});
