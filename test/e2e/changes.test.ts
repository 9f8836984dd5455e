import { renameSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { Repository } from '../support/repository.js';
import type { Changes } from '../support/s0-scenarios.js';
import { git, sharedWork, Work } from '../support/work.js';

type Files = NonNullable<Changes['files']>;

const newProject = projectsPerTest();

/** A client that has looked just now. */
async function looking(work: Work, client: string) {
  const look = (more: object = {}) => work.call<Changes>('get_changes_since', { client, ...more });
  await look();
  return look;
}

async function edited(work: Work, files: Readonly<Record<string, string | null>>) {
  const edit = editing(work);
  const started = await edit.start(Object.keys(files));
  work.put(files);
  await edit.finalize(started);
}

const shown = ({ changed }: Pick<Files, 'changed'>) =>
  changed.map(({ path, change, by }) => `${change} ${path} by ${by}`);
const files = async (answer: Promise<Changes>): Promise<Files> => {
  const { files: found } = await answer;
  if (found === undefined) throw new Error('there are no files in the answer');
  return found;
};

describe('files in what happened', () => {
  const shared = sharedWork();

  it('are told with their author and their lines, what nobody announced first', async () => {
    const work = shared();
    await work.fresh({ 'a.txt': '1\n2\n', 'b.txt': 'b\n', 'z.txt': 'z\n' });
    const look = await looking(work, 'authors');
    await edited(work, { 'a.txt': '1\n2\n3\n', 'new.txt': 'x\ny\n' });
    await work.project.cli(['run', '--', 'sh', '-c', 'echo made > made.txt'], { cwd: work.root });
    work.put({ 'z.txt': 'somebody\nelse\n' });
    const found = await look();
    expect(found).toMatchObject({ severity: 'warning', fresh: true });
    expect(shown(found.files ?? { changed: [] })).toEqual([
      'modified z.txt by unknown',
      'modified a.txt by agent:ann',
      'created new.txt by agent:ann',
      'created made.txt by command:sh',
    ]);
    expect(found.files?.changed.map(({ additions, deletions }) => [additions, deletions])).toEqual([
      [2, 1],
      [1, 0],
      [2, 0],
      [1, 0],
    ]);
    expect(found.summary).toBe('1 unknown file change(s), 3 file(s) changed');
  });

  it('that a restore brought back belong to the dialog', async () => {
    const work = shared();
    const { initial_checkpoint: first, dialog_id: dialog } = await work.fresh({ a: '1\n' });
    await edited(work, { a: '2\n', b: 'new\n' });
    const look = await looking(work, 'restores');
    await work.restore(first);
    const found = await look();
    expect(shown(found.files ?? { changed: [] })).toEqual([
      `modified a by dialog:${dialog}`,
      `deleted b by dialog:${dialog}`,
    ]);
    expect(found.severity).toBe('clean');
  });

  it('are those that are not what they were: what cancels out is no news', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n', b: 'b\n' });
    const look = await looking(work, 'cancels');
    await edited(work, { a: 'other\n' });
    await edited(work, { a: 'a\n' });
    await edited(work, { c: 'new\n' });
    await edited(work, { c: null });
    work.put({ b: 'by hand\n' });
    await work.call('status');
    work.put({ b: 'b\n' });
    expect(await look()).toMatchObject({
      severity: 'clean',
      summary: 'No significant changes.',
      files: { total_new: 0, changed: [] },
    });
  });

  it('that changed twice are told once, with everybody who did it', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const look = await looking(work, 'twice');
    await edited(work, { a: '1\n2\n' });
    work.put({ a: '1\n2\n3\n' });
    expect((await files(look())).changed).toMatchObject([
      { path: 'a', by: 'unknown', also: ['agent:ann'], additions: 2, deletions: 0 },
    ]);
  });

  it('that were renamed are told with both names', async () => {
    const work = shared();
    await work.fresh({ 'old.txt': 'the same content\nin two lines\n' });
    const look = await looking(work, 'renames');
    renameSync(work.at('old.txt'), work.at('new.txt'));
    expect((await files(look())).changed).toMatchObject([
      { change: 'renamed', from: 'old.txt', path: 'new.txt', by: 'unknown' },
    ]);
  });

  it('come with their text within the room there is', async () => {
    const work = shared();
    await work.fresh({ a: '1\n', large: 'x\n' });
    const look = await looking(work, 'hunks');
    const { cursor } = await look();
    await edited(work, { a: '2\n' });
    await edited(work, { large: 'a line of a large file\n'.repeat(1000) });
    const hunks = (room: object) =>
      files(look({ checkpoint: cursor, detail: 'hunks', include: ['files'], ...room }));
    const [small, large] = (await hunks({})).changed;
    expect(small?.diff).toContain('-1\n+2\n');
    expect(large).toMatchObject({ path: 'large', additions: 1000 });
    expect(large).not.toHaveProperty('diff');
    const whole = (await hunks({ max_bytes: 100_000 })).changed;
    expect(whole.map(({ diff }) => diff?.includes('@@'))).toEqual([true, true]);
    const least = await look({ checkpoint: cursor, detail: 'hunks', max_bytes: 600 });
    expect(Buffer.byteLength(JSON.stringify(least))).toBeLessThanOrEqual(600);
  });

  it('of many kinds are told by folder, or each, as it is wished', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n' });
    const look = await looking(work, 'many');
    const { cursor } = await look();
    const many = Array.from({ length: 60 }, (_, n) => [`src/part/f${n}.ts`, `${n}\n`]);
    await edited(work, Object.fromEntries(many) as Record<string, string>);
    const found = await files(look());
    expect(found.total_new).toBe(60);
    expect(found.changed).toMatchObject([
      { path: 'src/part/', change: 'created', by: 'agent:ann', files: 60 },
    ]);
    const each = await files(look({ checkpoint: cursor, detail: 'stat', max_bytes: 100_000 }));
    expect(each.changed).toHaveLength(50);
    expect(each).toMatchObject({ total_new: 60, omitted: 10 });
  });

  it('excluded from checking are no warning', async () => {
    const work = shared();
    await work.fresh({ 'a.tmp': '1\n' });
    const look = await looking(work, 'excluded');
    work.put({ 'a.tmp': '2\n' });
    expect(await look()).toMatchObject({
      severity: 'clean',
      files: { changed: [{ path: 'a.tmp', by: 'unknown' }] },
    });
  });

  it('in an edit that is open belong to it already', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const look = await looking(work, 'open');
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: '2\n' });
    expect(shown(await files(look()))).toEqual(['modified a by agent:ann']);
    await edit.finalize(started);
    expect(await look()).toMatchObject({ summary: 'No significant changes.' });
  });

  it('are told since an event, a checkpoint, a bookmark and a time', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const { commit_id: saved } = await work.save('here');
    await work.call('bookmark_add', { name: 'here' });
    const time = new Date().toISOString();
    await edited(work, { a: '2\n' });
    const { events } = await work.call<{ events: { id: string }[] }>('history', { limit: 1 });
    await edited(work, { b: 'b\n' });
    const since = (checkpoint: string) =>
      files(work.call<Changes>('get_changes_since', { checkpoint, include: ['files'] }));
    const both = ['modified a by agent:ann', 'created b by agent:ann'];
    expect(shown(await since(saved))).toEqual(both);
    expect(shown(await since(saved.slice(0, 10)))).toEqual(both);
    expect(shown(await since('here'))).toEqual(both);
    expect(shown(await since(time))).toEqual(both);
    expect((await since(time.slice(0, 10))).total_new).toBeGreaterThanOrEqual(2);
    expect(shown(await since(events[0]?.id ?? ''))).toEqual(['created b by agent:ann']);
  });
});

