import { describe, expect, it } from '@jest/globals';
import { changedLines, rangesOf } from '../../src/core/changed-lines.js';
import { createTextDiff } from '../../src/diff/text-diff.js';

const bytes = (text: string) => ({ mode: '100644' as const, content: Buffer.from(text) });

/** Each character is a line. */
function told(before: string | null, after: string | null): string {
  const lines = (text: string): string => Array.from(text, (one) => `${one}\n`).join('');
  const diff = createTextDiff().file({
    path: 'a',
    change: before === null ? 'added' : after === null ? 'deleted' : 'modified',
    before: before === null ? null : bytes(lines(before)),
    after: after === null ? null : bytes(lines(after)),
  });
  const { side, ranges } = changedLines(diff);
  return [side, ...ranges.map(({ first, last }) => `${first}-${last}`)].join(' ');
}

describe('changed lines', () => {
  it('are the new ones, in the content after', () => {
    expect(told('abc', 'aXc')).toBe('after 2-2');
    expect(told('abc', 'abXYc')).toBe('after 3-4');
    expect(told('abcdefghijklmnop', 'Xbcdefghijklmnop!')).toBe('after 1-1 17-17');
    expect(told(null, 'abc')).toBe('after 1-3');
    expect(told('', 'ab')).toBe('after 1-2');
  });

  it('are the old ones where lines only went', () => {
    expect(told('abc', 'ac')).toBe('before 2-2');
    expect(told('abcdefghijklmnop', 'bcdefghijklmno')).toBe('before 1-1 16-16');
    expect(told('abc', null)).toBe('before 1-3');
    expect(told('ab', '')).toBe('before 1-2');
  });

  it('of both kinds also are the places where lines went', () => {
    expect(told('abcdefghijklmnop', 'acdefghijklmnoX')).toBe('after 2-1 15-15');
  });

  it('are none when nothing changed', () => {
    expect(told('abc', 'abc')).toBe('after');
  });

  it('of the ledger are numbers, whatever else a newer daemon writes there', () => {
    expect(rangesOf([3, 'x', null, 5])).toEqual([
      { first: 3, last: 3 },
      { first: 5, last: 5 },
    ]);
  });
});
