import { afterAll, describe, expect, it } from '@jest/globals';
import { createComparison, type Difference } from '../support/git-ignore.js';
import { projectCase, randomCase, seeded, type IgnoreCase } from '../support/ignore-cases.js';
import { PROJECT_IGNORES } from '../support/project-ignores.js';

/** `SWEEP=200000` compares that many pairs; `SEED` starts elsewhere. */
const PAIRS = Number(process.env['SWEEP'] ?? 8_000);
const SEED = Number(process.env['SEED'] ?? 1);
const PATHS_PER_CASE = 45;

interface Finding extends Difference {
  readonly seed: number;
  readonly files: object;
}

describe('the git layer of the rules', () => {
  const comparison = createComparison();
  afterAll(() => comparison.close());

  function compare(seed: number, given: IgnoreCase) {
    const { pairs, ignored, differences } = comparison.compare(given);
    const { ignoreFiles, infoExclude, globalExcludes, ignoreCase } = given;
    const files = { ignoreCase, infoExclude, globalExcludes, ...Object.fromEntries(ignoreFiles) };
    const findings = differences.map((difference): Finding => ({ seed, ...difference, files }));
    return { pairs, ignored, findings };
  }

  it(
    'decides every generated path as git does, by the same line of the same file',
    () => {
      let pairs = 0;
      let ignored = 0;
      const found: Finding[] = [];
      for (let seed = SEED; pairs < PAIRS && found.length < 20; seed += 1) {
        const result = compare(seed, randomCase(seeded(seed), PATHS_PER_CASE));
        pairs += result.pairs;
        ignored += result.ignored;
        found.push(...result.findings);
      }
      expect(found).toEqual([]);
      expect(pairs).toBeGreaterThanOrEqual(PAIRS);
      // A generator that hits nothing, or everything, would prove nothing.
      expect(ignored / pairs).toBeGreaterThan(0.2);
      expect(ignored / pairs).toBeLessThan(0.8);
    },
    Math.max(60_000, PAIRS * 5),
  );

  it.each(Object.entries(PROJECT_IGNORES))('reads the ignore file of a %s project', (_, text) => {
    const found: Finding[] = [];
    for (let seed = SEED; seed < SEED + 8; seed += 1) {
      found.push(...compare(seed, projectCase(seeded(seed), text)).findings);
    }
    expect(found).toEqual([]);
  });
});
