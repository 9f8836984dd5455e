import { constants } from 'node:fs';
import { mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCode } from '../core/system-errors.js';

/** The calls that decide about durability; a test replaces them to make them fail. */
export interface LedgerIo {
  write(file: FileHandle, bytes: Uint8Array, at: number): Promise<number>;
  flush(file: FileHandle): Promise<void>;
  truncate(file: FileHandle, size: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  flushFolder(folder: string): Promise<void>;
}

/**
 * A write with O_DSYNC is a write and its `fdatasync` in one call: one trip to a thread instead of
 * two. Elsewhere it promises less than the flush does.
 */
const WRITES_LAST = process.platform === 'linux';

export const diskIo: LedgerIo = {
  write: async (file, bytes, at) => (await file.write(bytes, 0, bytes.length, at)).bytesWritten,
  flush: (file) => (WRITES_LAST ? Promise.resolve() : file.datasync()),
  truncate: (file, size) => file.truncate(size),
  rename,
  flushFolder,
};

// Without O_NONBLOCK a FIFO planted at the path would hang us for ever.
const FLAGS =
  constants.O_RDWR |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK |
  (WRITES_LAST ? constants.O_DSYNC : 0);

/**
 * Makes a folder inside one that is there: a state folder that somebody took away must not come
 * back by itself.
 */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}

/** Opens the file, making it and its folder durable parts of the disk when they are new. */
export async function openLedgerFile(
  path: string,
): Promise<{ file: FileHandle; size: number; created: boolean }> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const opened = await openOrCreate(path);
  try {
    const stat = await opened.file.stat();
    if (!stat.isFile()) throw new Error(`${path} is not a plain file`);
    if ((stat.mode & 0o077) !== 0) await opened.file.chmod(0o600);
    if (opened.created) {
      await opened.file.sync();
      await flushFolder(folder);
      await flushFolder(dirname(folder));
    }
    return { ...opened, size: stat.size };
  } catch (error) {
    await opened.file.close();
    throw error;
  }
}

async function openOrCreate(path: string): Promise<{ file: FileHandle; created: boolean }> {
  try {
    return { file: await open(path, FLAGS), created: false };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const file = await open(path, FLAGS | constants.O_CREAT | constants.O_EXCL, 0o600);
    return { file, created: true };
  }
}

/** A file of the ledger to which no more is written. */
export async function openSealed(path: string): Promise<{ file: FileHandle; size: number }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error(`${path} is not a plain file`);
    return { file, size: stat.size };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** An empty file that is to take the place of another one. */
export function createFresh(path: string): Promise<FileHandle> {
  return open(path, FLAGS | constants.O_CREAT | constants.O_TRUNC, 0o600);
}

/** Copies the end of the file, from `from` on, into a file of its own; durable when it returns. */
export async function quarantine(
  file: FileHandle,
  from: number,
  ledgerFolder: string,
): Promise<string> {
  const folder = join(ledgerFolder, 'quarantine');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { path, copy } = await createNumbered(join(folder, `tail-at-${from}`));
  try {
    const buffer = Buffer.allocUnsafe(64 * 1024);
    for (let at = from; ;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      await copy.writeFile(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    await copy.sync();
  } finally {
    await copy.close();
  }
  await flushFolder(folder);
  await flushFolder(ledgerFolder);
  return path;
}

async function createNumbered(stem: string): Promise<{ path: string; copy: FileHandle }> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  for (let number = 1; ; number++) {
    const path = `${stem}-${number}.part`;
    try {
      return { path, copy: await open(path, flags, 0o600) };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** A new name is durable only when the folder that holds it is. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The system's name for what went wrong. */
export const codeOf = systemCode;

export function messageOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}
