import { execFile } from 'node:child_process';
import { isAbsolute, relative, resolve } from 'node:path';
import { SmithyError } from '../core/errors.js';

/** Where git keeps what concerns hooks of the repository that a folder is in. */
export interface Repository {
  readonly top: string;
  /** The same for all worktrees. */
  readonly gitFolder: string;
  /** Where git looks for hooks, whatever `core.hooksPath` makes of it. */
  readonly hooks: string;
  /**
   * Whose the hooks folder is: this repository's alone, part of its files (and maybe of its commits),
   * or somewhere else and so possibly shared with other repositories.
   */
  readonly belongs: 'git' | 'files' | 'elsewhere';
}

interface Git {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** By git itself: nobody else knows all of worktrees, submodules, includes and `core.hooksPath`. */
export async function findRepository(folder: string, git: Git): Promise<Repository> {
  const [top = '', common = ''] = await revParse(git, folder, [
    '--path-format=absolute',
    '--show-toplevel',
    '--git-common-dir',
  ]);
  // A relative `core.hooksPath` counts from the top, where git runs hooks.
  const [path = ''] = await revParse(git, top, ['--git-path', 'hooks']);
  const hooks = resolve(top, path);
  return { top, gitFolder: common, hooks, belongs: owner(hooks, { top, common }) };
}

function owner(
  hooks: string,
  { top, common }: { readonly top: string; readonly common: string },
): Repository['belongs'] {
  if (isInside(hooks, common)) return 'git';
  return isInside(hooks, top) ? 'files' : 'elsewhere';
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && way.split('/')[0] !== '..';
}

function revParse(git: Git, cwd: string, words: readonly string[]): Promise<string[]> {
  return new Promise((answer, reject) => {
    const options = { env: git.environment, cwd, timeout: 10_000, windowsHide: true };
    execFile(git.program, ['rev-parse', ...words], options, (error, stdout, stderr) => {
      if (error === null) answer(stdout.split('\n'));
      else reject(noRepository(cwd, stderr.trim()));
    });
  });
}

function noRepository(folder: string, why: string): SmithyError {
  return new SmithyError('INVALID_PARAMS', `${folder} is not in a git repository with files.`, {
    hint: why === '' ? 'Run it inside the repository, or name a folder with --root.' : why,
    data: { folder },
  });
}
