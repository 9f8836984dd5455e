import type { Hash } from '../core/model.js';
import type { PackEntry } from './pack-file.js';

/** Entries that were made before anybody asked for them. */
export interface ReadyEntries {
  get(hash: Hash): PackEntry | undefined;
  add(entry: PackEntry): void;
}

/** What is made ready at a time is a few small files and the folders above them. */
const MOST_BYTES = 1024 * 1024;

/** The last made stay. */
export function createReadyEntries(mostBytes = MOST_BYTES): ReadyEntries {
  const entries = new Map<Hash, PackEntry>();
  let bytes = 0;
  return {
    get: (hash) => entries.get(hash),
    add(entry) {
      if (entries.has(entry.hash) || entry.bytes.byteLength > mostBytes) return;
      entries.set(entry.hash, entry);
      bytes += entry.bytes.byteLength;
      for (const [oldest, gone] of entries) {
        if (bytes <= mostBytes) return;
        entries.delete(oldest);
        bytes -= gone.bytes.byteLength;
      }
    },
  };
}
