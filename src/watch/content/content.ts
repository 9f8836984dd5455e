import { createHash, hash as digest } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { inFolderOf, isReallyAt } from './whereabouts.js';
import { isRacy, sameStamp, type Stamp } from '../../core/stamp.js';

/** What one attempt to read a path found. */
export type Reading =
  | {
      readonly kind: 'content';
      readonly hash: string;
      readonly stamp: Stamp;
      readonly racy: boolean;
    }
  /** No regular file any more, or gone: somebody must look at the path again. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'unreadable'; readonly code: string }
  | { readonly kind: 'unstable' }
  | { readonly kind: 'too_large'; readonly stamp: Stamp };

// A file that changes under three reads in a row is being written; the next event tries again.
const ATTEMPTS = 3;
// Room for "blob <size>\0" in front of the content, so that small files are hashed in one call.
const HEADER = 32;
const SMALL = 256 * 1024;
const CHUNK = 1024 * 1024;
// Never blocks on a FIFO that took the file's place, never follows a link that did.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

// One buffer per thread: reading is synchronous, so nobody else can be using it.
const small = Buffer.allocUnsafeSlow(HEADER + SMALL);
let chunk: Buffer | undefined;

/** Reads and hashes a regular file, without ever holding more than a fixed buffer of it. */
export function readContent(path: string, maxBytes: number): Reading {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const reading = attemptRead(path, maxBytes);
    if (reading.kind !== 'unstable') return reading;
  }
  return { kind: 'unstable' };
}

/** A link's content is its text, as bytes; it is never followed. */
export function readLink(path: string): Reading {
  try {
    const reading = inFolderOf<Reading>(path, (at) => {
      const readAt = Date.now();
      const before = lstatSync(at);
      const text = readlinkSync(at, { encoding: 'buffer' });
      if (!before.isSymbolicLink() || !sameStamp(before, lstatSync(at))) return { kind: 'moved' };
      const hash = digest('sha1', Buffer.concat([header(text.length), text]), 'hex');
      return { kind: 'content', hash, stamp: before, racy: isRacy(before, readAt) };
    });
    return reading ?? { kind: 'moved' };
  } catch (error) {
    return failure(error);
  }
}

function attemptRead(path: string, maxBytes: number): Reading {
  let fd = -1;
  try {
    fd = openSync(path, FLAGS);
    const readAt = Date.now();
    const before = fstatSync(fd);
    if (!before.isFile() || !isReallyAt(fd, path)) return { kind: 'moved' };
    if (before.size > maxBytes) return { kind: 'too_large', stamp: before };
    const hash = before.size <= SMALL ? hashSmall(fd, before) : hashChunks(fd, before);
    if (hash === undefined || !sameStamp(before, fstatSync(fd))) return { kind: 'unstable' };
    return { kind: 'content', hash, stamp: before, racy: isRacy(before, readAt) };
  } catch (error) {
    return failure(error);
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

function hashSmall(fd: number, { size }: Stats): string | undefined {
  const head = `blob ${size}\0`;
  const start = HEADER - head.length;
  small.write(head, start, 'latin1');
  let got = 0;
  while (got < size) {
    const count = readSync(fd, small, HEADER + got, size - got, got);
    if (count === 0) return undefined;
    got += count;
  }
  return digest('sha1', small.subarray(start, HEADER + size), 'hex');
}

function hashChunks(fd: number, { size }: Stats): string | undefined {
  chunk ??= Buffer.allocUnsafeSlow(CHUNK);
  const sum = createHash('sha1').update(header(size));
  let got = 0;
  while (got < size) {
    const count = readSync(fd, chunk, 0, Math.min(CHUNK, size - got), got);
    if (count === 0) return undefined;
    sum.update(chunk.subarray(0, count));
    got += count;
  }
  return sum.digest('hex');
}

function header(size: number): Buffer {
  return Buffer.from(`blob ${size}\0`, 'latin1');
}

function failure(error: unknown): Reading {
  const code = codeOf(error);
  // ELOOP, ENXIO: a link or a FIFO took the name. EINVAL: readlink of something that is no link.
  if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EINVAL', 'EISDIR'].includes(code)) {
    return { kind: 'moved' };
  }
  return { kind: 'unreadable', code };
}

/** Says nothing about the file: descriptors or memory have run out, here or on the machine. */
export function isExhaustion(code: string): boolean {
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM';
}

export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error
    ? String(error.code)
    : 'UNKNOWN';
}
