import { describe, expect, it } from '@jest/globals';
import { CLI } from '../support/daemon-project.js';
import { plainEnvironment } from '../support/processes.js';
import { canTrace } from '../support/strace.mjs';
import { callSweep } from './call-sweep.mjs';
import { CASES, LAST, NOT_APPLICABLE, tryFault } from './catalogue.mjs';

const place = { cli: CLI, env: plainEnvironment() };

describe('the catalogue of faults', () => {
  it('has each number once: a case, or the reason why it cannot happen', () => {
    const numbers = Array.from({ length: LAST }, (_, at) => `F${at + 1}`);
    const named = [...CASES.map(({ id }) => id), ...Object.keys(NOT_APPLICABLE)];
    const inOrder = (list: readonly string[]): string[] =>
      [...list].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
    expect(inOrder(named)).toEqual(numbers);
  });
});

// All of them take `npm run faults`.
describe('a fault', () => {
  for (const fault of CASES.filter(({ fast }) => fast === true)) {
    const why = fault.needs?.();
    const given = why === undefined ? it : it.skip;
    given(
      `${fault.id}: ${fault.what}: nothing acknowledged is lost, and work goes on`,
      async () => {
        const { outcome, reason } = await tryFault(fault, place);
        expect({ outcome, reason }).toEqual({ outcome: 'survived', reason: undefined });
      },
      120_000,
    );
  }
});

describe('a system call that fails', () => {
  const traced = canTrace() ? it : it.skip;

  traced.each(['append', 'checkpoint', 'finalize', 'restore'] as const)(
    'in the middle of %s is a typed error or no harm',
    async (operation) => {
      const errors = ['ENOSPC'];
      const report = await callSweep({ ...place, operation, errors, step: 9, most: 2 });
      expect(report.points).toBeGreaterThan(0);
    },
    120_000,
  );
});
