import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { SmithyError } from '../core/errors.js';
import type { Entry } from '../core/restore-plan.js';
import { temporaryName } from '../core/tree-writer.js';
import type { Content } from '../core/tree-writer.js';
import { hashBytes } from './look.js';
import type { Eye } from './look.js';
import type { Pace } from './pace.js';
import { hasCode } from './reasons.js';
import type { Making } from './user-mask.js';
import type { Folder } from './walk.js';

const WRITE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** One write; 1 MB takes about a millisecond. */
const CHUNK = 1024 * 1024;

/** A link is at most one page of text. */
const MOST_LINK_BYTES = 4096;

export interface FreshDeps {
  readonly making: Making;
  readonly eye: Eye;
  readonly pace: Pace;
  readonly signal: AbortSignal | undefined;
}

export interface FreshInput {
  readonly folder: Folder;
  readonly entry: Entry;
  readonly content: Content;
  /** The file to be replaced: its permissions and owner stay. */
  readonly like: BigIntStats | undefined;
}

/** Writes a new file or link beside its place, whole and verified; answers its name there. */
export async function writeFresh(deps: FreshDeps, input: FreshInput): Promise<string> {
  const name = temporaryName(randomUUID());
  const place = input.folder.at(name);
  if (input.entry.mode === '120000') await makeLink(place, input);
  else await makeFile(deps, place, input);
  return name;
}

/** Never fails: what cannot be removed now is swept later. */
export function discard(place: string): void {
  try {
    unlinkSync(place);
  } catch {
    // Its content is in the store.
  }
}

async function makeLink(place: string, { entry, content }: FreshInput): Promise<void> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of inChunks(content)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MOST_LINK_BYTES) throw wrongContent(entry);
  }
  const target = Buffer.concat(chunks);
  if (hashBytes(target) !== entry.hash) throw wrongContent(entry);
  symlinkSync(target, place);
}

async function makeFile(deps: FreshDeps, place: string, input: FreshInput): Promise<void> {
  const { entry, content, like } = input;
  const wanted = entry.mode === '100755' ? 0o777 : 0o666;
  const make = (): number => openSync(place, WRITE, wanted);
  // One that takes after another needs no mask.
  const fd = like?.isFile() === true ? make() : deps.making(make);
  try {
    if (isSmall(content)) writeAll(fd, content);
    else await writeInChunks(deps, fd, content);
    const made = fstatSync(fd, { bigint: true });
    if (like?.isFile() === true) takeAfter(fd, { made, like }, entry);
    // Read back: what counts is what the file holds, not what we meant to write.
    if ((await deps.eye.hashFile(fd, made.size)) !== entry.hash) throw wrongContent(entry);
  } catch (error) {
    discard(place);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** In one go: what it takes to breathe in between would cost more than the write. */
function isSmall(content: Content): content is Uint8Array {
  return content instanceof Uint8Array && content.length <= CHUNK;
}

async function writeInChunks(deps: FreshDeps, fd: number, content: Content): Promise<void> {
  for await (const chunk of inChunks(content)) {
    writeAll(fd, chunk);
    await deps.pace.breathe();
    deps.signal?.throwIfAborted();
  }
  if (!(content instanceof Uint8Array)) deps.pace.passed();
}

async function* inChunks(content: Content): AsyncGenerator<Uint8Array> {
  if (!(content instanceof Uint8Array)) {
    for await (const part of content) yield* inChunks(part);
    return;
  }
  for (let at = 0; at < content.length; at += CHUNK) yield content.subarray(at, at + CHUNK);
}

function writeAll(fd: number, chunk: Uint8Array): void {
  for (let done = 0; done < chunk.length;) done += writeSync(fd, chunk, done);
}

/** Permission bits and owner of the old file; setuid and setgid are not passed on to new content. */
function takeAfter(
  fd: number,
  { made, like }: { readonly made: BigIntStats; readonly like: BigIntStats },
  { mode }: Entry,
): void {
  if (made.uid !== like.uid || made.gid !== like.gid) giveTo(fd, like);
  const wished = withExecutable(Number(like.mode & 0o777n), mode === '100755');
  if (Number(made.mode & 0o7777n) !== wished) fchmodSync(fd, wished);
}

/** Whoever may read it may execute it, as `chmod +x` and git do. */
export function withExecutable(permissions: number, executable: boolean): number {
  if (!executable) return permissions & ~0o111;
  if ((permissions & 0o100) !== 0) return permissions;
  return permissions | ((permissions & 0o444) >> 2) | 0o100;
}

function giveTo(fd: number, { uid, gid }: BigIntStats): void {
  try {
    fchownSync(fd, Number(uid), Number(gid));
  } catch (error) {
    // Only root may; the content matters more than the owner.
    if (!hasCode(error, 'EPERM', 'EINVAL', 'ENOSYS')) throw error;
  }
}

function wrongContent({ hash }: Entry): SmithyError {
  return new SmithyError('STORE_CORRUPT', `The bytes written are not those of ${hash}.`, {
    hint: 'Run `smithyd doctor`.',
    data: { hash },
  });
}
