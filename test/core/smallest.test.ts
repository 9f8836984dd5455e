import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { smallestFirst } from '../../src/core/smallest.js';

const keyed = (keys: readonly string[]): { key: string }[] => keys.map((key) => ({ key }));

describe('taking the smallest first', () => {
  it('gives the order that sorting gives', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (keys) => {
        const taken = [...smallestFirst(keyed(keys))].map(({ key }) => key);
        expect(taken).toEqual([...keys].sort((a, b) => (a < b ? -1 : Number(a > b))));
      }),
    );
  });

  it('compares far less often than sorting when only a few are taken', () => {
    let compared = 0;
    const count = 20_000;
    const counting = Array.from({ length: count }, (_, index) => ({
      get key() {
        compared += 1;
        return String((index * 7919) % count).padStart(6, '0');
      },
    }));
    const taken: string[] = [];
    for (const { key } of smallestFirst(counting)) {
      taken.push(key);
      if (taken.length === 2) break;
    }
    expect(taken).toEqual(['000000', '000001']);
    // Sorting needs about 14 comparisons of two keys for each.
    expect(compared).toBeLessThan(8 * count);
  });
});