describe('one operation of git', () => {
  it('over three hundred files is one line', async () => {
    const project = newProject();
    const repository = await Repository.make(project.root);
    for (let n = 0; n < 300; n++) repository.write(`src/f${n}.ts`, `export const n = ${n};\n`);
    await repository.git(['add', '.']);
    await repository.git(['commit', '-qm', 'one']);
    await repository.git(['checkout', '-qb', 'other']);
    for (let n = 0; n < 300; n++) repository.write(`src/f${n}.ts`, `export const m = ${n};\n`);
    await repository.git(['commit', '-qam', 'two']);
    const work = await Work.start(project);
    await work.call('create_dialog');
    const look = await looking(work, 'checkout');
    git(project.root, ['checkout', '-q', 'main']);
    const found = await look();
    expect(found.files).toMatchObject({
      total_new: 300,
      changed: [{ path: 'src/', change: 'modified', by: 'unknown', origin: 'git', files: 300 }],
    });
    expect(found.files?.changed).toHaveLength(1);
    expect(found.token_count).toBeLessThan(500);
  });
});

describe('while there was no daemon', () => {
  it('changes are told to whoever comes back, as made offline', async () => {
    const project = newProject();
    const work = await Work.start(project);
    await work.fresh({ a: '1\n', b: '1\n' });
    await looking(work, 'coming-back');
    const { cursor } = await work.call<Changes>('get_changes_since');
    await edited(work, { b: '2\n' });
    await project.cli(['stop']);
    work.put({ a: 'while you were out\n' });
    const again = await Work.start(project);
    const expected = [
      { path: 'a', by: 'unknown', origin: 'offline', change: 'modified' },
      { path: 'b', by: 'agent:ann', change: 'modified' },
    ];
    const named = await again.call<Changes>('get_changes_since', { client: 'coming-back' });
    expect(named.files?.changed).toMatchObject(expected);
    const since = await again.call<Changes>('get_changes_since', { checkpoint: cursor });
    expect(since.files?.changed).toMatchObject(expected);
    expect(
      (await again.call<Changes>('get_changes_since', { client: 'coming-back' })).summary,
    ).toBe('No significant changes.');
  });
});
