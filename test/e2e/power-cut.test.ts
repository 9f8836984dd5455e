import { describe, expect, it } from '@jest/globals';
import { CLI } from '../support/daemon-project.js';
import { powerCuts, whyNoPowerCut } from '../support/power-cut.mjs';
import { plainEnvironment } from '../support/processes.js';
import { randomNumbers } from '../support/random-numbers.mjs';

const why = whyNoPowerCut();
const cutting = why === undefined ? it : it.skip;

describe(`a power cut${why === undefined ? '' : ` (not here: ${why})`}`, () => {
  // Twenty take `node scripts/power-cut.mjs 20`.
  cutting(
    'in the middle of a call costs no acknowledged checkpoint',
    async () => {
      const seed = 20_261;
      const report = await powerCuts({
        rounds: 2,
        seed,
        cli: CLI,
        env: plainEnvironment(),
        random: randomNumbers(seed),
      });
      expect(report.rounds).toBe(2);
      expect(report.acknowledged).toBeGreaterThan(2);
    },
    300_000,
  );
});
