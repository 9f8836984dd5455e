import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { didYouMean, nearest } from '../../src/core/nearest.js';

const KNOWN = ['status', 'start', 'stop', 'config get', 'config set', 'restore'];

describe('a name that does not exist', () => {
  it.each([
    ['stauts', 'status'],
    ['STATUS', 'status'],
    ['statsu', 'status'],
    ['restor', 'restore'],
    ['conf', 'config get'],
    ['config gt', 'config get'],
  ])('%s is taken for %s', (typed, meant) => {
    expect(nearest(typed, KNOWN)).toContain(meant);
  });

  it('is taken for nothing when it is like none', () => {
    expect(nearest('zzzzzzzzzz', KNOWN)).toEqual([]);
    expect(didYouMean([])).toBeUndefined();
  });

  it('gets the best guess first and at most three', () => {
    expect(nearest('stop', KNOWN)[0]).toBe('stop');
    expect(nearest('st', ['sa', 'sb', 'sc', 'sd', 'se'])).toHaveLength(3);
  });

  it('gets known names only, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (typed) => {
        for (const name of nearest(typed, KNOWN)) expect(KNOWN).toContain(name);
      }),
    );
  });

  it('is found again after one letter was lost', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), fc.nat(), (name, at) => {
        const cut = at % name.length;
        expect(nearest(name.slice(0, cut) + name.slice(cut + 1), KNOWN)).toContain(name);
      }),
    );
  });

  it('is asked back as a question', () => {
    expect(didYouMean(['a', 'b'])).toBe('Did you mean "a" or "b"?');
  });
});
