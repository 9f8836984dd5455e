import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Decision, RuleText } from '../../src/core/tracking.js';
import { createRules } from '../../src/core/rules.js';
import type { IgnoreCase } from './ignore-cases.js';

export interface Difference {
  readonly path: string;
  readonly git: string;
  readonly ours: string;
}

/** Asks git and our rules about every path of a case. */
export interface Comparison {
  compare(given: IgnoreCase): { pairs: number; ignored: number; differences: Difference[] };
  close(): void;
}

/** One git folder for all cases; only the work tree and the exclude files change. */
export function createComparison(): Comparison {
  const base = mkdtempSync(join(tmpdir(), 'smithyd-ignore-'));
  const gitDir = join(base, 'git');
  for (const folder of ['objects', 'refs', 'info']) {
    mkdirSync(join(gitDir, folder), { recursive: true });
  }
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
  let count = 0;

  return {
    compare(given) {
      count += 1;
      const tree = join(base, `tree-${count}`);
      writeTree(tree, given);
      writeFileSync(join(gitDir, 'info', 'exclude'), given.infoExclude);
      writeFileSync(join(base, 'global'), given.globalExcludes);
      const paths = [...given.directories, ...given.files];
      const git = askGit(paths, { gitDir, tree, base, ignoreCase: given.ignoreCase });
      rmSync(tree, { recursive: true, force: true });
      const ours = askRules(given, paths);
      const differences = paths.flatMap((path, index) => {
        const [theirs = '', mine = ''] = [git[index], ours[index]];
        return theirs === mine ? [] : [{ path, git: theirs, ours: mine }];
      });
      return {
        pairs: paths.length,
        ignored: git.filter((rule) => rule !== '').length,
        differences,
      };
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

function writeTree(tree: string, given: IgnoreCase): void {
  mkdirSync(tree);
  // git looks at the disk only to tell directories from the rest: files need not be there.
  for (const folder of given.directories) mkdirSync(join(tree, folder), { recursive: true });
  for (const [folder, text] of given.ignoreFiles) {
    writeFileSync(join(tree, folder, '.gitignore'), text);
  }
}

interface Setup {
  readonly gitDir: string;
  readonly tree: string;
  readonly base: string;
  readonly ignoreCase: boolean;
}

/** Per path `source:line` of the rule that excludes it, '' when it is not excluded. */
function askGit(paths: readonly string[], setup: Setup): string[] {
  const { gitDir, tree, base, ignoreCase } = setup;
  const args = [
    ...['-c', `core.ignoreCase=${String(ignoreCase)}`, '-c', `core.excludesFile=${base}/global`],
    ...[`--git-dir=${gitDir}`, `--work-tree=${tree}`],
    ...['check-ignore', '--no-index', '--stdin', '-z', '-v', '-n'],
  ];
  const output = runGit(args, { cwd: tree, input: `${paths.join('\0')}\0` });
  const fields = output.split('\0');
  return paths.map((path, index) => {
    const [source = '', line = '', pattern = '', name = ''] = fields.slice(
      index * 4,
      index * 4 + 4,
    );
    if (name !== path) throw new Error(`git answered for ${name} instead of ${path}`);
    if (source === '' || pattern.startsWith('!')) return '';
    if (source.startsWith(gitDir)) return `info:${line}`;
    return source.startsWith(base) ? `global:${line}` : `${source}:${line}`;
  });
}

function runGit(args: readonly string[], options: { cwd: string; input: string }): string {
  try {
    return execFileSync('git', args, {
      ...options,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    // Exit 1 says that no path is ignored.
    const { status, stdout } = error as { status?: number; stdout?: string };
    if (status === 1 && stdout !== undefined) return stdout;
    throw error;
  }
}

function askRules(given: IgnoreCase, paths: readonly string[]): string[] {
  const rootIgnore = given.ignoreFiles.get('');
  const rules = createRules({
    config: { trackHidden: 'all', include: [], exclude: [] },
    ...(rootIgnore === undefined ? {} : { rootIgnore }),
    infoExclude: { source: 'info', text: given.infoExclude },
    globalExcludes: { source: 'global', text: given.globalExcludes },
    ignoreCase: given.ignoreCase,
    gitOnly: true,
  });
  const ignoreFileOf = (folder: string): RuleText | undefined => {
    const text = given.ignoreFiles.get(folder);
    return text === undefined ? undefined : { source: `${folder}/.gitignore`, text };
  };
  const directories = new Set(given.directories);
  return paths.map((path) => {
    const parts = path.split('/');
    let folder = rules as ReturnType<typeof rules.enter>;
    let decision: Decision = { tracked: true, enter: true, reason: 'default' };
    for (const [index, part] of parts.entries()) {
      const here = parts.slice(0, index + 1).join('/');
      const isDirectory = index < parts.length - 1 || directories.has(path);
      decision = folder.decide(part, isDirectory ? 'directory' : 'file');
      if (!decision.tracked) break;
      folder = folder.enter(part, ignoreFileOf(here));
    }
    const { rule, tracked } = decision;
    return tracked || rule === undefined ? '' : `${rule.source}:${rule.line}`;
  });
}
