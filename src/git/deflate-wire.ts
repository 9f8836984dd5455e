import type { Hash } from '../core/model.js';

/** Contents one after another: one piece of memory that can be handed over to a thread and back. */
export interface Pieces {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

/** Files that the thread reads by itself. */
export interface Places {
  readonly places: readonly string[];
  readonly sizes: readonly number[];
}

export type DeflateRequest = (Pieces | Places) & {
  readonly id: number;
  readonly hashes: readonly Hash[];
};

/** Entries of a pack, in the order of the request. */
export interface DeflateReply extends Pieces {
  readonly id: number;
  readonly crcs: readonly number[];
  /** Numbers in the request whose content is not what its name says; there is no entry for them. */
  readonly wrong: readonly number[];
}

export function joined(parts: readonly Uint8Array[]): Pieces {
  const lengths = parts.map((part) => part.length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, lengths };
}

export function* parted({ bytes, lengths }: Pieces): Generator<Uint8Array> {
  let at = 0;
  for (const length of lengths) {
    yield bytes.subarray(at, at + length);
    at += length;
  }
}
