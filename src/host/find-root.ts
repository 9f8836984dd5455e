import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SmithyError } from '../core/errors.js';
import { STATE_FOLDER } from '../core/paths.js';

/**
 * The project a command means: the folder named, else the nearest one above that already has
 * state, else the nearest repository, else the folder it was called in.
 */
export function findRoot(named: string | undefined, cwd: string): string {
  if (named !== undefined) return realFolder(resolve(cwd, named));
  const here = realFolder(cwd);
  return nearestWith(here, STATE_FOLDER) ?? nearestWith(here, '.git') ?? here;
}

function realFolder(path: string): string {
  const real = realIfThere(path);
  if (existsSync(real) && statSync(real).isDirectory()) return real;
  throw new SmithyError('INVALID_PARAMS', `${path} is not a folder.`, {
    hint: 'Name an existing folder with --root DIR.',
    data: { path },
  });
}

export function realIfThere(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function nearestWith(start: string, name: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (isThere(join(folder, name))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
