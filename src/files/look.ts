import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { closeSync, constants, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import type { Hash } from '../core/model.js';
import { isRacy } from '../core/stamp.js';
import type { FileMode } from '../core/watching.js';
import type { Found } from '../core/restore-verdict.js';
import type { Pace } from './pace.js';
import { hasCode } from './reasons.js';

/** What is found, and the stat of a file or link to compare with later. */
export type Sight = Found & {
  readonly stat?: BigIntStats;
  /** Whoever writes it from now on leaves another stamp. */
  readonly isTelling?: boolean;
};

export interface LookOptions {
  /** Gets what is read. */
  readonly keep?: (chunk: Uint8Array) => void;
  /** Gets the file, and with it the duty to close it. */
  readonly takeOver?: (fd: number) => void;
  /** The caller looks again before it relies on this: that proves what the look after it would. */
  readonly isFirst?: boolean;
}

export interface Eye {
  /** Looks at an entry without following it; a special file is never opened. */
  look(place: string, also?: LookOptions): Promise<Sight>;
  /** The same a little later, without reading where the stamp proves that nobody wrote since. */
  lookAgain(place: string, before: Sight): Promise<Sight>;
  /** The blob id of an open file, read from its start. */
  hashFile(fd: number, size: bigint): Promise<Hash>;
}

/** One read; also how much is hashed between two breaths (under 1 ms). */
const CHUNK = 1024 * 1024;

/** Not blocking, in case a FIFO takes the place of the file between the look and the open. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Gone, or a link, folder, FIFO or socket by the time it was opened or read. */
const SWAPPED = ['ENOENT', 'ELOOP', 'EISDIR', 'EINVAL', 'EAGAIN', 'ENXIO'];

export function isSwapped(error: unknown): boolean {
  return hasCode(error, ...SWAPPED);
}

export function createEye(pace: Pace): Eye {
  let buffer = Buffer.alloc(0);
  const bufferFor = (size: bigint) => {
    const wished = size >= CHUNK ? CHUNK : 64 * 1024;
    if (buffer.length < wished) buffer = Buffer.allocUnsafe(wished);
    return buffer;
  };

  async function hashFile(
    fd: number,
    size: bigint,
    keep?: (chunk: Uint8Array) => void,
  ): Promise<Hash> {
    const hash = createHash('sha1').update(`blob ${size}\0`);
    for (let position = 0; ;) {
      const into = bufferFor(size);
      const length = readSync(fd, into, 0, into.length, position);
      if (length === 0) return hash.digest('hex') as Hash;
      hash.update(into.subarray(0, length));
      keep?.(Buffer.from(into.subarray(0, length)));
      position += length;
      // The end is known by the size. Past it the file is growing, which the stat after will show.
      if (position >= Number(size)) return hash.digest('hex') as Hash;
      await pace.breathe();
    }
  }

  async function look(place: string, also: LookOptions = {}): Promise<Sight> {
    const { keep, takeOver = closeSync, isFirst = false } = also;
    const readAt = Date.now();
    const stat = statOf(place);
    if (stat === undefined) return { kind: 'nothing' };
    if (!stat.isFile() && !stat.isSymbolicLink()) return { kind: 'other' };
    try {
      const hash = stat.isFile()
        ? await readThrough(place, takeOver, (fd) => hashFile(fd, stat.size, keep))
        : hashLink(place, keep);
      const after = isFirst ? stat : statOf(place);
      if (after === undefined || !isSame(stat, after)) return { kind: 'unsettled' };
      const isTelling = !isRacy(timesOf(stat), readAt);
      return { kind: 'entry', mode: modeOf(stat), hash, stat, isTelling };
    } catch (error) {
      if (isSwapped(error)) return { kind: 'unsettled' };
      throw error;
    }
  }

  async function lookAgain(place: string, before: Sight): Promise<Sight> {
    if (before.stat === undefined || before.isTelling !== true) return look(place);
    const stat = statOf(place);
    return stat !== undefined && isSame(stat, before.stat) ? before : look(place);
  }

  return { look, lookAgain, hashFile };
}

function timesOf({ mtimeNs, ctimeNs }: BigIntStats) {
  return { mtimeMs: Number(mtimeNs) / 1e6, ctimeMs: Number(ctimeNs) / 1e6 };
}

/** By which a change of a file shows, without reading it. */
export function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return (
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.size === b.size &&
    a.mode === b.mode &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}

export function statOf(place: string): BigIntStats | undefined {
  return lstatSync(place, { bigint: true, throwIfNoEntry: false });
}

export function hashBytes(content: Uint8Array): Hash {
  const hash = createHash('sha1').update(`blob ${content.length}\0`).update(content);
  return hash.digest('hex') as Hash;
}

function hashLink(place: string, keep?: (chunk: Uint8Array) => void): Hash {
  const target = readlinkSync(place, { encoding: 'buffer' });
  keep?.(target);
  return hashBytes(target);
}

/** Git knows one permission bit: may the owner execute it. */
function modeOf(stat: BigIntStats): FileMode {
  if (stat.isSymbolicLink()) return '120000';
  return (stat.mode & 0o100n) === 0n ? '100644' : '100755';
}

async function readThrough<T>(
  place: string,
  after: (fd: number) => void,
  read: (fd: number) => Promise<T>,
): Promise<T> {
  const fd = openSync(place, READ);
  try {
    return await read(fd);
  } finally {
    after(fd);
  }
}
