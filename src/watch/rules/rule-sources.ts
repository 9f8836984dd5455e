import { execFile, type ExecFileException } from 'node:child_process';
import {
  constants,
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { OutsideFile, RuleOptions, RuleText } from '../../core/tracking.js';
import { codeOf, isExhaustion } from '../content/content.js';

/** Where git's rules for a root come from on this machine. Nothing in the repository is executed. */
export interface RuleSources extends Pick<
  RuleOptions,
  'rootIgnore' | 'infoExclude' | 'globalExcludes' | 'prefix' | 'above' | 'ignoreCase'
> {
  readonly repository?: Repository;
  readonly outside: readonly OutsideFile[];
  readonly warnings: readonly RuleWarning[];
}

export interface Repository {
  /** The folder that holds `.git`. */
  readonly top: string;
  /** Shared by all work trees; `info/exclude` and `config` are in it. */
  readonly commonDir: string;
}

export interface RuleWarning {
  readonly code:
    | 'GIT_CONFIG_UNREADABLE'
    | 'IGNORE_FILE_TOO_LARGE'
    | 'IGNORE_FILE_UNREADABLE'
    | 'OUT_OF_DESCRIPTORS';
  readonly detail: string;
}

export interface SourceOptions {
  /** Absolute, real path. */
  readonly root: string;
  readonly home: string;
  readonly xdgConfigHome?: string;
  /** Absolute path of git and the environment to run it in; without it the defaults count. */
  readonly git?: GitProgram;
}

interface GitProgram {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it last answered: holds while it is too slow or cannot be started. */
  answered?: GitSettings;
}

/** Larger than any real ignore file, small enough to read and compile at once. */
const MAX_IGNORE_BYTES = 1_048_576;
const CONFIG_TIMEOUT_MS = 2000;

export async function readRuleSources(options: SourceOptions): Promise<RuleSources> {
  const { root, home } = options;
  const warnings: RuleWarning[] = [];
  const repository = findRepository(root);
  const configHome = options.xdgConfigHome ?? join(home, '.config');
  // Stamps come before the contents are read: a change in between is then seen as a change.
  const configured = stamped([
    ...(repository === undefined ? [] : [join(repository.commonDir, 'config')]),
    ...[join(home, '.gitconfig'), join(configHome, 'git', 'config')],
  ]);
  const settings = await readGitSettings(options, warnings);
  const globalPath = settings.excludesFile ?? join(configHome, 'git', 'ignore');
  const infoPath = repository && join(repository.commonDir, 'info', 'exclude');
  const folders = repository === undefined ? [] : foldersAbove(repository.top, root);

  const outside = [
    ...configured,
    ...stamped([
      ...folders.map((folder) => join(folder, '.gitignore')),
      ...(infoPath === undefined ? [] : [infoPath]),
      globalPath,
      // One written between this and the root's watch raises no event.
      join(root, '.gitignore'),
    ]),
  ];

  const read = (path: string, follow: boolean): string | undefined =>
    readRuleFile(path, { follow, warn: (warning) => warnings.push(warning) });
  const rootIgnore = read(join(root, '.gitignore'), false);
  const infoExclude =
    infoPath === undefined ? undefined : namedText('.git/info/exclude', read(infoPath, true));
  const globalExcludes = namedText(globalPath, read(globalPath, true));
  const above = folders.flatMap((folder) => {
    const text = read(join(folder, '.gitignore'), false);
    return text === undefined ? [] : [{ base: slashed(repository?.top ?? '', folder), text }];
  });

  return {
    prefix: repository === undefined ? '' : slashed(repository.top, root),
    above,
    ignoreCase: settings.ignoreCase,
    outside,
    warnings,
    ...(repository === undefined ? {} : { repository }),
    ...(rootIgnore === undefined ? {} : { rootIgnore }),
    ...(infoExclude === undefined ? {} : { infoExclude }),
    ...(globalExcludes === undefined ? {} : { globalExcludes }),
  };
}

/** The text of a folder's `.gitignore`. A symlink counts as absent: git refuses to follow it. */
export function readIgnoreFile(
  path: string,
  warn: (warning: RuleWarning) => void = () => undefined,
): string | undefined {
  return readRuleFile(path, { follow: false, warn });
}

/** Those that are not what they were when the rules were read. */
export function changedOutside(files: readonly OutsideFile[]): string[] {
  return files.filter(({ path, stamp }) => stampOf(path) !== stamp).map(({ path }) => path);
}

function stamped(paths: readonly string[]): OutsideFile[] {
  return paths.map((path) => ({ path, stamp: stampOf(path) }));
}

function namedText(source: string, text: string | undefined): RuleText | undefined {
  return text === undefined ? undefined : { source, text };
}

function slashed(from: string, to: string): string {
  return relative(from, to).split(sep).join('/');
}

/** From the top down to the parent of the root; empty when they are the same. */
function foldersAbove(top: string, root: string): string[] {
  const folders: string[] = [];
  for (let folder = root; folder !== top;) {
    folder = dirname(folder);
    folders.unshift(folder);
  }
  return folders;
}

/** Goes up as git does: to the first valid `.git`, and never onto another file system. */
export function findRepository(root: string): Repository | undefined {
  const device = statOf(root)?.dev;
  for (let folder = root; ; folder = dirname(folder)) {
    if (statOf(folder)?.dev !== device) return undefined;
    const commonDir = commonDirOf(join(folder, '.git'));
    if (commonDir !== undefined) return { top: folder, commonDir };
    if (folder === dirname(folder)) return undefined;
  }
}

function commonDirOf(dotGit: string): string | undefined {
  const stat = statOf(dotGit);
  if (stat === undefined) return undefined;
  const gitDir = stat.isDirectory() ? dotGit : pointedTo(dotGit);
  if (gitDir === undefined || statOf(join(gitDir, 'HEAD')) === undefined) return undefined;
  const shared = readSmall(join(gitDir, 'commondir'));
  const commonDir = shared === undefined ? gitDir : resolve(gitDir, shared);
  return statOf(join(commonDir, 'objects'))?.isDirectory() === true ? commonDir : undefined;
}

/** A `.git` file, as in submodules and extra work trees. */
function pointedTo(dotGit: string): string | undefined {
  const target = /^gitdir: (.+)$/u.exec(readSmall(dotGit) ?? '')?.[1];
  return target === undefined ? undefined : resolve(dirname(dotGit), target);
}

function readSmall(path: string): string | undefined {
  return readRuleFile(path, { follow: true, warn: () => undefined })?.replace(/[\r\n]+$/u, '');
}

interface ReadOptions {
  readonly follow: boolean;
  readonly warn: (warning: RuleWarning) => void;
}

function readRuleFile(path: string, { follow, warn }: ReadOptions): string | undefined {
  let descriptor: number | undefined;
  try {
    // Not blocking, because the name may belong to a FIFO. Windows has neither flag: there they count as 0.
    const flags = constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW);
    descriptor = openSync(path, constants.O_RDONLY | flags);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return undefined;
    if (stat.size > MAX_IGNORE_BYTES) {
      warn({ code: 'IGNORE_FILE_TOO_LARGE', detail: `${path} has ${stat.size} bytes` });
      return undefined;
    }
    return readFileSync(descriptor, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (isExhaustion(code)) warn({ code: 'OUT_OF_DESCRIPTORS', detail: `${path}: ${code}` });
    // Absent, or a symlink where git follows none.
    else if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK'].includes(code)) {
      warn({ code: 'IGNORE_FILE_UNREADABLE', detail: `${path}: ${code}` });
    }
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function statOf(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function stampOf(path: string): string | undefined {
  try {
    const link = lstatSync(path, { bigint: true });
    const stat = link.isSymbolicLink() ? statSync(path, { bigint: true }) : link;
    return [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs, link.ino].join(':');
  } catch {
    return undefined;
  }
}

interface GitSettings {
  readonly excludesFile?: string;
  readonly ignoreCase: boolean;
}

/** `git config` resolves includes and conditions for us, and reading settings runs no command. */
async function readGitSettings(
  { root, home, git }: SourceOptions,
  warnings: RuleWarning[],
): Promise<GitSettings> {
  if (git === undefined) return { ignoreCase: false };
  const answer = await new Promise<{ stdout: string; failure?: ExecFileException }>((settle) => {
    const args = ['config', '-z', '--get-regexp', '^core\\.(excludesfile|ignorecase)$'];
    const limits = { timeout: CONFIG_TIMEOUT_MS, maxBuffer: MAX_IGNORE_BYTES };
    execFile(git.path, args, { cwd: root, env: git.env, ...limits }, (error, stdout) => {
      // Exit 1: neither is set.
      const failed = error !== null && error.code !== 1;
      settle(failed ? { stdout, failure: error } : { stdout });
    });
  });
  const { failure } = answer;
  if (failure === undefined) return (git.answered = parseSettings(answer.stdout, { root, home }));
  const code = isExhaustion(codeOf(failure)) ? 'OUT_OF_DESCRIPTORS' : 'GIT_CONFIG_UNREADABLE';
  warnings.push({ code, detail: failure.message });
  // A number is what git itself ended with: it refuses the configuration as it is now.
  const hasAnswered = typeof failure.code === 'number';
  return (hasAnswered ? undefined : git.answered) ?? { ignoreCase: false };
}

/** Records are `key`, line feed, value; a key alone means true. The last one counts. */
function parseSettings(
  output: string,
  { root, home }: Pick<SourceOptions, 'root' | 'home'>,
): GitSettings {
  let settings: GitSettings = { ignoreCase: false };
  for (const record of output.split('\0')) {
    const cut = record.indexOf('\n');
    const key = cut < 0 ? record : record.slice(0, cut);
    const value = cut < 0 ? 'true' : record.slice(cut + 1);
    if (key === 'core.ignorecase') {
      settings = { ...settings, ignoreCase: /^(?:true|yes|on|[1-9]\d*)$/iu.test(value) };
    } else if (key === 'core.excludesfile' && cut >= 0) {
      const path = value.startsWith('~/') ? join(home, value.slice(2)) : value;
      settings = { ...settings, excludesFile: resolve(root, path) };
    }
  }
  return settings;
}
