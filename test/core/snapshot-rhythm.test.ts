import { describe, expect, it } from '@jest/globals';
import type { LedgerEntry } from '../../src/core/ledger.js';
import { SinceSnapshot } from '../../src/core/snapshot-rhythm.js';

const RHYTHM = { everyEvents: 80, everyActiveMinutes: 30, everyPatchBytes: 5_242_880 };

function change(minutes: number, more: object = {}): LedgerEntry {
  const ts = new Date(minutes * 60_000).toISOString();
  const changes = [{ path: 'a', before: null, after: null }];
  return { ts, action_type: 'edit_replace', changes, ...more } as unknown as LedgerEntry;
}

describe('the rhythm of snapshots', () => {
  it('counts accepted changes', () => {
    const since = new SinceSnapshot();
    for (let made = 0; made < 79; made += 1) since.fold(change(0));
    since.fold(change(0, { noted: true }));
    since.fold(change(0, { changes: [] }));
    expect(since.due(RHYTHM)).toBeUndefined();
    since.fold(change(0));
    expect(since.due(RHYTHM)).toBe('events');
    since.fold(change(0, { action_type: 'snapshot_create', changes: [] }));
    expect(since.due(RHYTHM)).toBeUndefined();
    expect(since.events).toBe(0);
  });

  it('counts minutes of editing, and no pauses between', () => {
    const since = new SinceSnapshot();
    for (let minute = 0; minute <= 28; minute += 4) since.fold(change(minute));
    since.fold(change(500));
    since.fold(change(400));
    expect(since.due(RHYTHM)).toBeUndefined();
    since.fold(change(402));
    expect(since.due(RHYTHM)).toBe('minutes');
  });

  it('counts bytes of patches', () => {
    const since = new SinceSnapshot();
    since.patched(5_242_880);
    expect(since.due(RHYTHM)).toBeUndefined();
    since.patched(1);
    expect(since.due(RHYTHM)).toBe('bytes');
  });

  it.each([
    ['approve', { fact: { what: 'approved' } }],
    ['branch', { fact: { what: 'rewound' } }],
    ['eval', { action_type: 'eval_run' }],
  ])('knows the boundary %s', (reason, line) => {
    const since = new SinceSnapshot();
    since.fold(change(0, { changes: [], ...line }));
    expect(since.due(RHYTHM)).toBe(reason);
    since.skip();
    expect(since.due(RHYTHM)).toBeUndefined();
  });
});
