/**
 * Our ignore rules against the `ignore` package: how many of the same questions, chosen where the two
 * differ, each answers otherwise than git.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ignore from 'ignore';
import { createRules } from '../dist/core/rules.js';

const PATTERNS = [
  ...['*.log', 'build/', '/root-only', 'a**/b', 'caf?', 'caf[!a]', '!keep.log', '*.[oa]', 'x/**/y'],
  ...['**/deep', 'tmp*', 'doc/*.txt', '[A-C]*', 'end ', 'q\\?', '*~', '.cache', 'n[0-9]*'],
];
const NAMES = [
  'a.log',
  'keep.log',
  'café',
  'cafe',
  'b',
  'aXb',
  'deep',
  'tmp1',
  'y',
  'x.o',
  'n7',
  'B',
  'q?',
];

export function measureRules() {
  const paths = NAMES.flatMap((name) => [name, `aX/${name}`, `x/p/q/${name}`, `doc/${name}`]);
  const text = `${PATTERNS.join('\n')}\n`;
  const git = gitAnswers(text, paths);
  const config = { trackHidden: 'all', include: [], exclude: [] };
  const ours = createRules({ config, rootIgnore: text, ignoreCase: false, gitOnly: true });
  const theirs = ignore({ allowRelativePaths: true }).add(text);
  const wrong = (ask) => paths.filter((path) => ask(path) !== git.has(path)).length;
  return {
    paths: paths.length,
    ours: wrong((path) => !decide(ours, path)),
    theirs: wrong((path) => theirs.ignores(path)),
  };
}

/** A whole path from the root; the daemon's own walk enters each folder once. */
function decide(rules, path) {
  const parts = path.split('/');
  let here = rules;
  for (const part of parts.slice(0, -1)) {
    if (!here.decide(part, 'directory').enter) return false;
    here = here.enter(part, undefined);
  }
  return here.decide(parts.at(-1), 'file').tracked;
}

function gitAnswers(text, paths) {
  const folder = mkdtempSync(join(tmpdir(), 'smithyd-rules-'));
  try {
    execFileSync('git', ['init', '-q', folder]);
    writeFileSync(join(folder, '.gitignore'), text);
    const args = ['-C', folder, 'check-ignore', '--no-index', '-z', '--stdin'];
    const output = execFileSync('git', args, { input: paths.join('\0'), encoding: 'utf8' });
    return new Set(output.split('\0').filter(Boolean));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
