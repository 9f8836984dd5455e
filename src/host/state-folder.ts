import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  writeFileSync,
  type Dirent,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { SmithyError } from '../core/errors.js';
import { STATE_FOLDER } from '../core/paths.js';
import { systemCode } from '../core/system-errors.js';

/** Where one project's state lives. */
export interface StatePaths {
  readonly state: string;
  readonly run: string;
  readonly config: string;
  /** Says which root the state was made for. */
  readonly binding: string;
  readonly daemon: string;
  readonly token: string;
  readonly log: string;
  readonly lock: string;
  /** Where the socket goes when its path is short enough. */
  readonly socket: string;
}

export function statePaths(root: string): StatePaths {
  const state = join(root, STATE_FOLDER);
  const run = join(state, 'run');
  return {
    state,
    run,
    config: join(state, 'config.json'),
    binding: join(state, 'root.json'),
    daemon: join(run, 'daemon.json'),
    token: join(run, 'token'),
    log: join(run, 'daemon.log'),
    lock: join(run, 'lock'),
    socket: join(run, 'smithyd.sock'),
  };
}

/** Makes the folders, or refuses those that somebody else made or can write to. */
export function prepareStateFolder(root: string): StatePaths {
  const paths = statePaths(root);
  for (const folder of [paths.state, paths.run]) {
    unlessThere(() => makeFolder(folder));
    requirePrivate(folder);
  }
  refuseLinks(paths.state);
  const ignoreFile = join(paths.state, '.gitignore');
  // The user's `git status` must never show us, from the first moment on.
  unlessThere(() => writeFileSync(ignoreFile, '*\n', { flag: 'wx', mode: 0o600 }));
  return paths;
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const reason = systemCode(error) ?? '';
    if (!(error instanceof Error) || !['EACCES', 'EPERM', 'EROFS'].includes(reason)) throw error;
    throw new SmithyError('STORAGE_IO', `The system refused: ${error.message}.`, {
      hint: `smithyd keeps its state in ${STATE_FOLDER}: the folder of the project must be writable.`,
      data: { op: 'mkdir', reason },
      cause: error,
    });
  }
}

/** Throws unless the folder is a real one, ours, and closed to everybody else's writing. */
export function requirePrivate(folder: string): void {
  const stat = lstatSync(folder);
  const why = whyUnsafe(stat) ?? (stat.isDirectory() ? undefined : 'is not a folder');
  if (why !== undefined) throw untrusted(folder, why);
  // Readable by others is a leak, not an attack: closed without asking.
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/**
 * A project that was cloned or unpacked can bring a state folder along, and each link in it would lead
 * our writing elsewhere. We make none ourselves. From here on nobody but its owner can add one.
 */
function refuseLinks(state: string): void {
  const waiting = [state];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) throw untrusted(path, 'is a symbolic link', LINK_HINT);
      if (entry.isDirectory()) waiting.push(path);
    }
  }
}

/** None for a folder that went away: a daemon that runs here already goes on meanwhile. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

const OWNER_HINT = 'Look who made it. If it is yours: chown it to yourself and `chmod 700` it.';
const LINK_HINT =
  'Nothing of the daemon is ever kept behind a link: look where it leads, and remove it.';

function untrusted(path: string, why: string, hint = OWNER_HINT): SmithyError {
  return new SmithyError('FORBIDDEN', `${path} ${why}; refusing to use it.`, {
    hint,
    data: { path },
  });
}

/** Why a folder or socket must not be trusted; undefined when it may be. */
export function whyUnsafe(stat: Stats): string | undefined {
  if (stat.isSymbolicLink()) return 'is a symbolic link';
  if (process.getuid === undefined) return undefined;
  if (stat.uid !== process.getuid()) return `belongs to another user (${stat.uid})`;
  if (stat.isDirectory() && (stat.mode & 0o022) !== 0) return 'can be written to by others';
  return undefined;
}

/** Several may start at once, and none of them holds the lock yet: whoever is first makes it. */
function unlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
