import { describe, expect, it } from '@jest/globals';
import { editing } from '../support/edits.js';
import { git, sharedWork, type Opened } from '../support/work.js';

describe('a restore that keeps the work of others', () => {
  const shared = sharedWork();
  const mode = { mode: 'keep_external' };

  it('takes back what the dialog did and leaves what a person did', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '1\n', b: '1\n', c: '1\n' });
    const edit = editing(work);
    const started = await edit.start(['a', 'made', 'c']);
    work.put({ a: '2\n', made: 'm\n', c: null });
    await edit.finalize(started);
    work.put({ b: 'by hand\n', 'by-hand': 'x\n' });
    const dry = await work.restore(first, { ...mode, dry_run: true });
    expect(dry).toMatchObject({ restored: ['a', 'c'], deleted: ['made'] });
    const answer = await work.restore(first, mode);
    expect(answer).toMatchObject({
      restored_to: first,
      restored: ['a', 'c'],
      deleted: ['made'],
      kept: ['b', 'by-hand'],
      skipped: [],
    });
    expect(work.disk()).toEqual({
      a: 'file 1\n',
      b: 'file by hand\n',
      'by-hand': 'file x\n',
      c: 'file 1\n',
    });
    expect((await work.log())[0]).toMatchObject({
      commit_id: answer.new_checkpoint,
      message: `Restored to ${first}`,
    });
    expect(await work.fsck()).toBe('');
  });

  it('does not mind what one that failed has left', async () => {
    const work = shared();
    const { dialog_id: dialog, initial_checkpoint: first } = await work.fresh({ a: '1\n' });
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: '2\n' });
    await edit.finalize(started);
    const wanted = 'refs/heads/wanted';
    git(work.checkpoints(dialog), ['update-ref', wanted, first]);
    expect(await work.restore(first, mode)).toMatchObject({ restored: ['a'] });
    expect(git(work.checkpoints(dialog), ['for-each-ref', wanted])).toBe('');
  });

  it('63, 64: merges lines of others in the same file, and reports what contradicts', async () => {
    const work = shared();
    const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    const text = (changed: Readonly<Record<string, string>>) =>
      `${lines.map((line) => changed[line] ?? line).join('\n')}\n`;
    const { initial_checkpoint: first } = await work.fresh({ far: text({}), near: text({}) });
    const edit = editing(work);
    const started = await edit.start(['far', 'near']);
    work.put({ far: text({ one: 'ONE' }), near: text({ four: 'FOUR' }) });
    await edit.finalize(started);
    work.put({ far: text({ one: 'ONE', seven: 'SEVEN' }), near: text({ four: 'four by hand' }) });
    const answer = await work.restore(first, mode);
    expect(answer.skipped).toEqual([{ path: 'near', reason: 'conflict' }]);
    expect(work.read('far')).toBe(text({ seven: 'SEVEN' }));
    expect(work.read('near')).toBe(text({ four: 'four by hand' }));
  });

  it('70: leaves a file that the dialog made and a person then changed', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '1' });
    const edit = editing(work);
    const started = await edit.start(['made']);
    work.put({ made: 'by the agent\n' });
    await edit.finalize(started);
    work.put({ made: 'by the agent\nand by hand\n' });
    const answer = await work.restore(first, mode);
    expect(answer.skipped).toEqual([{ path: 'made', reason: 'conflict' }]);
    expect(work.read('made')).toBe('by the agent\nand by hand\n');
  });

  it('leaves the work of another dialog', async () => {
    const work = shared();
    const { dialog_id: one, initial_checkpoint: first } = await work.fresh({ a: '1', b: '1' });
    const { dialog_id: two } = await work.call<Opened>('create_dialog', { title: 'two' });
    const edit = editing(work);
    const mine = await edit.start(['a'], { dialog_id: one });
    work.put({ a: '2' });
    await edit.finalize(mine);
    const other = await edit.start(['b'], { dialog_id: two });
    work.put({ b: '2' });
    await edit.finalize(other);
    const answer = await work.restore(first, { ...mode, dialog_id: one });
    expect(answer).toMatchObject({ restored: ['a'], kept: ['b'] });
    expect(work.disk()).toEqual({ a: 'file 1', b: 'file 2' });
  });

  it('does nothing when the dialog changed nothing', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '1' });
    work.put({ a: '2' });
    const answer = await work.restore(first, mode);
    expect(answer).toMatchObject({ restored: [], deleted: [], kept: ['a'] });
    expect(work.read('a')).toBe('2');
  });
});
