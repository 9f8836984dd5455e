import type { LedgerEntry } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import type { ChangeBatch, ChangeOrigin, FileState } from '../core/watching.js';

/** A change of a file as the watcher told it. */
interface Noticed {
  readonly path: Path;
  /** The file is no longer looked at: whatever became of it is no news. */
  readonly isLeft: boolean;
  readonly before: FileState | null;
  readonly origin: ChangeOrigin;
  /** Wall time in ms. */
  readonly at: number;
}

/** A change of a file as a line of the ledger tells it. */
interface Told {
  readonly seq: number;
  readonly path: Path;
  readonly by: string;
}

export interface Trace {
  /** What each path held when it first changed, in the order of that. */
  readonly before: Map<Path, FileState | null>;
  /** How a path was noticed last. */
  readonly origins: Map<Path, ChangeOrigin>;
}

/** A checkout of a large project fills it; who looks from before then is told by the ledger. */
const MOST_NOTICED = 20_000;
const MOST_TOLD = 20_000;

/** The last changes of files in this run, so that whoever asks again and again costs nothing. */
export class FileTrail {
  #noticed: Noticed[] = [];
  /** How many came before the first that is still there. */
  #forgotten = 0;
  #told: Told[] = [];
  #toldAfter: number;

  /** The last line of the ledger, and the wall time in ms, when this run began. */
  readonly beganAfter: number;
  readonly beganAt: number;

  constructor(beganAfter: number, beganAt: number) {
    this.beganAfter = beganAfter;
    this.beganAt = beganAt;
    this.#toldAfter = beganAfter;
  }

  /** Changes noticed so far. */
  get observed(): number {
    return this.#forgotten + this.#noticed.length;
  }

  notice({ changes, untracked }: ChangeBatch, at: number): void {
    for (const { path, before, origin } of changes) {
      // A rule changed, not the file.
      if (origin === 'rules') continue;
      this.#noticed.push({ path, before: before ?? null, origin, at, isLeft: false });
    }
    for (const path of untracked) {
      this.#noticed.push({ path, before: null, origin: 'rules', at, isLeft: true });
    }
    if (this.#noticed.length < MOST_NOTICED * 2) return;
    this.#forgotten += this.#noticed.length - MOST_NOTICED;
    this.#noticed = this.#noticed.slice(-MOST_NOTICED);
  }

  record({ seq, changes, ...entry }: LedgerEntry): void {
    const by = entry['by'];
    if (typeof by !== 'string' || entry['noted'] === true) return;
    for (const { path } of changes) this.#told.push({ seq, path: path as Path, by });
    if (this.#told.length < MOST_TOLD * 2) return;
    const gone = this.#told.slice(0, -MOST_TOLD);
    this.#toldAfter = gone.at(-1)?.seq ?? this.#toldAfter;
    this.#told = this.#told.slice(-MOST_TOLD).filter((one) => one.seq > this.#toldAfter);
  }

  /** How many changes had been noticed at some time. */
  observedAt(time: number): number {
    const later = this.#noticed.findIndex(({ at }) => at > time);
    return this.#forgotten + (later === -1 ? this.#noticed.length : later);
  }

  /** What changed after so many changes; undefined when some of it is forgotten. */
  since(observed: number): Trace | undefined {
    if (observed < this.#forgotten) return undefined;
    const before = new Map<Path, FileState | null>();
    const origins = new Map<Path, ChangeOrigin>();
    for (const one of this.#noticed.slice(observed - this.#forgotten)) {
      if (one.isLeft) before.delete(one.path);
      else if (!before.has(one.path)) before.set(one.path, one.before);
      origins.set(one.path, one.origin);
    }
    return { before, origins };
  }

  /** Who changed each path after a line, in order; undefined when some of it is forgotten. */
  authorsSince(seq: number): Map<Path, string[]> | undefined {
    if (seq < this.#toldAfter) return undefined;
    const authors = new Map<Path, string[]>();
    for (let at = this.#told.length - 1; at >= 0; at -= 1) {
      const one = this.#told[at];
      if (one === undefined || one.seq <= seq) break;
      const known = authors.get(one.path);
      if (known === undefined) authors.set(one.path, [one.by]);
      else if (!known.includes(one.by)) known.unshift(one.by);
    }
    return authors;
  }
}
