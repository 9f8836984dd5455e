import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { agingPerTest, type Aging } from '../support/aging.js';
import { editing } from '../support/edits.js';
import { until } from '../support/until.js';
import type { Opened, Work } from '../support/work.js';

const FOLD = { fold_older_than_days: 5 };
interface Collected {
  readonly removed: { readonly folded: readonly { readonly event: string }[] };
}

async function folded(work: Work): Promise<string[]> {
  const { removed } = await work.call<Collected>('gc', FOLD);
  return removed.folded.map(({ event }) => event);
}

async function edited(work: Work, files: Readonly<Record<string, string>>, name: string) {
  const edit = editing(work);
  const started = await edit.start(Object.keys(files), { agent: { name } });
  work.put(files);
  const { events } = await edit.finalize(started);
  return events.at(-1) ?? '';
}

async function snapshot(work: Work): Promise<string> {
  const { commit_id: commit } = await work.save('kept');
  await work.call('snapshot_save');
  return commit;
}

/** Ten days later, and with a daemon that holds nothing of what was written before. */
async function later(aging: Aging): Promise<Work> {
  aging.pass(10);
  await aging.end('SIGTERM');
  return aging.start();
}

async function isSound(work: Work): Promise<void> {
  expect(await work.call('verify')).toMatchObject({ ok: true, damaged: [] });
  const { checks } = await work.call<{ checks: { ok: boolean }[] }>('doctor');
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
}

