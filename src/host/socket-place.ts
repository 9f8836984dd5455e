import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdtempSync, rmdirSync, unlinkSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { SmithyError } from '../core/errors.js';
import { isMissing } from './small-files.js';
import { requirePrivate, whyUnsafe, type StatePaths } from './state-folder.js';

/**
 * Node cuts a socket path at 107 bytes without a word and listens on the shortened name, so
 * longer ones move to a private folder with a short name.
 */
const LONGEST_SOCKET_PATH = 100;

export interface SocketPlace {
  readonly address: string;
  /** Not in the state folder, but in one of its own. */
  readonly isMoved: boolean;
  /** Takes the socket, and the folder made for it, away again. */
  remove(): void;
}

export interface PlaceRequest {
  readonly paths: StatePaths;
  /** Where private folders may be made, best first. */
  readonly runtimeFolders: readonly string[];
  /** Where the daemon before this one listened; nobody holds it any more. */
  readonly previous?: string | undefined;
}

/** To be called by the holder of the project's lock only: every socket found is stale. */
export function takeSocketPlace({ paths, runtimeFolders, previous }: PlaceRequest): SocketPlace {
  if (process.platform === 'win32')
    return { address: pipeName(paths.run), isMoved: true, remove: () => undefined };
  if (previous !== undefined && previous !== paths.socket) removeMovedSocket(previous);
  if (Buffer.byteLength(paths.socket) <= LONGEST_SOCKET_PATH) {
    clearStaleSocket(paths.socket);
    return {
      address: paths.socket,
      isMoved: false,
      remove: () => removeSocket(paths.socket),
    };
  }
  // A fresh random folder: nobody can have occupied its name before us.
  const folder = mkdtempSync(join(shortFolder(runtimeFolders), 'smithyd-'));
  requirePrivate(folder);
  const address = join(folder, 's.sock');
  return { address, isMoved: true, remove: () => removeMovedSocket(address) };
}

export function protectSocket(address: string): void {
  if (process.platform !== 'win32') chmodSync(address, 0o600);
}

function clearStaleSocket(path: string): void {
  const stat = lstatIfThere(path);
  if (stat === undefined) return;
  if (!stat.isSocket()) {
    throw new SmithyError('FORBIDDEN', `${path} is not a socket; refusing to replace it.`, {
      hint: 'Move it away, then start again.',
      data: { path },
    });
  }
  removeSocket(path);
}

function removeSocket(path: string): void {
  const stat = lstatIfThere(path);
  if (stat?.isSocket() === true && whyUnsafe(stat) === undefined) unlinkSync(path);
}

/** Only what we can have made: our user's socket `s.sock` in our user's folder `smithyd-*`. */
function removeMovedSocket(address: string): void {
  const folder = dirname(address);
  if (!/\/smithyd-\w{6}\/s\.sock$/u.test(address)) return;
  const stat = lstatIfThere(folder);
  if (stat === undefined || whyUnsafe(stat) !== undefined) return;
  removeSocket(address);
  try {
    rmdirSync(folder);
  } catch {
    // Something else is in there: not ours to clear.
  }
}

function shortFolder(candidates: readonly string[]): string {
  const room = LONGEST_SOCKET_PATH - Buffer.byteLength('/smithyd-123456/s.sock');
  const fitting = candidates.find((folder) => {
    return Buffer.byteLength(folder) <= room && lstatIfThere(folder)?.isDirectory() === true;
  });
  if (fitting !== undefined) return fitting;
  throw new SmithyError('FORBIDDEN', 'There is no short enough folder for the socket.', {
    hint: 'Set XDG_RUNTIME_DIR or TMPDIR to a folder with a short path.',
    data: { candidates },
  });
}

function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function pipeName(run: string): string {
  return `\\\\.\\pipe\\smithyd-${createHash('sha256').update(run).digest('hex').slice(0, 32)}`;
}
