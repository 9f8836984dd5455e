import { closeSync, openSync, readSync } from 'node:fs';
import type { Hash } from '../core/model.js';

/** What is kept of an index: how many names there are up to each first byte. */
export type Fanout = Uint32Array;

const FANOUT_AT = 8;
const NAMES_AT = FANOUT_AT + 256 * 4;
const ID_BYTES = 20;

/** Throws for an index that is not whole. */
export function readFanout(file: number): Fanout {
  const bytes = Buffer.alloc(NAMES_AT - FANOUT_AT);
  readSync(file, bytes, 0, bytes.length, FANOUT_AT);
  return Uint32Array.from({ length: 256 }, (_, byte) => bytes.readUInt32BE(byte * 4));
}

/**
 * Whether an index lists this name. A small pack is ruled out by its fan-out alone, a large one
 * by a single read; git's own reader would look at the folder again for every name it misses.
 */
export function listsName(path: string, fanout: Fanout, hash: Hash): boolean {
  const id = Buffer.from(hash, 'hex');
  const [byte] = id;
  if (byte === undefined || id.length !== ID_BYTES) return false;
  const from = byte === 0 ? 0 : (fanout[byte - 1] ?? 0);
  const count = (fanout[byte] ?? 0) - from;
  if (count <= 0) return false;
  const names = Buffer.allocUnsafe(count * ID_BYTES);
  const file = openSync(path, 'r');
  try {
    const read = readSync(file, names, 0, names.length, NAMES_AT + from * ID_BYTES);
    return holds(names.subarray(0, read), id);
  } finally {
    closeSync(file);
  }
}

function holds(names: Buffer, id: Buffer): boolean {
  for (let at = names.indexOf(id); at !== -1; at = names.indexOf(id, at + 1)) {
    if (at % ID_BYTES === 0) return true;
  }
  return false;
}