describe('over a folded stretch', () => {
  const newAging = agingPerTest();

  it('blame names the one author of all that is gone, and nobody where there were several', async () => {
    const aging = newAging();
    const work = await aging.start();
    await work.fresh({ one: 'first\n', many: 'first\n', back: 'first\n' });
    await snapshot(work);
    await edited(work, { one: 'first\nby ann\n', many: 'first\nby ann\n', back: 'gone\n' }, 'ann');
    const event = await edited(work, { one: 'first\nby ann\nmore\n' }, 'ann');
    await edited(work, { many: 'first\nby ann\nby bob\n', back: 'first\n' }, 'bob');
    await snapshot(work);
    await edited(work, { many: 'first\nby ann\nby bob\nby cat\n' }, 'cat');
    const again = await later(aging);
    const edit = editing(again);
    expect(await edit.authors('many')).toBe('baseline agent:ann agent:bob agent:cat');
    // What was looked at a moment ago is no more there than anything else.
    await again.call('get_changes_since', { checkpoint: event, include: ['files'] });
    const [fold] = await folded(again);
    expect(await edit.authors('one')).toBe('baseline agent:ann agent:ann');
    expect(await edit.authors('back')).toBe('baseline');
    expect(await edit.authors('many')).toBe('baseline folded folded agent:cat');
    const { lines, last } = await again.call<{ lines: object[]; last: string }>('blame', {
      path: 'many',
    });
    expect(lines[1]).toEqual({ from: 2, to: 3, by: 'folded', event: fold });
    expect(last).toBe('agent:cat');
  });

  it('a restore that keeps the work of others leaves what it cannot take apart, and says so', async () => {
    const aging = newAging();
    const work = await aging.start();
    await work.fresh({ mixed: 'first\n', own: 'first\n' });
    const before = await snapshot(work);
    work.put({ mixed: 'by hand\n' });
    await work.call('handle_unknown_changes', { strategy: 'integrate' });
    await edited(work, { mixed: 'by ann\n', own: 'by ann\n' }, 'ann');
    await snapshot(work);
    const again = await later(aging);
    expect(await folded(again)).toHaveLength(1);
    const how = { mode: 'keep_external' };
    for (const more of [{ ...how, dry_run: true }, how]) {
      expect(await again.restore(before, more)).toMatchObject({
        restored: ['own'],
        skipped: [{ path: 'mixed', reason: 'content_gone' }],
      });
    }
    expect(again.read('own')).toBe('first\n');
    expect(again.read('mixed')).toBe('by ann\n');
    await isSound(again);
  });

  it('changes since one of its events are told without counts', async () => {
    const aging = newAging();
    const work = await aging.start();
    await work.fresh({ a: 'first\n' });
    await snapshot(work);
    const event = await edited(work, { a: 'second\n' }, 'ann');
    await edited(work, { a: 'third\n' }, 'bob');
    await snapshot(work);
    const since = { checkpoint: event, include: ['files'], detail: 'hunks' };
    expect(await work.call('get_changes_since', since)).toMatchObject({
      files: { changed: [{ path: 'a', by: 'agent:bob', additions: 1, deletions: 1 }] },
    });
    const again = await later(aging);
    await folded(again);
    const told = await again.call<{ files: { changed: object[] } }>('get_changes_since', since);
    expect(told.files.changed).toEqual([
      { path: 'a', change: 'modified', by: 'agent:bob', additions: null, deletions: null },
    ]);
  });

  it('a milestone names the files whose lines it cannot count, and one from before keeps its own', async () => {
    const aging = newAging();
    const work = await aging.start();
    await work.fresh({ a: 'first\n', b: 'first\n' });
    await snapshot(work);
    const from = await edited(work, { a: 'second\n' }, 'ann');
    await edited(work, { a: 'third\n', b: 'another\n' }, 'ann');
    await snapshot(work);
    const told = await edited(work, { a: 'fourth\n' }, 'ann');
    await edited(work, { a: 'fifth\n' }, 'ann');
    await work.call('milestone_add', { title: 'kept', from: told });
    await snapshot(work);
    const again = await later(aging);
    expect(await folded(again)).toHaveLength(1);
    expect(await again.call('milestone_add', { title: 'late', from })).toMatchObject({
      files: [{ path: 'a' }, { path: 'b', additions: 1, deletions: 1 }],
    });
    const next = await edited(again, { a: 'sixth\n' }, 'ann');
    const mid = `evt-${String(Number(from.slice(4)) + 2).padStart(6, '0')}`;
    expect(await again.call('milestone_add', { title: 'mid', from: mid, to: next })).toMatchObject({
      gone: ['a'],
      files: [
        { path: 'a', additions: 0, deletions: 0 },
        { path: 'b', additions: 1, deletions: 1 },
      ],
    });
    await isSound(again);
  });

  it('an open edit and what came after its beginning are left alone', async () => {
    const aging = newAging();
    const work = await aging.start();
    await work.fresh({ a: 'first\n', held: 'first\n' });
    await snapshot(work);
    await edited(work, { held: 'second\n' }, 'ann');
    const open = await editing(work).start(['held'], { detached: true, ttl_ms: 3_600_000 });
    const event = await edited(work, { a: 'second\n' }, 'ann');
    await edited(work, { a: 'third\n' }, 'ann');
    work.put({ held: 'half of it\n' });
    await snapshot(work);
    aging.pass(10);
    expect(await folded(work)).toEqual([]);
    await editing(work).abort(open);
    expect(work.read('held')).toBe('second\n');
    expect(await folded(work)).toHaveLength(1);
    expect(await work.refusal('show', { at: event, path: 'a' })).toMatchObject({
      data: { code: 'EVENT_NOT_FOUND' },
    });
    await isSound(work);
  });

  it('what an unknown change is to be put back to stays, whatever becomes of the dialogs', async () => {
    const aging = newAging();
    const work = await aging.start();
    const { dialog_id: other } = await work.fresh({ a: 'first\n' });
    const { dialog_id: mine } = await work.call<Opened>('create_dialog');
    await snapshot(work);
    const expected = randomBytes(2_000).toString('hex');
    const edit = editing(work);
    const started = await edit.start(['a'], { dialog_id: other });
    work.put({ a: expected });
    await edit.finalize(started);
    await snapshot(work);
    const again = await later(aging);
    expect(await folded(again)).toHaveLength(1);
    again.put({ a: 'by nobody\n' });
    await until('it is noticed', async () => (await editing(again).unknown()).hasUnknownChanges);
    // Nothing else has it: no checkpoint, no line, no snapshot.
    await again.call('snapshot_save');
    await again.call('update_config', { snapshots: { keepLast: 1, keepEvery: 1_000 } });
    await again.call('delete_dialog', { dialog_id: mine });
    await folded(again);
    expect(await again.call('snapshot_list')).toMatchObject({ snapshots: [{ id: 'snap-0003' }] });
    expect(await again.call('handle_unknown_changes', { strategy: 'reject' })).toMatchObject({
      success: true,
    });
    expect(again.read('a')).toBe(expected);
    await isSound(again);
  });

  it('an event after it cannot be named once the checkpoint between went with its dialog', async () => {
    const aging = newAging();
    const work = await aging.start();
    const { dialog_id: other } = await work.fresh({ a: 'first\n', b: 'first\n' });
    const { dialog_id: mine } = await work.call<Opened>('create_dialog');
    await snapshot(work);
    const edit = editing(work);
    for (const content of ['second\n', 'third\n']) {
      const started = await edit.start(['a'], { dialog_id: other });
      work.put({ a: content });
      await edit.finalize(started);
    }
    await snapshot(work);
    const started = await edit.start(['b'], { dialog_id: other });
    work.put({ b: 'second\n' });
    const [after = ''] = (await edit.finalize(started)).events;
    const again = await later(aging);
    const [event] = await folded(again);
    expect(await again.call('show', { at: after, path: 'a' })).toMatchObject({
      content: 'third\n',
    });
    await again.call('delete_dialog', { dialog_id: mine });
    expect(await again.refusal('show', { at: after, path: 'a' })).toMatchObject({
      data: { code: 'EVENT_NOT_FOUND', folded: event },
    });
    await isSound(again);
  });
});
