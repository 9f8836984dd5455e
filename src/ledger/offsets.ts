/** Where to start reading for a sequence number; remembers one line in so many. */
export interface Offsets {
  add(seq: number, offset: number): void;
  /** Forgets everything after `seq`. */
  cut(seq: number): void;
  /** A place at or before the first entry larger than `seq`. */
  before(seq: number): number;
}

/** A look at one line reads and skips at most so many. */
const EVERY = 16;

export function createOffsets(): Offsets {
  const seqs: number[] = [];
  const offsets: number[] = [];
  return {
    add(seq, offset) {
      // A number out of order (a damaged file) must not break the search.
      if (seq >= (seqs.at(-1) ?? -EVERY) + EVERY) {
        seqs.push(seq);
        offsets.push(offset);
      }
    },
    cut(seq) {
      while ((seqs.at(-1) ?? 0) > seq) {
        seqs.pop();
        offsets.pop();
      }
    },
    before(seq) {
      let low = 0;
      let high = seqs.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((seqs[middle] ?? 0) <= seq + 1) low = middle + 1;
        else high = middle;
      }
      return offsets[low - 1] ?? 0;
    },
  };
}
