import { describe, expect, it } from '@jest/globals';
import type { Ledger, LedgerEntry } from '../../src/core/ledger.js';
import type { Hash } from '../../src/core/model.js';
import { createPins } from '../../src/workspace/pins.js';

const NOTHING = { folded: () => [], expected: () => [], isUnsettled: () => false };
const change = (before: string | null, after: string | null) => ({ path: 'a', before, after });
const known = (hash: string) => [['a', { hash, mode: '100644' }]];

/** A ledger of these lines, counted from 1. */
function ledgerOf(lines: readonly object[]): Pick<Ledger, 'read'> {
  const entries = lines.map((line, at) => {
    return { dialog_id: null, changes: [], ...line, seq: at + 1 } as unknown as LedgerEntry;
  });
  return {
    read: async ({ after = 0, limit }) =>
      Promise.resolve(entries.filter(({ seq }) => seq > after).slice(0, limit)),
  };
}

const LINES = [
  { changes: [change('1', '2')] },
  { changes: [change('2', '3')], edit: { what: 'started', before: known('e') } },
  { fact: { what: 'saved' }, known: known('k') },
  { saved: [{ hash: 's' }], known: known('l') },
  { changes: [change('3', '4')] },
];
const pinned = async (lines: readonly object[], more: object = {}): Promise<string[]> =>
  [...(await createPins(ledgerOf(lines), { ...NOTHING, ...more })())].sort();

describe('lines hold', () => {
  it('every content they speak of', async () => {
    expect(await pinned(LINES)).toEqual(['1', '2', '3', '4', 'e', 'k', 'l', 's']);
  });

  it('nothing in a folded run, but for what its checkpoints say that should be there', async () => {
    const folded = () => [{ after: 1, before: 5 }];
    expect(await pinned(LINES, { folded })).toEqual(['1', '2', '3', '4', 'k']);
    const both = () => [{ after: 4, before: 6 }, ...[{ after: 0, before: 4 }]];
    expect(await pinned(LINES, { folded: both })).toEqual(['k', 'l', 's']);
  });

  it('nothing that a fold came to: two checkpoints have it', async () => {
    const fold = { changes: [change('x', 'y')], noted: true, folded: { after: 1, before: 5 } };
    expect(await pinned([...LINES, fold])).not.toContain('x');
  });

  it('nothing of a dialog that is deleted, and what is expected in any case', async () => {
    const own = { dialog_id: 'd', changes: [change(null, 'own')] };
    const deleted = { dialog_id: 'd', fact: { what: 'deleted' } };
    expect(await pinned([own])).toEqual(['own']);
    expect(await pinned([own, deleted])).toEqual([]);
    const expected = () => ['own' as Hash];
    expect(await pinned([own, deleted], { expected })).toEqual(['own']);
  });

  it('what an edit may still be taken back to, although its dialog is deleted', async () => {
    const edit = { id: 'E', what: 'started', before: known('before') };
    const started = { dialog_id: 'd', edit };
    const changed = {
      ...started,
      changes: [change('x', 'y')],
      edit: { id: 'E', what: 'incomplete' },
    };
    const deleted = { dialog_id: 'd', fact: { what: 'deleted' } };
    const isUnsettled = (id: string) => id === 'E';
    const lines = [started, changed, deleted];
    expect(await pinned(lines, { isUnsettled })).toEqual(['before', 'x', 'y']);
    expect(await pinned(lines)).toEqual([]);
  });
});
