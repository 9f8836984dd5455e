import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

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
  const [, major, minor] = /git version (\d+)\.(\d+)/u.exec(output) ?? [];
  if (major === undefined)
    return { ok: false, detail: `${git} does not tell its version; ${needed}` };
  const isNew = Number(major) > OLDEST_GIT[0] || Number(minor) >= OLDEST_GIT[1];
  return { ok: isNew, detail: isNew ? output : `${output} is too old; ${needed}` };
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
