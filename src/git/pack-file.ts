import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { crc32, deflate, deflateSync } from 'node:zlib';
import type { Hash } from '../core/model.js';

/** Packs of whole objects, as bytes: https://git-scm.com/docs/gitformat-pack. No files here. */

/** One object as it stands in a pack. */
export interface PackEntry {
  readonly hash: Hash;
  readonly bytes: Uint8Array;
  readonly crc: number;
}

export interface PackFile {
  /** Without an ending. */
  readonly name: string;
  readonly pack: Buffer;
  readonly index: Buffer;
}

const KINDS = { commit: 1, tree: 2, blob: 3 } as const;
export type ObjectKind = keyof typeof KINDS;

const HEADER_BYTES = 12;
const ID_BYTES = 20;
const STORED_HEAD = 7;
const ADLER_BASE = 65_521;
const INDEX_MAGIC = 0xff744f63;
const FANOUT_AT = 8;
const NAMES_AT = FANOUT_AT + 256 * 4;
/** Below this the trip to another thread costs more than the work. */
const DEFLATED_HERE = 16 * 1024;
/** Below this, and of trees and commits, which hardly get smaller, deflating takes longer to begin than to do. */
const STORED = 512;
const deflateElsewhere = promisify<Uint8Array, { level?: number }, Buffer>(deflate);

/** Packed less tightly, as `git add` does it: a third less time for an eighth more bytes. */
export const HURRIED = { level: 1 } as const;

interface Packing {
  readonly kind?: ObjectKind;
  readonly level?: number;
}

/** Here, or in a thread of the pool: the tree of a folder with 100,000 files takes 50 ms. */
export async function toEntry(
  hash: Hash,
  content: Uint8Array,
  { kind = 'blob', ...how }: Packing = {},
): Promise<PackEntry> {
  const head = entryHead(kind, content.byteLength);
  if (kind !== 'blob' && content.byteLength <= STORED) return entryOf(hash, head, stored(content));
  const isShort = content.byteLength <= DEFLATED_HERE;
  const deflated = isShort ? deflateSync(content, how) : await deflateElsewhere(content, how);
  return entryOf(hash, head, deflated);
}

/** Of a blob, here. */
export function toHurriedEntry(hash: Hash, content: Uint8Array): PackEntry {
  return entryOf(hash, entryHead('blob', content.byteLength), deflateSync(content, HURRIED));
}

/** As zlib writes what it leaves as it is: https://www.rfc-editor.org/rfc/rfc1950. At most 65,535 bytes. */
export function stored(content: Uint8Array): Buffer {
  const bytes = Buffer.alloc(STORED_HEAD + content.byteLength + 4);
  bytes.writeUInt16BE(0x7801, 0);
  bytes.writeUInt8(1, 2);
  bytes.writeUInt16LE(content.byteLength, 3);
  bytes.writeUInt16LE(content.byteLength ^ 0xffff, 5);
  bytes.set(content, STORED_HEAD);
  bytes.writeUInt32BE(adler32(content), STORED_HEAD + content.byteLength);
  return bytes;
}

function adler32(content: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of content) {
    a = (a + byte) % ADLER_BASE;
    b = (b + a) % ADLER_BASE;
  }
  return b * 0x10000 + a;
}

function entryOf(hash: Hash, head: Buffer, deflated: Uint8Array): PackEntry {
  const bytes = Buffer.concat([head, deflated]);
  return { hash, bytes, crc: crc32(bytes) };
}

/** Type and size: four bits of it, then seven at a time. */
function entryHead(kind: ObjectKind, size: number): Buffer {
  const head = [(KINDS[kind] << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head.push((head.pop() ?? 0) | 128, rest & 127);
  }
  return Buffer.from(head);
}

export function packHeader(count: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  return header;
}

/**
 * For a pack that was there before and that git is about to take away, or has taken away: any name
 * will do, and this one it has not seen.
 */
export function unseenName(): string {
  return `pack-${randomBytes(ID_BYTES).toString('hex')}`;
}

/** No two entries may have the same hash. */
export function encodePack(entries: readonly PackEntry[]): PackFile {
  const body = Buffer.concat([packHeader(entries.length), ...entries.map(({ bytes }) => bytes)]);
  const sum = sha1(body);
  const pack = Buffer.concat([body, sum]);
  let offset = HEADER_BYTES;
  const placed = entries.map(({ hash, crc, bytes }) => {
    const at = offset;
    offset += bytes.byteLength;
    return { hash, crc, at };
  });
  return { name: `pack-${sum.toString('hex')}`, pack, index: encodeIndex(placed, sum) };
}

/** Where in a pack an entry begins: below 2 GiB. */
export interface PlacedEntry {
  readonly hash: Hash;
  readonly crc: number;
  readonly at: number;
}

export function encodeIndex(entries: readonly PlacedEntry[], packSum: Buffer): Buffer {
  const placed = [...entries].sort((a, b) => (a.hash < b.hash ? -1 : 1));
  const count = placed.length;
  const index = Buffer.alloc(NAMES_AT + count * (ID_BYTES + 8) + ID_BYTES);
  index.writeUInt32BE(INDEX_MAGIC, 0);
  index.writeUInt32BE(2, 4);
  const upTo = new Uint32Array(256);
  placed.forEach(({ hash, crc, at }, number) => {
    index.write(hash, NAMES_AT + number * ID_BYTES, 'hex');
    index.writeUInt32BE(crc, crcsAt(count) + number * 4);
    index.writeUInt32BE(at, offsetsAt(count) + number * 4);
    upTo[Number.parseInt(hash.slice(0, 2), 16)] = number + 1;
  });
  let total = 0;
  upTo.forEach((last, byte) => {
    total = Math.max(total, last);
    index.writeUInt32BE(total, FANOUT_AT + byte * 4);
  });
  packSum.copy(index, index.length - ID_BYTES);
  return Buffer.concat([index, sha1(index)]);
}

/** The entries of a pack that `encodePack` made; undefined when it is damaged. */
export function decodePack(pack: Buffer, index: Buffer): PackEntry[] | undefined {
  const end = pack.length - ID_BYTES;
  if (end < HEADER_BYTES || !sha1(pack.subarray(0, end)).equals(pack.subarray(end))) return;
  const indexEnd = index.length - ID_BYTES;
  if (indexEnd < NAMES_AT || !sha1(index.subarray(0, indexEnd)).equals(index.subarray(indexEnd)))
    return;
  const count = index.readUInt32BE(NAMES_AT - 4);
  const placed = Array.from({ length: count }, (_, number) => {
    const name = NAMES_AT + number * ID_BYTES;
    return {
      hash: index.toString('hex', name, name + ID_BYTES) as Hash,
      crc: index.readUInt32BE(crcsAt(count) + number * 4),
      at: index.readUInt32BE(offsetsAt(count) + number * 4),
    };
  });
  placed.sort((a, b) => a.at - b.at);
  return placed.map(({ hash, crc, at }, number) => {
    return { hash, crc, bytes: pack.subarray(at, placed[number + 1]?.at ?? end) };
  });
}

const crcsAt = (count: number): number => NAMES_AT + count * ID_BYTES;
const offsetsAt = (count: number): number => NAMES_AT + count * (ID_BYTES + 4);

function sha1(bytes: Uint8Array): Buffer {
  return createHash('sha1').update(bytes).digest();
}
