import { createHash } from 'node:crypto';
import {
  closeSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Hash } from '../core/model.js';
import type { DeflateReply } from './deflate-wire.js';
import { encodeIndex, packHeader, unseenName, type PlacedEntry } from './pack-file.js';
import type { Packs } from './packs.js';

/** A pack that grows in its file: of any number of blobs, of which none stays in memory. */
export interface LargePack {
  /** Those of a batch that are what their names say. */
  add(hashes: readonly Hash[], entries: DeflateReply): void;
  readonly bytes: () => number;
  /** Makes it visible, unless the very pack was there before; answers its path. Not flushed yet. */
  finish(): string;
  /** What is not visible by now goes. */
  discard(): void;
}

export interface LargePackPlace {
  readonly folder: string;
  readonly packs: Pick<Packs, 'knows'>;
  readonly number: number;
  /** A repack that is under way leaves it alone. */
  readonly isHeld: () => boolean;
}

const CHUNK = 1024 * 1024;

/** As many entries as are expected: with another number of them it is read once more at the end. */
export function openLargePack(
  { folder, packs, number, isHeld }: LargePackPlace,
  expected: number,
): LargePack {
  const growing = join(folder, `tmp_pack_many-${number}`);
  const file = openSync(growing, 'wx+', 0o444);
  const placed: PlacedEntry[] = [];
  const digest = createHash('sha1');
  let size = 0;
  let isOpen = true;
  try {
    append(packHeader(expected));
  } catch (error) {
    closeSync(file);
    rmSync(growing, { force: true });
    throw error;
  }

  /** All of it: a disk that is nearly full may take a part and say so. */
  function put(bytes: Uint8Array, at: number): void {
    for (let done = 0; done < bytes.length;) {
      done += writeSync(file, bytes, done, bytes.length - done, at + done);
    }
  }

  function append(bytes: Uint8Array): void {
    put(bytes, size);
    digest.update(bytes);
    size += bytes.length;
  }

  /** Of what is in the file, with the number of entries at its beginning. */
  function corrected(): Buffer {
    put(packHeader(placed.length), 0);
    const anew = createHash('sha1');
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size));
    for (let at = 0; at < size;) {
      const read = readSync(file, chunk, 0, Math.min(chunk.length, size - at), at);
      if (read === 0) throw new Error('a pack is shorter than what was written to it');
      anew.update(chunk.subarray(0, read));
      at += read;
    }
    return anew.digest();
  }

  function close(): void {
    if (isOpen) closeSync(file);
    isOpen = false;
  }

  return {
    bytes: () => size,
    add(hashes, { bytes, lengths, crcs, wrong }) {
      const isWrong = new Set(wrong);
      const right = hashes.filter((_, place) => !isWrong.has(place));
      let at = size;
      append(bytes);
      right.forEach((hash, place) => {
        placed.push({ hash, crc: crcs[place] ?? 0, at });
        at += lengths[place] ?? 0;
      });
    },
    finish() {
      const sum = placed.length === expected ? digest.digest() : corrected();
      put(sum, size);
      close();
      const own = join(folder, `pack-${sum.toString('hex')}`);
      const isKnown = packs.knows(`${own}.pack`);
      // Replaced by one that is not flushed yet it would be less than it was.
      if (isKnown && !isHeld()) return `${own}.pack`;
      const name = isKnown ? join(folder, unseenName()) : own;
      const index = join(folder, `tmp_idx_many-${number}`);
      writeFileSync(index, encodeIndex(placed, sum), { mode: 0o444 });
      if (isHeld()) writeFileSync(`${name}.keep`, '');
      // Whole before its index makes it visible, to readers and after a kill.
      renameSync(growing, `${name}.pack`);
      renameSync(index, `${name}.idx`);
      return `${name}.pack`;
    },
    discard() {
      close();
      rmSync(growing, { force: true });
      rmSync(join(folder, `tmp_idx_many-${number}`), { force: true });
    },
  };
}
