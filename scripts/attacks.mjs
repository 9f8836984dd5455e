/**
 * Tries the attacks of the threat model on the built daemon, each in a booby-trapped project of its own, runs
 * the tests that show the others, and prints what became of each. Ends with 0 only if all were refused.
 *   npm run attacks [-- --only T1,T2] [-- --seconds 30] [-- --no-tests]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CASES } from '../test/attacks/all.mjs';
import { tryAttack } from '../test/attacks/run-case.mjs';
import { OPEN, TESTS } from '../test/attacks/shown-elsewhere.mjs';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    /** How long a race is run. */
    seconds: { type: 'string', default: '30' },
    'no-tests': { type: 'boolean', default: false },
  },
});
const only = values.only?.split(',');
const isWanted = ({ id }) => only === undefined || only.includes(id);
const begun = performance.now();
const rows = [];

function tell(row) {
  rows.push(row);
  const { id, outcome, what, where, why = '' } = row;
  console.log(`${id.padEnd(4)} ${outcome.padEnd(8)} ${what}  [${where}]${why && `\n     ${why}`}`);
}

for (const attack of CASES.filter(isWanted)) {
  const row = { id: attack.id, what: attack.what, where: 'test/attacks' };
  const missing = attack.needs?.();
  if (missing !== undefined) {
    tell({ ...row, outcome: 'skipped', why: missing });
    continue;
  }
  try {
    await tryAttack(attack, { seconds: Number(values.seconds) });
    tell({ ...row, outcome: 'refused' });
  } catch (error) {
    tell({ ...row, outcome: 'FAILED', why: error.stack });
  }
}

const tests = values['no-tests'] ? [] : TESTS.filter(isWanted);
if (tests.length > 0) {
  const results = runTests(tests);
  for (const { id, what, file, test } of tests) {
    const found = results.filter((one) => one.file === file && one.title.includes(test));
    tell({ id, what, where: file, ...judge(found, test) });
  }
}
for (const { id, reason } of OPEN.filter(isWanted))
  console.log(`${id.padEnd(4)} open     ${reason}`);

const count = (outcome) => rows.filter((row) => row.outcome === outcome).length;
const reasons = [
  ...new Set(rows.flatMap(({ outcome, why }) => (outcome === 'skipped' ? [why] : []))),
];
console.log(
  `${rows.length} attacks tried, ${count('refused')} refused, ${count('FAILED')} got through, ` +
    `${count('skipped')} skipped${reasons.length > 0 ? ` (${reasons.join('; ')})` : ''}, ` +
    `${Math.round((performance.now() - begun) / 1000)} s`,
);
process.exit(count('FAILED') === 0 ? 0 : 1);

/** Every wanted test once, by one run of jest. */
function runTests(wanted) {
  const folder = mkdtempSync(join(tmpdir(), 'smithyd-attacks-'));
  const output = join(folder, 'results.json');
  const titles = [...new Set(wanted.map(({ test }) => escaped(test)))].join('|');
  const files = [...new Set(wanted.map(({ file }) => file))];
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--runTestsByPath'];
  const report = ['--json', `--outputFile=${output}`, '--silent', '-t', titles];
  spawnSync(process.execPath, [...jest, ...files, ...report], { cwd: REPOSITORY, stdio: 'ignore' });
  const { testResults } = JSON.parse(readFileSync(output, 'utf8'));
  rmSync(folder, { recursive: true, force: true });
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({
      file: relative(REPOSITORY, name),
      title: fullName,
      status,
    })),
  );
}

function judge(found, test) {
  if (found.length === 0) return { outcome: 'FAILED', why: `there is no test "${test}"` };
  const failed = found.filter(({ status }) => status === 'failed');
  if (failed.length > 0) return { outcome: 'FAILED', why: failed[0].title };
  if (found.every(({ status }) => status !== 'passed')) {
    return { outcome: 'skipped', why: 'its test cannot run on this machine' };
  }
  return { outcome: 'refused' };
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
}
