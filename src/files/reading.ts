import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { SmithyError } from '../core/errors.js';
import type { Path } from '../core/model.js';
import { safeParts } from '../core/restore-verdict.js';
import type { Content } from '../core/store.js';
import type { EntryAt, FileOnDisk } from '../core/tree-writer.js';
import { isSwapped, statOf } from './look.js';
import type { Eye } from './look.js';
import type { Pace } from './pace.js';
import { hasCode } from './reasons.js';
import type { Walk } from './walk.js';

interface ReadDeps {
  readonly walk: Walk;
  readonly eye: Eye;
  readonly pace: Pace;
}

/** A file written in one go settles by the second read; one that never does is not worth waiting for. */
const ATTEMPTS = 5;

/** Larger files are read in pieces of this size; many of them must not fill the memory. */
const LARGE = 1024 * 1024;

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export async function readFile(deps: ReadDeps, path: Path): Promise<FileOnDisk | null> {
  const place = placeOf(deps.walk, path);
  return place === null ? null : readWhole(deps, path, place);
}

/**
 * Content for somebody who knows which bytes it must be, so nothing is hashed or looked at twice
 * here; null when there is no file or link.
 */
export async function readContent({ walk, pace }: ReadDeps, path: Path): Promise<Content | null> {
  await pace.breathe();
  const place = placeOf(walk, path);
  const stat = place === null ? undefined : statOf(place);
  if (place === null || stat === undefined) return null;
  try {
    if (stat.isSymbolicLink()) return readlinkSync(place, { encoding: 'buffer' });
    if (!stat.isFile()) return null;
    const size = Number(stat.size);
    return size > LARGE ? { size, chunks: chunksOf(place, pace) } : readSmall(place, size);
  } catch (error) {
    if (isSwapped(error)) return null;
    throw error;
  }
}

function readSmall(place: string, size: number): Uint8Array {
  const fd = openSync(place, READ);
  try {
    // One byte more, so that a file that grew is seen to be another one.
    const bytes = Buffer.allocUnsafe(size + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < size; length += read) {
      read = readSync(fd, bytes, length, bytes.length - length, length);
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

async function readWhole({ eye }: ReadDeps, path: Path, place: string): Promise<FileOnDisk | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const chunks: Uint8Array[] = [];
    const seen = await eye.look(place, { keep: (chunk) => chunks.push(chunk) });
    if (seen.kind === 'entry') {
      const [only] = chunks;
      const content = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
      return { mode: seen.mode, hash: seen.hash, content };
    }
    if (seen.kind !== 'unsettled') return null;
  }
  throw new SmithyError('BUSY', `${path} keeps changing while it is read.`, {
    hint: 'Try again when whoever writes it is done.',
    data: { path },
  });
}

/** Ends early when the file is no longer one: whoever counts the bytes will notice. */
async function* chunksOf(place: string, pace: Pace): AsyncGenerator<Uint8Array> {
  const fd = tryOpen(place);
  if (fd === undefined) return;
  try {
    if (!fstatSync(fd).isFile()) return;
    for (let position = 0; ;) {
      // A fresh piece each time: the reader may still hold the one before.
      const piece = Buffer.allocUnsafe(LARGE);
      const length = readSync(fd, piece, 0, LARGE, position);
      if (length === 0) return;
      yield piece.subarray(0, length);
      position += length;
      await pace.breathe();
    }
  } finally {
    closeSync(fd);
  }
}

function tryOpen(place: string): number | undefined {
  try {
    return openSync(place, READ);
  } catch (error) {
    if (isSwapped(error)) return undefined;
    throw error;
  }
}

export function kindAt({ walk }: Pick<ReadDeps, 'walk'>, path: Path): EntryAt {
  try {
    return kindOf(walk, path);
  } catch (error) {
    if (!hasCode(error, 'ENAMETOOLONG')) throw error;
    throw new SmithyError('PATH_UNSUPPORTED', `${path.slice(0, 100)}… is too long for a file.`, {
      hint: 'The file system takes no name of this length.',
      data: { path },
      cause: error,
    });
  }
}

function kindOf(walk: Walk, path: Path): EntryAt {
  const { parents, name } = partsOf(path);
  const folder = walk.enter(parents);
  if (folder === 'missing') return 'nothing';
  if (folder === 'blocked') return 'unreachable';
  const stat = statOf(folder.at(name));
  if (stat === undefined) return 'nothing';
  if (stat.isDirectory()) return 'folder';
  return stat.isFile() || stat.isSymbolicLink() ? 'file' : 'special';
}

function placeOf(walk: Walk, path: Path): string | null {
  const { parents, name } = partsOf(path);
  const folder = walk.enter(parents);
  return folder === 'missing' || folder === 'blocked' ? null : folder.at(name);
}

function partsOf(path: Path): { parents: string[]; name: string } {
  const parts = safeParts(path);
  const name = parts?.at(-1);
  if (parts !== undefined && name !== undefined) return { parents: parts.slice(0, -1), name };
  throw new SmithyError('PATH_PROTECTED', `${path} is off limits.`, {
    hint: 'Name a file of the project itself.',
    data: { path },
  });
}
