import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTextDiff } from '../../src/diff/text-diff.js';
import { content, text, versions } from '../support/diff-cases.js';
import { gitScratch } from '../support/git-patch.js';

const scratch = gitScratch();
afterAll(() => scratch.end());

const diffs = createTextDiff();
const encode = (given: string): Uint8Array => new TextEncoder().encode(given);
const decode = (given: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(given);
const mergeTexts = (base: string, ours: string, theirs: string) => {
  const result = diffs.merge(encode(base), encode(ours), encode(theirs));
  return { ...result, content: decode(result.content) };
};
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('a three-way merge', () => {
  it('is what git merges, and clean when git is', () => {
    let clean = 0;
    fc.assert(
      fc.property(versions, ({ base, ours, theirs }) => {
        const side = (given: string) => ({ mode: '100644' as const, content: encode(given) });
        scratch.write('base', side(base));
        scratch.write('ours', side(ours));
        scratch.write('theirs', side(theirs));
        const git = scratch.git(['merge-file', '-p', 'ours', 'base', 'theirs']);
        const mine = mergeTexts(base, ours, theirs);
        expect(mine.clean).toBe(git.status === 0);
        if (!mine.clean) return;
        clean += 1;
        expect(mine.content).toBe(git.out);
      }),
      { numRuns: 80 },
    );
    // A generator that only makes conflicts would prove nothing.
    expect(clean).toBeGreaterThan(5);
  });

  it('takes the only change, whichever side made it and whatever the bytes are', () => {
    fc.assert(
      fc.property(content, content, (base, other) => {
        for (const [ours, theirs] of [
          [other, base],
          [base, other],
          [other, other],
        ] as const) {
          const { clean, content: merged } = diffs.merge(base, ours, theirs);
          expect([clean, hex(merged)]).toEqual([true, hex(other)]);
        }
      }),
    );
  });

  it('does not depend on which side is ours when it is clean', () => {
    fc.assert(
      fc.property(text, text, text, (base, ours, theirs) => {
        const one = mergeTexts(base, ours, theirs);
        const two = mergeTexts(base, theirs, ours);
        expect(one.conflicts).toBe(two.conflicts);
        if (one.clean) expect(one.content).toBe(two.content);
      }),
    );
  });

  it('keeps ours where both changed the same line, and merges the rest', () => {
    const base = '1\n2\n3\n4\n5\n';
    expect(mergeTexts(base, '1\nours\n3\n4\n5\n', '1\ntheirs\n3\n4\nfive')).toEqual({
      clean: false,
      conflicts: 1,
      content: '1\nours\n3\n4\nfive',
    });
  });

  it('keeps carriage returns and a missing final newline', () => {
    expect(mergeTexts('a\r\nb\r\nc\r\nd', 'A\r\nb\r\nc\r\nd', 'a\r\nb\r\nc\r\nD').content).toBe(
      'A\r\nb\r\nc\r\nD',
    );
  });

  it.each([
    ['binary', Uint8Array.of(0, 1), Uint8Array.of(0, 2)],
    ['no UTF-8', Uint8Array.of(0xe9, 10, 10, 97), Uint8Array.of(0xe9, 10, 10, 98)],
    ['too large', encode('x\n'.repeat(20_001)), encode('y\n'.repeat(20_001))],
  ])('of content that is %s is a conflict that keeps ours', (_, ours, theirs) => {
    const result = diffs.merge(encode('base\n'), ours, theirs);
    expect(result).toEqual({ clean: false, conflicts: 1, content: ours });
  });

  it('keeps ours where the sides kept different parts of many equal lines', () => {
    const [left, right] = ['{\n'.repeat(900), '}\n'.repeat(900)];
    const around = (middle: string): string => `top\n${middle}end\n`;
    expect(mergeTexts(around(left + right), around(left), around(right))).toEqual({
      clean: false,
      conflicts: 1,
      content: around(left),
    });
  });
});
