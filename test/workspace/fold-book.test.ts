import { describe, expect, it } from '@jest/globals';
import type { LedgerEntry } from '../../src/core/ledger.js';
import { FoldBook } from '../../src/workspace/fold-book.js';

const line = (seq: number, more: object) =>
  ({ seq, id: `evt-${seq}`, ...more }) as unknown as LedgerEntry;
const fold = (seq: number, [after, before]: readonly [number, number], more: object = {}) =>
  line(seq, { folded: { after, before, from: 'snap-1', to: 'snap-2', events: 1, ...more } });

function bookOf(...lines: readonly LedgerEntry[]): FoldBook {
  const book = new FoldBook();
  for (const one of lines) book.fold(one);
  return book;
}

describe('the book of folds', () => {
  const book = bookOf(fold(50, [20, 30]), fold(51, [10, 20]), fold(52, [10, 20], { part: 2 }));

  it('finds the run of a line, and none for its ends', () => {
    expect([10, 11, 19, 20, 21, 29, 30].map((seq) => book.of(seq)?.event)).toEqual([
      ...[undefined, 'evt-51', 'evt-51', undefined],
      ...['evt-50', 'evt-50', undefined],
    ]);
  });

  it('finds a run that has a line in a stretch', () => {
    expect(book.within({ after: 0, before: 11 })).toBeUndefined();
    expect(book.within({ after: 0, before: 12 })?.event).toBe('evt-51');
    expect(book.within({ after: 19, before: 21 })).toBeUndefined();
    expect(book.within({ after: 19, before: 100 })?.event).toBe('evt-50');
    expect(book.within({ after: 29, before: 100 })).toBeUndefined();
  });

  it('knows which wait for their space to be given back, also when it was put aside', () => {
    const again = new FoldBook();
    for (const piece of book.save()) again.load(piece);
    expect(again.due().map(({ event }) => event)).toEqual(['evt-51', 'evt-50']);
    again.fold(line(53, { pruned: { freed_bytes: 1, store_bytes: 1 } }));
    expect(again.due()).toEqual([]);
    again.fold(fold(54, [30, 40]));
    expect(again.due().map(({ event }) => event)).toEqual(['evt-54']);
    expect(again.list()).toHaveLength(3);
  });
});
