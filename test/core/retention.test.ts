import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fullness, isWorthPruning, isWorthThinning, thin } from '../../src/core/retention.js';
import type { CommitId } from '../../src/core/model.js';
import { snapshotId, type Snapshot, type SnapshotReason } from '../../src/core/snapshots.js';

const RULE = { keepLast: 10, keepEvery: 10 };
const FREE = { isBookmarked: () => false, isInUse: () => false, isUnattended: false };

function shots(count: number, reason: SnapshotReason = 'events'): Snapshot[] {
  return Array.from({ length: count }, (_, at) => ({
    id: snapshotId(at + 1),
    ts: '2026-11-16T00:00:00.000Z',
    commit: `${at}`.padStart(40, '0') as CommitId,
    ...{ name: null, reason, base: at, files: 1, env: {}, seeds: {}, tools: {}, tar: null },
  }));
}
const numbers = (snapshots: readonly Snapshot[]) => snapshots.map(({ id }) => Number(id.slice(5)));

describe('of many snapshots', () => {
  it('the last ten and every tenth older one stay', () => {
    const all = shots(35);
    const { go, stay } = thin(all, RULE, FREE);
    const left = all.filter((one) => !go.includes(one));
    expect(numbers(left)).toEqual([10, 20, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35]);
    expect(stay).toEqual({ bookmarked: 0, in_use: 0, newest: 10, every: 2, asked_for: 0 });
  });

  it('none goes while there are no more than ten', () => {
    expect(thin(shots(10), RULE, FREE).go).toEqual([]);
    expect(thin([], RULE, FREE).go).toEqual([]);
  });

  it('what has a name or is being read stays', () => {
    const { go, stay } = thin(shots(30), RULE, {
      ...FREE,
      isBookmarked: ({ id }) => id === 'snap-0003',
      isInUse: ({ id }) => id === 'snap-0004',
    });
    expect(numbers(go)).not.toContain(3);
    expect(numbers(go)).not.toContain(4);
    expect(stay).toMatchObject({ bookmarked: 1, in_use: 1 });
  });

  it('those made by hand go only when somebody asks', () => {
    const all = [...shots(15, 'manual'), ...shots(30).slice(15)];
    expect(numbers(thin(all, RULE, { ...FREE, isUnattended: true }).go)).toEqual([16, 17, 18, 19]);
    expect(thin(all, RULE, FREE).go).toHaveLength(18);
  });

  it('a second look takes nothing more, and what stays is bounded', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        (count, keepLast, keepEvery) => {
          const all = shots(count);
          const rule = { keepLast, keepEvery };
          const { go } = thin(all, rule, FREE);
          const left = all.filter((one) => !go.includes(one));
          expect(thin(left, rule, FREE).go).toEqual([]);
          expect(left.length).toBeLessThanOrEqual(keepLast + Math.ceil(count / keepEvery));
          expect(left.slice(-keepLast)).toEqual(all.slice(-keepLast));
        },
      ),
    );
  });

  it('it is worth a line when ten can go', () => {
    expect(isWorthThinning(thin(shots(19), RULE, FREE))).toBe(false);
    expect(isWorthThinning(thin(shots(22), RULE, FREE))).toBe(true);
  });
});

describe('the store is written anew', () => {
  const look = {
    ...{ bytes: 100, limitBytes: 1000, thinned: 0, folded: 0 },
    ...{ bytesThen: undefined, sinceMs: 2 * 60 * 60_000 },
  };

  it('when many snapshots went, and not for a few', () => {
    expect(isWorthPruning({ ...look, thinned: 49 })).toBe(false);
    expect(isWorthPruning({ ...look, thinned: 50 })).toBe(true);
  });

  it('when a run was folded', () => {
    expect(isWorthPruning({ ...look, folded: 1 })).toBe(true);
  });

  it('when it is nearly full and something may have changed', () => {
    expect(isWorthPruning({ ...look, bytes: 800 })).toBe(true);
    expect(isWorthPruning({ ...look, bytes: 800, bytesThen: 790 })).toBe(false);
    expect(isWorthPruning({ ...look, bytes: 800, bytesThen: 790, thinned: 1 })).toBe(true);
    expect(isWorthPruning({ ...look, bytes: 830, bytesThen: 790 })).toBe(true);
  });

  it('at most once an hour', () => {
    expect(isWorthPruning({ ...look, thinned: 500, sinceMs: 59 * 60_000 })).toBe(false);
  });

  it('and says so when that cannot help', () => {
    expect(fullness(799, 1000)).toBeUndefined();
    expect(fullness(1200, 1000)).toContain('120 %');
    expect(fullness(1, 0)).toContain('100 %');
  });
});
