import { describe, expect, it } from '@jest/globals';
import { sharedWork } from '../support/work.js';

const LINES = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
const text = (changed: Readonly<Record<number, string>> = {}): string =>
  LINES.map((line, at) => `${changed[at + 1] ?? line}\n`).join('');

describe('a restore of some hunks', () => {
  const shared = sharedWork();

  it('69: rejects one hunk, keeps the others of the same file, and can be undone', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: text(), other: '1\n' });
    work.put({ a: text({ 2: 'two', 20: 'twenty', 38: 'late' }), other: '2\n' });
    const before = work.disk();
    const chosen = { paths: ['a'], hunks: [2] };
    const dry = await work.restore(first, { ...chosen, dry_run: true });
    expect(dry).toMatchObject({ restored: ['a'], deleted: [] });
    expect(work.disk()).toEqual(before);
    const answer = await work.restore(first, chosen);
    expect(answer).toMatchObject({ restored_to: first, restored: ['a'], deleted: [], kept: [] });
    expect(work.read('a')).toBe(text({ 2: 'two', 38: 'late' }));
    expect(work.read('other')).toBe('2\n');
    const saved = await work.content(answer.new_checkpoint, 'a');
    expect(saved.toString()).toBe(work.read('a'));
    await work.call('undo');
    expect(work.disk()).toEqual(before);
    await work.call('redo');
    expect(work.read('a')).toBe(text({ 2: 'two', 38: 'late' }));
    expect(await work.fsck()).toBe('');
  });

  it('takes all hunks for the whole file: one that was made is gone, one that went is back', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ gone: '1\n', same: text() });
    work.put({ gone: null, made: 'm\n', same: text({ 1: 'x', 40: 'y' }) });
    await work.restore(first, { paths: ['made'], hunks: [1] });
    await work.restore(first, { paths: ['gone'], hunks: [1] });
    await work.restore(first, { paths: ['same'], hunks: [2, 1] });
    expect(work.disk()).toEqual({ gone: 'file 1\n', same: `file ${text()}` });
  });

  it('changes nothing when the choice makes no sense', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: text(), b: '1\n', c: 'x\0y' });
    work.put({ a: text({ 2: 'two', 20: 'twenty' }), b: '2\n', c: 'x\0z' });
    const before = work.disk();
    const refused = async (more: object) => {
      const error = await work.refusal('restore', { checkpoint_id: first, ...more });
      expect(work.disk()).toEqual(before);
      return error;
    };
    expect(await refused({ paths: ['a'], hunks: [3] })).toMatchObject({
      data: { code: 'INVALID_PARAMS', hunks: 2 },
    });
    for (const params of [
      { hunks: [1] },
      { paths: ['a', 'b'], hunks: [1] },
      { paths: ['a'], hunks: [1], mode: 'keep_external' },
      { paths: ['c'], hunks: [1] },
      { paths: ['missing'], hunks: [1] },
      { paths: ['a'], hunks: [0] },
      { paths: ['a'], hunks: ['1'] },
    ]) {
      expect(await refused(params)).toMatchObject({ data: { code: 'INVALID_PARAMS' } });
    }
    const seen = { paths: ['a'], hunks: [1], expect: '0'.repeat(40) };
    expect(await refused(seen)).toMatchObject({ data: { code: 'STALE_READ' } });
  });

  it('is there on the command line', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: text() });
    work.put({ a: text({ 2: 'two', 20: 'twenty', 38: 'late' }) });
    const args = ['restore', first, 'a', '--hunks', '1', '--hunks', '3'];
    const { code, stdout } = await work.project.cli(args);
    expect([code, stdout]).toEqual([0, expect.stringContaining('a')]);
    expect(work.read('a')).toBe(text({ 20: 'twenty' }));
  });
});
