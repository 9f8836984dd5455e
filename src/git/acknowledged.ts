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
 * 16,384 names together, which is some 40 seconds of 400 a second. None longer than an hour: a
 * daemon that runs for weeks would keep what was folded meanwhile.
 */
const LEAST_CALLS = 64;
const MOST_NAMES = 16_384;
const LONGEST_MS = 60 * 60_000;

export function createHolds(now: () => number = () => performance.now()): Holds {
  const open = new Set<readonly Hash[]>();
  const recent: { readonly hashes: readonly Hash[]; readonly at: number }[] = [];
  let names = 0;
  const drop = (): void => void (names -= recent.shift()?.hashes.length ?? 0);
  return {
    hold(hashes) {
      open.add(hashes);
      return () => {
        if (!open.delete(hashes)) return;
        recent.push({ hashes, at: now() });
        names += hashes.length;
        while (names > MOST_NAMES && recent.length > LEAST_CALLS) drop();
      };
    },
    all() {
      while ((recent[0]?.at ?? Infinity) < now() - LONGEST_MS) drop();
      return new Set([...open, ...recent.map(({ hashes }) => hashes)].flat());
    },
  };
}
