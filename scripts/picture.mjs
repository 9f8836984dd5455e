/** Draws docs/at-work.svg from a real run of the built command line in a fresh project. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const CLI = resolve('dist/cli/main.js');
const base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-picture-'));
const project = join(base, 'shop');
mkdirSync(join(project, 'src'), { recursive: true });
const put = (path, text) => writeFileSync(join(project, path), text);
put('README.md', '# Shop\n');
put('src/cart.ts', 'export const total = (items) => items.length;\n');

const lines = [];
function smithyd(...words) {
  lines.push(`$ smithyd ${words.map((word) => (/\s/u.test(word) ? `"${word}"` : word)).join(' ')}`);
  const { stdout, stderr } = spawnSync(process.execPath, [CLI, ...words], {
    cwd: project,
    encoding: 'utf8',
  });
  lines.push(...`${stdout}${stderr}`.replaceAll(base, '~').trimEnd().split('\n'), '');
}
function says(text) {
  lines.push(`# ${text}`);
}

try {
  smithyd('start');
  says('before the agent works: one checkpoint of everything');
  smithyd('message', 'Make the cart count prices');
  put(
    'src/cart.ts',
    'export const total = (items) => items.reduce((sum, { price }) => sum + price, 0);\n',
  );
  put('src/tax.ts', 'export const tax = 0.19;\n');
  rmSync(join(project, 'README.md'));
  says('the agent has changed one file, made one and deleted one');
  smithyd('session');
  smithyd('diff', 'main', '--side-by-side', '--file', 'src/tax.ts');
  smithyd('undo');
  smithyd('redo');
  smithyd('approve', '-m', 'The cart counts prices');
  smithyd('log');
} finally {
  spawnSync(process.execPath, [CLI, 'stop'], { cwd: project });
  rmSync(base, { recursive: true, force: true });
}

const ROW = 19;
const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const colourOf = (line) => {
  if (line.startsWith('$')) return '#7ee787';
  return line.startsWith('#') ? '#8b949e' : '#e6edf3';
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
