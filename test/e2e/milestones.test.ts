import { describe, expect, it } from '@jest/globals';
import { editing } from '../support/edits.js';
import { git, sharedWork } from '../support/work.js';

interface Milestone {
  readonly id: string;
  readonly title: string;
  readonly totals: Readonly<Record<string, number>>;
  readonly files: readonly { readonly path: string; readonly change: string }[];
  readonly diff: string;
}
interface Copies {
  readonly id: string;
  readonly metadata: { readonly totalFiles: number; readonly totalSizeBytes: number };
  readonly files?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly missing?: readonly string[];
}

describe('a milestone', () => {
  const shared = sharedWork();

  it('is a span of edits with what they came to together', async () => {
    const work = shared();
    await work.fresh({ a: 'one\n', b: 'b\n' });
    await work.call('milestone_add', { title: 'before' });
    const edit = editing(work);
    for (const content of ['one\ntwo\n', 'one\ntwo\nthree\n']) {
      const started = await edit.start(['a', 'tmp']);
      work.put({ a: content, tmp: content });
      await edit.finalize(started);
    }
    const last = await edit.start(['tmp']);
    work.put({ tmp: null });
    await edit.finalize(last);
    const made = await work.call<Milestone>('milestone_add', {
      title: 'Two lines',
      description: 'in two edits',
      tags: ['demo'],
    });
    expect(made).toMatchObject({
      title: 'Two lines',
      description: 'in two edits',
      tags: ['demo'],
      totals: { files: 1, additions: 2, deletions: 0, edits: 3, events: 5 },
      files: [{ path: 'a', change: 'modified' }],
    });
    expect(made.diff).toContain('+two\n+three\n');
    expect(await work.call('milestone_show', { id: made.id })).toEqual(made);
    const { milestones } = await work.call<{ milestones: Milestone[] }>('milestone_list');
    expect(milestones.map(({ title }) => title).slice(-2)).toEqual(['before', 'Two lines']);
  });

  it('is a command, told for people', async () => {
    const work = shared();
    await work.fresh({ a: 'one\n' });
    const say = async (...words: string[]) => {
      const { code, stdout, stderr } = await work.project.cli(words);
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
      return stdout;
    };
    await say('milestone', 'add', 'before');
    const started = await editing(work).start(['a']);
    work.put({ a: 'one\ntwo\n' });
    await editing(work).finalize(started);
    const told = await say(
      'milestone',
      'add',
      'Two lines',
      '--description',
      'in one',
      '--tags',
      'x',
    );
    expect(told).toMatch(
      /^evt-\d+ is the milestone Two lines: 1 edit, 1 file changed, \+1 -0\.\n/u,
    );
    const id = told.split(' ')[0] ?? '';
    const listed = await say('milestone', 'list');
    expect(listed.split('\n').at(-2)).toMatch(
      new RegExp(`^${id} +just now +evt-\\d+ to evt-\\d+  Two lines \\(x\\)$`, 'u'),
    );
    const shown = await say('milestone', 'show', id);
    expect(shown).toMatch(/^evt-\d+ {2}Two lines\n {2}in one\n {2}x\n/u);
    expect(shown).toContain('  modified   a  +1 -0\n');
    expect(shown).toContain('\n@@ -1 +1,2 @@\n one\n+two\n');
  });

  it('can be bounded by events and by edits', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const edit = editing(work);
    const ids: string[] = [];
    for (const content of ['2\n', '3\n', '4\n']) {
      const started = await edit.start(['a']);
      work.put({ a: content });
      const { events } = await edit.finalize(started);
      ids.push(started.edit_id, events[0] ?? '');
    }
    const [, , second = '', secondEvent = ''] = ids;
    const made = await work.call<Milestone>('milestone_add', {
      title: 'the second',
      from: second,
      to: secondEvent,
    });
    expect(made.diff).toContain('-2\n+3\n');
    const { data } = await work.refusal('milestone_add', { title: 'x', from: 'evt-999999' });
    expect(data['code']).toBe('EVENT_NOT_FOUND');
  });
});

describe('a file checkpoint', () => {
  const shared = sharedWork();

  it('gives the copies back as they were, text as text and bytes as base64', async () => {
    const work = shared();
    const bytes = Buffer.from([0, 255, 254, 10]);
    await work.fresh({ a: 'text\n', b: bytes });
    const made = await work.call<Copies>('create_file_checkpoint', {
      files: ['a', 'b', 'none'],
      snapshot_id: 'mine',
    });
    expect(made).toMatchObject({
      snapshotId: 'mine',
      metadata: { totalFiles: 2, totalSizeBytes: 9 },
      missing: ['none'],
    });
    work.put({ a: 'other', b: 'other' });
    const { checkpoint } = await work.call<{ checkpoint: Copies }>('load_file_checkpoint');
    expect(checkpoint.id).toBe(made.id);
    expect(checkpoint.files).toMatchObject({
      a: { content: 'text\n', hash: git(work.root, ['hash-object', '--stdin'], 'text\n').trim() },
      b: { content_base64: bytes.toString('base64') },
    });
  });

  it('leaves out the content of a file that does not fit into the answer, and of no other', async () => {
    const work = shared();
    await work.fresh({ a: 'first', large: Buffer.alloc(9 * 1024 * 1024, 'l'), z: 'last' });
    await work.call('create_file_checkpoint', { files: ['a', 'large', 'z'] });
    const { checkpoint } = await work.call<{ checkpoint: Copies }>('load_file_checkpoint');
    expect(checkpoint.files).toMatchObject({ a: { content: 'first' }, z: { content: 'last' } });
    expect(Object.keys(checkpoint.files?.['large'] ?? {})).toEqual(['hash', 'mode']);
  });

  it('replaces the one before it unless all are to be kept', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    const make = async (): Promise<string> =>
      (await work.call<Copies>('create_file_checkpoint', { files: ['a'] })).id;
    const first = await make();
    const second = await make();
    const gone = await work.refusal('load_file_checkpoint', { id: first });
    expect(gone.data['code']).toBe('SNAPSHOT_NOT_FOUND');
    await work.call('update_config', { keepAllCheckpoints: true });
    const third = await make();
    const { checkpoint } = await work.call<{ checkpoint: Copies }>('load_file_checkpoint', {
      id: second,
    });
    expect(checkpoint.id).toBe(second);
    expect(await work.call('cleanup_checkpoints', { older_than: 0 })).toEqual({
      removed: 1,
      kept: 1,
    });
    const { checkpoint: last } = await work.call<{ checkpoint: Copies }>('load_file_checkpoint');
    expect(last.id).toBe(third);
    await work.call('update_config', { keepAllCheckpoints: false });
  });

  it('holds by default what changed since the last checkpoint', async () => {
    const work = shared();
    await work.fresh({ a: '1', b: '1' });
    work.put({ b: '2' });
    await work.call('create_file_checkpoint');
    const { checkpoint } = await work.call<{ checkpoint: Copies }>('load_file_checkpoint');
    expect(Object.keys(checkpoint.files ?? {})).toEqual(['b']);
  });
});
