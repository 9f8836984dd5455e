/**
 * Tries every fault of the catalogue on the built files and says which were survived; then fails
 * system calls of a few calls one at a time, some of them or, with --sweep, every one and nothing else.
 * Usage: npm run faults -- [--only F22,F23] [--sweep]
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { performance } from 'node:perf_hooks';
import { canTrace } from '../test/support/strace.mjs';
import { callSweep, OPERATIONS } from '../test/faults/call-sweep.mjs';
import { CASES, NOT_APPLICABLE, tryFault } from '../test/faults/catalogue.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string' }, sweep: { type: 'boolean', default: false } },
});
const only = values.sweep ? [] : values.only?.split(',');
/** Some in a run of everything: a whole sweep takes minutes. */
const COARSE_STEP = 12;
const place = {
  cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
  env: { PATH: process.env.PATH, HOME: process.env.HOME },
};
const counts = { survived: 0, failed: 0, skipped: 0 };
const skipped = new Map();
const failures = [];

function row(id, what, how, outcome, ms) {
  const time = ms === undefined ? '' : `${Math.round(ms)} ms`;
  console.log(
    `${id.padEnd(5)} ${what.padEnd(58)} ${how.padEnd(62)} ${outcome.padEnd(9)} ${time.padStart(8)}`,
  );
}

async function sweep(step) {
  for (const operation of Object.keys(OPERATIONS)) {
    const begun = performance.now();
    const report = await callSweep({ ...place, operation, step }).catch((error) => {
      counts.failed += 1;
      console.log(`sweep of ${operation}: ${error.stack}`);
    });
    if (report === undefined) continue;
    const { known, points, refused, answered, missed, restarts } = report;
    console.log(
      `sweep of ${operation}: ${points} faults in ${known} system calls (EIO and ENOSPC): ` +
        `${refused} refused with a typed error, ${answered} done all the same, ${missed} not reached; ` +
        `${restarts} refused until a new start; ${Math.round((performance.now() - begun) / 1000)} s`,
    );
  }
}

if (!values.sweep) row('id', 'what', 'how', 'outcome');
for (const fault of CASES.filter(({ id }) => only?.includes(id) ?? true)) {
  const { outcome, reason, ms } = await tryFault(fault, place);
  counts[outcome] += 1;
  if (outcome === 'skipped') skipped.set(reason, [...(skipped.get(reason) ?? []), fault.id]);
  if (outcome === 'failed') failures.push(`${fault.id}: ${reason}`);
  row(fault.id, fault.what, fault.how, outcome, ms);
}
if (only === undefined) {
  for (const [id, why] of Object.entries(NOT_APPLICABLE))
    console.log(`${id}: not applicable: ${why}`);
}
for (const failure of failures) console.log(`\n${failure}`);
for (const [reason, ids] of skipped) console.log(`skipped, ${reason}: ${ids.join(' ')}`);
if (values.only === undefined && canTrace()) await sweep(values.sweep ? 1 : COARSE_STEP);
if (!values.sweep) {
  console.log(
    `${counts.survived + counts.failed} faults tried, ${counts.survived} survived, ` +
      `${counts.skipped} skipped, ${Object.keys(NOT_APPLICABLE).length} not applicable`,
  );
}
process.exit(counts.failed === 0 ? 0 : 1);
