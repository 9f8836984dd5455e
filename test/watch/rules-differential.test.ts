import { afterAll, describe, expect, it } from '@jest/globals';
import { createComparison, type Difference } from '../support/git-ignore.js';
import { randomCase, seeded } from '../support/ignore-cases.js';

/** `SWEEP=200000` compares that many pairs; `SEED` starts elsewhere. */
const PAIRS = Number(process.env['SWEEP'] ?? 20_000);
const SEED = Number(process.env['SEED'] ?? 1);
const PATHS_PER_CASE = 45;

describe('the git layer of the rules', () => {
  const comparison = createComparison();
  afterAll(() => comparison.close());

  it(
    'decides every generated path as git does, by the same line of the same file',
    () => {
      let pairs = 0;
      const found: (Difference & { seed: number; files: object })[] = [];
      for (let seed = SEED; pairs < PAIRS && found.length < 20; seed += 1) {
        const given = randomCase(seeded(seed), PATHS_PER_CASE);
        const { pairs: compared, differences } = comparison.compare(given);
        pairs += compared;
        const { ignoreFiles, infoExclude, globalExcludes, ignoreCase } = given;
        const files = {
          ignoreCase,
          infoExclude,
          globalExcludes,
          ...Object.fromEntries(ignoreFiles),
        };
        for (const difference of differences) found.push({ seed, ...difference, files });
      }
      expect(found).toEqual([]);
      expect(pairs).toBeGreaterThanOrEqual(PAIRS);
    },
    Math.max(60_000, PAIRS * 5),
  );
});
