import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

/**
 * `O_NOFOLLOW` guards the last name only: while a folder on the way is swapped for a link, a path
 * leads out of the project. Nothing out there may ever be taken for content of the project.
 */

const PROC = process.platform === 'linux' ? '/proc/self/fd' : undefined;
// A place to start from, without the right to list it; Node has no name for the flag.
const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Whether what was opened by this path, a real one, lies there without any link on the way. */
export function isReallyAt(fd: number, path: string): boolean {
  return nameOf(fd) === path || isReached(fd, path);
}

/**
 * Runs with a name for `path` that cannot be led astray while it runs, where the system has such
 * names; undefined when the path leads elsewhere.
 */
export function inFolderOf<T>(path: string, run: (at: string) => T): T | undefined {
  const folder = dirname(path);
  if (PROC === undefined) {
    const result = hasNoLink(folder) ? run(path) : undefined;
    return hasNoLink(folder) ? result : undefined;
  }
  const fd = openSync(folder, FOLDER);
  try {
    return isReallyAt(fd, folder) ? run(`${PROC}/${fd}/${basename(path)}`) : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Asks the kernel for the name of what is open; undefined where it cannot tell. */
function nameOf(fd: number): string | undefined {
  if (PROC === undefined) return undefined;
  try {
    return readlinkSync(`${PROC}/${fd}`);
  } catch {
    return undefined;
  }
}

/** The slower way: no link on the way now, and the same thing at its end. */
function isReached(fd: number, path: string): boolean {
  try {
    if (!hasNoLink(dirname(path))) return false;
    const opened = fstatSync(fd);
    const there = lstatSync(path);
    return opened.ino === there.ino && opened.dev === there.dev;
  } catch {
    return false;
  }
}

function hasNoLink(folder: string): boolean {
  return realpathSync.native(folder) === resolve(folder);
}
