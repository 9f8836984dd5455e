import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { REPOSITORY } from '../support/daemon-project.js';

/** Edge cases that are promised an outcome, by their numbers. */
const SCENARIOS = Array.from({ length: 90 }, (_, at) => at + 1);

/** What does not hold to the letter on the system the tests run on, and why. */
const EXCEPTIONS: Readonly<Record<number, string>> = {
  18: 'Long paths of Windows were never run; paths of 600 characters are tested on Linux.',
  19: 'No disk without case can be mounted here; the rename is tested on one with case.',
  20: 'No disk without case can be mounted here; on one with case both are kept.',
  36: 'An ignored file that is edited by name is tracked from then on, not for that edit alone.',
  37: 'What git tracks by force stays out unless `include` names it: the user’s index has no say.',
  39: 'Over the ceiling of the store a checkpoint is refused as a whole, instead of leaving files out.',
  42: 'Why a secret is left out is told by `status --why`; there is no event about it.',
  57: 'An exact restore takes a person’s edit too, saved first; `keep_external` leaves and names it.',
  59: 'A file that cannot be written is named, and the others are restored.',
  84: 'No cursor grows too old, for the ledger is never collected; one that cannot be followed is refused.',
  88: 'A machine cannot be put to sleep by a test: its clock is set forth and back instead.',
};

/** Folders whose tests call the built daemon. */
const END_TO_END = ['test/e2e', 'test/conformance'];
const DAEMON = /support\/(?:daemon-project|foreground|work|small-disk)\.js'/u;
/** The name of a test that begins with numbers: `'33, 34: an ignore file …`. */
const NUMBERED = /\(\s*['"`](\d{1,2}(?:, \d{1,2})*): \S/gu;

/** The numbers that tests through the daemon carry. */
function proven(): Set<number> {
  const files = END_TO_END.flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder)).map((name) => join(REPOSITORY, folder, name)),
  );
  const texts = files
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .filter((text) => DAEMON.test(text));
  const numbers = texts.flatMap((text) =>
    [...text.matchAll(NUMBERED)].flatMap(([, found = '']) => found.split(', ').map(Number)),
  );
  return new Set(numbers);
}

describe('the scenarios', () => {
  it('each have a test through the daemon that carries its number', () => {
    const found = proven();
    expect(SCENARIOS.filter((number) => !found.has(number))).toEqual([]);
    expect([...found].filter((number) => !SCENARIOS.includes(number))).toEqual([]);
  });

  it('that do not hold to the letter are named with their reason', () => {
    for (const [number, reason] of Object.entries(EXCEPTIONS)) {
      expect(SCENARIOS).toContain(Number(number));
      expect(reason).toMatch(/\.$/u);
    }
  });
});
