import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatChangeCursor, parseChangeCursor } from '../../src/core/changes/change-cursor.js';
import { Ring } from '../../src/core/changes/streams.js';

const filled = (capacity: number, count: number) => {
  const ring = new Ring<{ at: number }>(capacity);
  for (let at = 0; at < count; at++) ring.add({ at });
  return ring;
};
const times = ({ entries }: { entries: readonly { at: number }[] }) => entries.map(({ at }) => at);

describe('a ring', () => {
  it('gives what came after a position', () => {
    const ring = filled(10, 5);
    expect(times(ring.since(0))).toEqual([0, 1, 2, 3, 4]);
    expect(times(ring.since(3))).toEqual([3, 4]);
    expect(ring.since(5)).toEqual({ entries: [], evicted: 0 });
  });

  it('counts what came after a position and is gone', () => {
    const ring = filled(3, 10);
    expect(ring.since(0)).toEqual({ entries: [{ at: 7 }, { at: 8 }, { at: 9 }], evicted: 7 });
    expect(ring.since(8)).toEqual({ entries: [{ at: 8 }, { at: 9 }], evicted: 0 });
    expect(ring.total).toBe(10);
  });

  it('has nothing after a position that it never had', () => {
    expect(filled(3, 2).since(100)).toEqual({ entries: [], evicted: 0 });
  });

  it('finds the position of a time', () => {
    const ring = filled(3, 10);
    expect(ring.positionAt(-1)).toBe(7);
    expect(ring.positionAt(8)).toBe(9);
    expect(ring.positionAt(100)).toBe(10);
  });

  it('is the end of a list, whatever is added and asked', () => {
    const numbers = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), numbers, numbers, (capacity, count, from) => {
        const { entries, evicted } = filled(capacity, count).since(from);
        const all = Array.from({ length: count }, (_, at) => at).slice(from);
        expect(times({ entries })).toEqual(all.slice(-capacity));
        expect(entries.length + evicted).toBe(all.length);
      }),
    );
  });
});

const number = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const cursor = fc.record({
  seq: number,
  run: fc.string({ unit: fc.constantFrom('0', '9', 'a', 'f'), minLength: 1, maxLength: 32 }),
  observed: number,
  positions: fc.record({ console: number, network: number, websocket: number, actions: number }),
  at: fc.integer({ min: 0, max: 8.64e15 }),
});

describe('a cursor', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(cursor, (one) => {
        expect(parseChangeCursor(formatChangeCursor(one))).toEqual(one);
      }),
    );
  });

  it.each([
    '',
    'c1',
    'c1.ab',
    'c1.ab.1.2.3.4.5.6',
    'c1.ab.1.2.3.4.5.6.7.8',
    'c1.xyz.1.2.3.4.5.6.7',
    'c1.ab.1.2.3.4.5.6.-7',
    'c1.ab.1.2.3.4.5.6.zzzzzzzzzzzz',
    'c1.ab.1.2.3.4.5.6.2gosa7pa2gv',
    'c2.ab.1.2.3.4.5.6.7',
    '17',
    'before_refactor',
  ])('is not %j', (text) => {
    expect(parseChangeCursor(text)).toBeUndefined();
  });

  it('is never made of garbage', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = parseChangeCursor(`c1.${text}`);
        expect(read === undefined || Number.isSafeInteger(read.seq)).toBe(true);
      }),
    );
  });
});
