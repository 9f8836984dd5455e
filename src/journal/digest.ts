import { types } from 'node:util';
import { crc32 } from 'node:zlib';
import type { ContentTable } from './schema.js';

/**
 * SQLite finds a broken tree, not a changed byte in a text. So the journal keeps the sum of the
 * checksums of its rows: independent of their order, and kept up to date by the difference that a
 * write makes. It guards against a failing disk, not against an adversary.
 */
const MODULUS = 2 ** 48;

export function plus(digest: number, difference: number): number {
  return (digest + difference + MODULUS) % MODULUS;
}

/** The checksum of one packed row, 0 for none. */
export function rowSum(table: ContentTable, row: unknown): number {
  const bytes = bytesOf(row);
  return bytes === undefined ? 0 : crc32(bytes, crc32(table));
}

/** What `meta` itself adds to the digest. */
export function metaSum(lastSeq: number): number {
  return crc32(`meta ${lastSeq}`);
}

/** A value selected `AS BLOB`; undefined for null. */
function bytesOf(cell: unknown): Uint8Array | undefined {
  if (types.isUint8Array(cell)) return cell;
  return types.isAnyArrayBuffer(cell) ? new Uint8Array(cell) : undefined;
}

export function textOf(cell: unknown): string | null {
  const bytes = bytesOf(cell);
  return bytes === undefined ? null : Buffer.from(bytes).toString('utf8');
}
