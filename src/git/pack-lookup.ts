import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { openToRead } from './files.js';

/** What is kept of a pack and its index. */
export interface PackSummary {
  /** Of both files. */
  readonly bytes: number;
  readonly objects: number;
  /** Whether the index lists this name, given as its 20 bytes. */
  has(id: Buffer): boolean;
}

const FANOUT_AT = 8;
const NAMES_AT = FANOUT_AT + 256 * 4;
const ID_BYTES = 20;
/** The names of packs up to this many are kept once somebody asked: 4 MB each, and large packs are few. */
const KEPT_NAMES = 200_000;

/**
 * Throws for a pack that is not whole. Small packs are ruled out by how many names they have for
 * the first byte, or in memory; large ones are few and cost one read. Git's own reader looks at
 * the folder again for every name it misses.
 */
export function summarise(pack: string, index: string): PackSummary {
  const size = statSync(pack).size;
  const { fanout, indexSize } = reading(index, (file) => {
    const bytes = Buffer.alloc(NAMES_AT - FANOUT_AT);
    readSync(file, bytes, 0, bytes.length, FANOUT_AT);
    return { fanout: bytes, indexSize: fstatSync(file).size };
  });
  const upTo = (byte: number): number => (byte < 0 ? 0 : fanout.readUInt32BE(byte * 4));
  const objects = upTo(255);
  let kept: Buffer | undefined;

  function namesOf(from: number, to: number): Buffer {
    if (objects > KEPT_NAMES) return readNames(index, from, to);
    kept ??= readNames(index, 0, objects);
    return kept.subarray(from * ID_BYTES, to * ID_BYTES);
  }

  return {
    bytes: size + indexSize,
    objects,
    has(id) {
      const [byte] = id;
      if (byte === undefined || id.length !== ID_BYTES) return false;
      const [from, to] = [upTo(byte - 1), upTo(byte)];
      return to > from && lists(namesOf(from, to), id);
    },
  };
}

function readNames(index: string, from: number, to: number): Buffer {
  return reading(index, (file) => {
    const names = Buffer.alloc((to - from) * ID_BYTES);
    readSync(file, names, 0, names.length, NAMES_AT + from * ID_BYTES);
    return names;
  });
}

function reading<T>(path: string, read: (file: number) => T): T {
  const file = openToRead(path);
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}

function lists(names: Buffer, id: Buffer): boolean {
  for (let at = names.indexOf(id); at !== -1; at = names.indexOf(id, at + 1)) {
    if (at % ID_BYTES === 0) return true;
  }
  return false;
}
