import { closeSync, constants, fsync, openSync, readFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { systemCode } from '../core/system-errors.js';

/** Flushes an open file. */
export const flushFile = promisify(fsync);

/** What was to be flushed or looked at could not be opened: no descriptor, mostly. */
class NotOpened extends Error {
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = codeOf(cause);
  }
}

/**
 * Whether it failed before it began: unlike a flush that fails, that has lost nothing, and the next
 * one may be believed.
 */
export function isNotOpened(error: unknown): boolean {
  return error instanceof NotOpened;
}

/**
 * Flushes an existing file or folder. A new name is durable only when its folder is. Only the
 * flush itself waits in the thread pool: opening is quick, and every trip there and back costs.
 */
export async function flush(path: string): Promise<void> {
  const file = openToRead(path);
  try {
    await flushFile(file);
  } finally {
    closeSync(file);
  }
}

/** For what is there; says when it cannot be opened. */
export function openToRead(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    throw new NotOpened(error);
  }
}

/** Old or new content after a crash, never a part. The folder is not flushed. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(fresh, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}

/** The text of a small file; undefined when there is none. At once: the thread pool takes longer. */
export function readText(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** The system's name for what went wrong. */
export const codeOf = systemCode;
