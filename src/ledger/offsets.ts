import { Column } from '../core/column.js';

/** A look at one line reads and skips at most so many. */
const EVERY = 4;

/** Where to start reading for a sequence number; remembers one line in so many. */
export class Offsets {
  readonly seqs = Column.small();
  /** Counted through all files of the ledger. */
  readonly offsets = Column.wide();

  add(seq: number, offset: number): void {
    const { length } = this.seqs;
    // A number out of order (a damaged file) must not break the search.
    if (length > 0 && seq < this.seqs.at(length - 1) + EVERY) return;
    this.seqs.push(seq);
    this.offsets.push(offset);
  }

  /** Forgets everything after `seq`. */
  cut(seq: number): void {
    const length = this.seqs.firstNotBelow(seq + 1);
    this.seqs.cut(length);
    this.offsets.cut(length);
  }

  /** A place at or before the first entry larger than `seq`. */
  before(seq: number): number {
    const place = this.seqs.firstNotBelow(seq + 2);
    return place === 0 ? 0 : this.offsets.at(place - 1);
  }
}
