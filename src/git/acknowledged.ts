import type { Hash } from '../core/model.js';

/** Blobs that are on the disk for certain: nobody has to write them again. */
export interface Acknowledged {
  has(hash: Hash): boolean;
  /** Only what has been flushed. */
  add(hash: Hash): void;
  /** Blobs may have left the store. */
  clear(): void;
}

/** Two halves of this many, the older of which goes when the newer is full. */
const HALF = 100_000;

export function createAcknowledged(half = HALF): Acknowledged {
  let newer = new Set<Hash>();
  let older = new Set<Hash>();
  return {
    has: (hash) => newer.has(hash) || older.has(hash),
    add(hash) {
      if (newer.size >= half && !newer.has(hash)) {
        older = newer;
        newer = new Set();
      }
      newer.add(hash);
    },
    clear() {
      newer = new Set();
      older = new Set();
    },
  };
}

/** Blobs whose writers have not recorded them yet: a prune must not take them away. */
export interface Holds {
  /** Until the answer, and for a while after it. */
  hold(hashes: readonly Hash[]): () => void;
  all(): Set<Hash>;
}

/**
 * A writer records the name right after the answer, and from then on it is pinned. The last
 * calls are kept for that moment: at least 64, more than work at once, and as many more as have
 * 16,384 names together, which is some 40 seconds of 400 a second.
 */
const LEAST_CALLS = 64;
const MOST_NAMES = 16_384;

export function createHolds(): Holds {
  const open = new Set<readonly Hash[]>();
  const recent: (readonly Hash[])[] = [];
  let names = 0;
  return {
    hold(hashes) {
      open.add(hashes);
      return () => {
        if (!open.delete(hashes)) return;
        recent.push(hashes);
        names += hashes.length;
        while (names > MOST_NAMES && recent.length > LEAST_CALLS) {
          names -= recent.shift()?.length ?? 0;
        }
      };
    },
    all: () => new Set([...open, ...recent].flat()),
  };
}
