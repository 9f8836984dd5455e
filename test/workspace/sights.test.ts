import { describe, expect, it } from '@jest/globals';
import type { LedgerEntry, NewEvent } from '../../src/core/ledger.js';
import { Sights } from '../../src/workspace/sights.js';

const RULES = { config: { trackHidden: 'project', include: [], exclude: [] }, ignoreCase: false };

const saved = (commit: string, seen: object): NewEvent =>
  ({ fact: { what: 'saved', commit, kind: 'manual' }, ...seen }) as unknown as NewEvent;
const snapshot = (commit: string, seen: object): NewEvent =>
  ({ snapshot: { commit, reason: 'asked', ...seen }, rules: RULES }) as unknown as NewEvent;

/** As a daemon writes and takes in what happens, and what the next one makes of the lines. */
function live() {
  const sights = new Sights();
  const lines: string[] = [];
  return {
    sights,
    lines,
    append: (event: NewEvent): void => {
      const [told] = sights.withNews([event]);
      lines.push(JSON.stringify(told));
      sights.fold(told as unknown as LedgerEntry);
    },
    again: (): Sights => {
      const other = new Sights();
      for (const line of lines) other.fold(JSON.parse(line) as LedgerEntry);
      return other;
    },
  };
}

describe('what a checkpoint could see', () => {
  it('is told once, and the lines lead to the same again', () => {
    const { append, again, lines, sights } = live();
    append(saved('a', { rules: RULES, skipped: ['pipe'] }));
    append(saved('b', { rules: RULES, skipped: ['pipe'] }));
    append(snapshot('c', { skipped: ['pipe'] }));
    append(saved('d', { rules: { ...RULES, ignoreCase: true }, skipped: [] }));
    append(saved('e', { rules: RULES, skipped: [] }));
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.map(({ rules, skipped }) => [rules !== undefined, skipped])).toEqual([
      [true, ['pipe']],
      [false, undefined],
      [false, undefined],
      [true, []],
      [true, undefined],
    ]);
    expect(JSON.stringify(again().save())).toBe(JSON.stringify(sights.save()));
    for (const commit of ['a', 'b', 'c']) {
      expect(sights.at(commit)).toEqual({ rules: RULES, skipped: ['pipe'] });
    }
    expect(sights.at('e')).toEqual({ rules: RULES, skipped: [] });
  });

  it('is the same when lines tell the same rules twice', () => {
    const sights = new Sights();
    for (const commit of ['a', 'b']) {
      const line = JSON.stringify(saved(commit, { rules: RULES, skipped: [] }));
      sights.fold(JSON.parse(line) as LedgerEntry);
    }
    expect(sights.at('b')).toBe(sights.at('a'));
  });
});
