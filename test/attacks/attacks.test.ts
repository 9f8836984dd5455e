import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { REPOSITORY } from '../support/daemon-project.js';
import { CASES } from './all.mjs';
import { tryAttack } from './run-case.mjs';
import { OPEN, TESTS } from './shown-elsewhere.mjs';

const LAST = 56;

describe('the threat model', () => {
  const numbers = Array.from({ length: LAST }, (_, at) => `T${at + 1}`);

  it.each(numbers)('%s is tried, shown by a test or listed with a reason', (id) => {
    const found = [...CASES, ...TESTS, ...OPEN].filter((entry) => entry.id === id);
    expect(found).not.toEqual([]);
  });

  it('has no other numbers', () => {
    const ids = [...CASES, ...TESTS, ...OPEN].map(({ id }) => id);
    expect(ids.filter((id) => !numbers.includes(id))).toEqual([]);
  });

  it.each([...new Set(TESTS.map(({ file }) => file))])('names tests that are in %s', (file) => {
    expect(existsSync(join(REPOSITORY, file))).toBe(true);
  });

  it('gives a reason of some words for whatever is open', () => {
    for (const { reason } of OPEN) expect(reason.split(' ').length).toBeGreaterThan(4);
  });

  it('is tried by the command of the README', () => {
    const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts['attacks']).toContain('scripts/attacks.mjs');
  });
});

describe('an attack is refused', () => {
  for (const attack of CASES.filter(({ slow }) => slow !== true)) {
    const isPossible = attack.needs?.() === undefined;
    (isPossible ? it : it.skip)(`${attack.id}: ${attack.what}`, () => tryAttack(attack), 120_000);
  }
});
