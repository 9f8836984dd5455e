import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { SmithyError } from '../core/errors.js';

/** `core.fsync` came with it, and without it no checkpoint can be promised to last. */
const OLDEST_GIT = [2, 36] as const;

/** The absolute path of git, looked up once and never inside the project. */
export function findGit(environment: Readonly<Record<string, string>>): string | undefined {
  const name = process.platform === 'win32' ? 'git.exe' : 'git';
  return (environment['PATH'] ?? environment['Path'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/** What doctor says about git. */
export async function describeGit(
  git: string | undefined,
  environment: Readonly<Record<string, string>>,
): Promise<{ ok: boolean; detail: string }> {
  const needed = `git ${OLDEST_GIT.join('.')} or newer is needed for checkpoints`;
  if (git === undefined) return { ok: false, detail: `git was not found; ${needed}` };
  const output = await versionOf(git, environment);
  const isOld = isTooOld(output);
  if (isOld === undefined)
    return { ok: false, detail: `${git} does not tell its version; ${needed}` };
  return { ok: !isOld, detail: isOld ? `${output} is too old; ${needed}` : output };
}

/**
 * Refuses a git that cannot keep what a checkpoint promises. One that does not tell its version in time may
 * be a busy machine's: doctor names it.
 *
 * @throws SmithyError STORAGE_IO
 */
export async function requireRecentGit(
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const git = findGit(environment);
  const version = git === undefined ? '' : await versionOf(git, environment);
  if (isTooOld(version) !== true) return;
  throw new SmithyError('STORAGE_IO', `${version} is too old for checkpoints that last.`, {
    hint: `Install git ${OLDEST_GIT.join('.')} or newer and start again.`,
    data: { op: 'check git', path: git },
  });
}

function isTooOld(version: string): boolean | undefined {
  const [, major, minor] = /git version (\d+)\.(\d+)/u.exec(version) ?? [];
  if (major === undefined) return undefined;
  const [oldest, least] = OLDEST_GIT;
  return Number(major) < oldest || (Number(major) === oldest && Number(minor) < least);
}

function versionOf(git: string, environment: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve) => {
    const options = { env: environment, cwd: '/', timeout: 5000, windowsHide: true };
    execFile(git, ['--version'], options, (error, stdout) => {
      resolve(error === null ? stdout.trim() : '');
    });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
