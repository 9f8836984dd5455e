import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldable, overlaps, type Past } from '../../src/core/folding.js';

const DAY = 24 * 60 * 60 * 1_000;
const NOW = Date.parse('2026-11-18T00:00:00.000Z');

/** A snapshot of so many days ago, made when the ledger was at `base`. */
const shot = (number: number, base: number, days: number) => ({
  id: `snap-000${number}`,
  ts: new Date(NOW - days * DAY).toISOString(),
  base,
});

/** Checkpoints at lines 10, 20, 30 and so on; every line changes something. */
function past(more: Partial<Past> = {}): Past {
  return {
    snapshots: [shot(1, 12, 9), shot(2, 25, 8), shot(3, 38, 7)],
    checkpointAt: (seq) => (seq < 10 ? undefined : { seq: seq - (seq % 10), isWhole: true }),
    olderThan: NOW - 5 * DAY,
    heldFrom: Infinity,
    told: [],
    folded: [],
    changesIn: ({ after, before }) => before - after - 1,
    ...more,
  };
}
const ends = (given: Past) => foldable(given).map(({ after, before }) => [after, before]);

describe('old runs', () => {
  it('go from the checkpoint of one snapshot to that of the next', () => {
    expect(foldable(past())).toEqual([
      { after: 10, before: 20, from: 'snap-0001', to: 'snap-0002', events: 9 },
      { after: 20, before: 30, from: 'snap-0002', to: 'snap-0003', events: 9 },
    ]);
  });

  it('end before what is younger than asked for', () => {
    expect(ends(past({ olderThan: NOW - 7.5 * DAY }))).toEqual([[10, 20]]);
    expect(ends(past({ olderThan: NOW - 30 * DAY }))).toEqual([]);
  });

  it('need two snapshots with a checkpoint of their own', () => {
    expect(ends(past({ snapshots: [shot(1, 12, 9)] }))).toEqual([]);
    expect(ends(past({ snapshots: [shot(1, 12, 9), shot(2, 15, 8)] }))).toEqual([]);
    expect(ends(past({ snapshots: [shot(1, 5, 9), shot(2, 25, 8)] }))).toEqual([]);
  });

  it('do not end at a checkpoint that left paths out', () => {
    const checkpointAt = (seq: number) => {
      return seq < 10 ? undefined : { seq: seq - (seq % 10), isWhole: seq >= 30 || seq < 20 };
    };
    expect(foldable(past({ checkpointAt }))).toEqual([
      { after: 10, before: 30, from: 'snap-0001', to: 'snap-0003', events: 19 },
    ]);
  });

  it('are left alone from the oldest edit on that can still be taken back', () => {
    expect(ends(past({ heldFrom: 25 }))).toEqual([[10, 20]]);
    expect(ends(past({ heldFrom: 20 }))).toEqual([[10, 20]]);
    expect(ends(past({ heldFrom: 19 }))).toEqual([]);
  });

  it('are left alone where a milestone tells of them', () => {
    expect(ends(past({ told: [{ after: 25, before: 27 }] }))).toEqual([[10, 20]]);
    expect(ends(past({ told: [{ after: 19, before: 21 }] }))).toEqual([
      [10, 20],
      [20, 30],
    ]);
  });

  it('are folded once, and go on where an earlier fold ended', () => {
    expect(ends(past({ folded: [{ after: 10, before: 20 }] }))).toEqual([[20, 30]]);
    // The snapshot in the middle was thinned out since.
    const snapshots = [shot(1, 12, 9), shot(3, 38, 7)];
    expect(ends(past({ snapshots, folded: [{ after: 10, before: 20 }] }))).toEqual([[20, 30]]);
    expect(ends(past({ snapshots, folded: [{ after: 10, before: 30 }] }))).toEqual([]);
    // And so did the checkpoint there, with its dialog.
    expect(ends(past({ snapshots, folded: [{ after: 10, before: 22 }] }))).toEqual([]);
  });

  it('without a change are no runs', () => {
    expect(ends(past({ changesIn: ({ after }) => (after === 10 ? 0 : 3) }))).toEqual([[20, 30]]);
  });

  it('never share a line, and once folded leave nothing more to fold', () => {
    const stretches = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 60 })),
    );
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 20 }),
        stretches,
        fc.integer({ min: 0, max: 500 }),
        (bases, spans, heldFrom) => {
          const snapshots = bases.sort((a, b) => a - b).map((base, at) => shot(at + 1, base, 9));
          const told = spans.map(([after, length]) => ({ after, before: after + length }));
          const given = past({ snapshots, told, heldFrom });
          const runs = foldable(given);
          for (const [at, run] of runs.entries()) {
            expect(run.before).toBeLessThanOrEqual(heldFrom);
            expect(told.some((span) => overlaps(span, run))).toBe(false);
            expect(runs.slice(at + 1).some((other) => overlaps(other, run))).toBe(false);
          }
          expect(foldable({ ...given, folded: runs })).toEqual([]);
        },
      ),
    );
  });
});
