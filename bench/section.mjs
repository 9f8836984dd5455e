/** BENCHMARKS.md has one section per subject; each program writes its own and leaves the others. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { round } from './numbers.mjs';

const FILE = new URL('../BENCHMARKS.md', import.meta.url);

export function machine() {
  const git = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim();
  const [{ model }] = cpus();
  const memory = round(totalmem() / 2 ** 30, 0);
  return `Machine: ${model.trim()}, ${cpus().length} cores, ${memory} GiB; Node ${process.version}, ${git}, ${process.platform}; trees on ${disk()}.`;
}

/**
 * What matters of it: with `discard` every file that is replaced waits for the device; an ext4 without a
 * journal goes around the inodes of files deleted minutes ago, each time a file is made.
 */
function disk() {
  try {
    const options = ['--noheadings', '--output', 'FSTYPE,SOURCE,OPTIONS', '--target', tmpdir()];
    const [type, source, given] = execFileSync('findmnt', options, { encoding: 'utf8' })
      .trim()
      .split(/\s+/u);
    const telling = given.split(',').filter((one) => /^(discard|data=|noatime|barrier)/u.test(one));
    const journal = type === 'ext4' && !hasJournal(source) ? ' without a journal' : '';
    return [`${type}${journal}`, ...telling].join(' with ');
  } catch {
    return 'a disk of an unknown kind';
  }
}

function hasJournal(source) {
  const known = existsSync('/proc/fs/jbd2') ? readdirSync('/proc/fs/jbd2') : [];
  return known.some((name) => name.startsWith(`${basename(source)}-`));
}

/** Rows of cells; the first row is the heading. */
export function table([heading, ...rows]) {
  const line = heading.map(() => '---');
  return [heading, line, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

export function writeSection(title, lines) {
  const heading = `## ${title}\n\n`;
  const section = `${lines.join('\n')}\n`;
  const text = readFileSync(FILE, 'utf8');
  const [before, rest] = text.includes(heading)
    ? text.split(heading)
    : [`${text.trimEnd()}\n\n`, ''];
  const next = rest.indexOf('\n## ');
  writeFileSync(FILE, `${before}${heading}${section}${next === -1 ? '' : rest.slice(next)}`);
  execFileSync('npx', ['prettier', '--write', '--log-level', 'silent', fileURLToPath(FILE)]);
  console.log(section);
}
