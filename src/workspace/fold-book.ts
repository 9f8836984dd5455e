import type { Derived } from '../core/derived.js';
import { overlaps, type FoldNote, type Run, type Stretch } from '../core/folding.js';
import type { LedgerEntry } from '../core/ledger.js';

export interface Folded extends Run {
  /** The line that tells of it. */
  readonly event: string;
  /** Its space was not given back yet, as far as the lines say. */
  readonly isDue?: true;
}

/** All runs whose contents were let go, as the ledger tells them. */
export class FoldBook implements Derived {
  readonly name = 'folds';
  readonly form = 1;
  /** In the order of their lines; no two have a line in common. */
  #runs: Folded[] = [];

  reset(): void {
    this.#runs = [];
  }

  save(): unknown[] {
    return [...this.#runs];
  }

  load(piece: unknown): void {
    this.#runs.push(piece as Folded);
  }

  fold(entry: LedgerEntry): void {
    if (entry['pruned'] !== undefined) {
      this.#runs = this.#runs.map(({ isDue: _isDue, ...run }) => run);
    }
    const note = entry['folded'] as FoldNote | undefined;
    if (note === undefined || note.part !== undefined) return;
    const { after, before, from, to, events } = note;
    this.#runs.push({ after, before, from, to, events, event: entry.id, isDue: true });
    this.#runs.sort((a, b) => a.after - b.after);
  }

  /** The oldest lines first. */
  list(): readonly Folded[] {
    return this.#runs;
  }

  /** Those that a prune, or what comes before it, has still to do with. */
  due(): Folded[] {
    return this.#runs.filter(({ isDue }) => isDue === true);
  }

  /** The run that a line is in. */
  of(seq: number): Folded | undefined {
    return this.within({ after: seq - 1, before: seq + 1 });
  }

  /** The first run with a line in this stretch. */
  within(stretch: Stretch): Folded | undefined {
    // Runs are in order and apart, so their ends are in order too.
    let [low, high] = [0, this.#runs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#runs[middle]?.before ?? 0) <= stretch.after + 1) low = middle + 1;
      else high = middle;
    }
    const run = this.#runs[low];
    return run !== undefined && overlaps(run, stretch) ? run : undefined;
  }
}
