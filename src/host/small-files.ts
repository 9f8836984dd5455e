import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SmithyError } from '../core/errors.js';

/** Enough for every file we keep whole in memory; a larger one is not ours. */
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Replaces a small file so that a crash leaves the old or the new content, never a part:
 * new file, flush, rename, flush of the folder.
 */
export function replaceFile(path: string, content: string): void {
  // Nobody could read it again.
  if (Buffer.byteLength(content) > MOST_BYTES) throw tooLarge(path);
  const folder = dirname(path);
  const fresh = join(folder, `.${basename(path)}.new`);
  // Left by a crash, and nobody else's: the folder is ours alone.
  rmSync(fresh, { force: true });
  const file = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    // Until all of it is written: one write on a nearly full disk may take a part and say nothing.
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
  flushFolder(folder);
}

/** A rename is durable only when the folder that holds it is. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The content of a plain file; undefined when there is none. Links and special files are refused. */
export function readSmallFile(path: string): string | undefined {
  let file: number;
  try {
    // Without O_NONBLOCK a FIFO planted at this path would hang us for ever.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a plain file`);
    if (stat.size > MOST_BYTES) throw tooLarge(path);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function tooLarge(path: string): SmithyError {
  const name = basename(path);
  return new SmithyError('LIMIT_EXCEEDED', `${name} would hold more than ${MOST_BYTES} bytes.`, {
    hint: 'Name fewer files.',
    data: { limit: `bytes of ${name}`, value: MOST_BYTES, setting: null },
  });
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
