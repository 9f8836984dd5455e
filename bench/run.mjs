/**
 * Measures against the targets and writes the sections of BENCHMARKS.md anew.
 *   npm run bench                                    everything
 *   npm run bench -- --only checkpoints              one section
 *   npm run bench -- --only checkpoints --files 500  on one size
 * The folder for the trees is TMPDIR.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { checkpointSection } from './checkpoint-section.mjs';
import { changesSection } from './changes.mjs';
import { editSection } from './edits.mjs';
import { foundationSection } from './foundation.mjs';
import { hooksSection } from './hooks.mjs';
import { ledgerSection } from './ledger.mjs';
import { mcpSection } from './mcp.mjs';
import { round } from './numbers.mjs';
import { machine, writeSection } from './section.mjs';
import { benchWatch } from './watch.mjs';

const SECTIONS = {
  foundation: { heading: 'Socket, command line and rules', measure: foundationSection },
  watching: {
    heading: 'Watching',
    measure: ({ sizes }) => benchWatch({ idle: true, ...(sizes && { sizes }) }),
  },
  checkpoints: { heading: 'Checkpoints', measure: checkpointSection },
  edits: { heading: 'Edits', measure: editSection },
  changes: { heading: 'What happened', measure: changesSection },
  hooks: { heading: 'Git hooks', measure: hooksSection },
  ledger: { heading: 'Ledger', measure: ledgerSection },
  mcp: { heading: 'Model tools', measure: mcpSection },
};

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, files: { type: 'string' } },
});
for (const name of values.only ?? []) {
  if (!(name in SECTIONS)) throw new Error(`There is no section ${name}: ${Object.keys(SECTIONS)}`);
}
const sizes = values.files?.split(',').map(Number);

for (const name of values.only ?? Object.keys(SECTIONS)) {
  const { heading, measure } = SECTIONS[name];
  const before = loadavg()[0];
  const lines = await measure({ sizes, say: (text) => console.error(`${heading}: ${text}`) });
  const load = `Load average ${round(before, 1)} before and ${round(loadavg()[0], 1)} after.`;
  const head = `Written by \`npm run bench -- --only ${name}\`. ${machine()} ${load}`;
  writeSection(heading, [head, '', ...lines]);
}
