/** Draws docs/at-work.svg from a real run of the README's tour on the built command line. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readTour, runTour } from '../test/support/tour.mjs';

const folder = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-picture-'));
const ran = await runTour({
  steps: readTour('README.md'),
  folder,
  cli: resolve('dist/cli/main.js'),
}).finally(() => rmSync(folder, { recursive: true, force: true, maxRetries: 50 }));
const lines = ran.flatMap(({ command, printed }) => {
  const text = printed.replaceAll(folder, '~');
  return [`$ ${command}`, ...(text === '' ? [] : [...text.split('\n'), ''])];
});

const ROW = 19;
const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const colourOf = (line) => {
  if (line.startsWith('$')) return '#7ee787';
  return /^!|^unknown/u.test(line) ? '#f0883e' : '#e6edf3';
};
const rows = lines.map(
  (line, at) =>
    `<text x="20" y="${40 + at * ROW}" fill="${colourOf(line)}" xml:space="preserve">${escape(line)}</text>`,
);
const width = 40 + 8.5 * Math.max(...lines.map((line) => line.length));
const height = 50 + lines.length * ROW;
writeFileSync(
  'docs/at-work.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
<rect width="100%" height="100%" rx="10" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`,
);
console.log(lines.join('\n'));
