import { describe, expect, it } from '@jest/globals';
import type { LedgerEntry } from '../../src/core/ledger.js';
import { EditBook, type EditBookDeps } from '../../src/workspace/edit-book.js';

/** A ledger whose second line is damaged. */
const ledger = {
  read: ({ after = 0 }: { after?: number }) =>
    Promise.resolve([1, 3].filter((seq) => seq > after).map((seq) => ({ seq }) as LedgerEntry)),
};

describe('a line of an edit', () => {
  it('is not taken for the next one when it is damaged', async () => {
    const book = new EditBook({ ledger } as unknown as EditBookDeps);
    expect(await book.entry(1)).toEqual({ seq: 1 });
    expect(await book.entry(2)).toBeUndefined();
    expect(await book.entry(3)).toEqual({ seq: 3 });
  });
});
