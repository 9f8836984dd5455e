import { PINNED } from '../core/changes/mark-name.js';
import type { Severity } from '../core/changes/news.js';
import type { Derived } from '../core/derived.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { BookmarkNote } from './bookmark-book.js';

/** What a line says of a mark, besides that it is a bookmark; its name is the line's `bookmark`. */
export interface MarkNote {
  /** Where in all streams it was set. */
  readonly cursor: string;
  /** The page that was open. */
  readonly url: string | null;
  /** How the endpoints did, for whoever asks when no request is remembered any more. */
  readonly endpoints: Readonly<Record<string, { status: number; durationMs?: number }>>;
  /** Of what had happened since the mark before it. */
  readonly severity: Severity;
  readonly summary: string;
  /** The baseline to compare with instead. */
  readonly baseline: string | null;
}

export interface Mark extends MarkNote {
  readonly name: string;
  readonly at: string;
  readonly checkpoint: string;
}

/** All marks as the ledger tells them: each is a bookmark with a cursor. */
export class MarkBook implements Derived {
  readonly name = 'marks';
  readonly form = 1;
  readonly #known = new Map<string, Mark>();

  reset(): void {
    this.#known.clear();
  }

  save(): unknown[] {
    return this.list();
  }

  load(piece: unknown): void {
    const mark = piece as Mark;
    this.#known.set(mark.name, mark);
  }

  fold({ bookmark: name, ts: at, ...rest }: LedgerEntry): void {
    const bookmarked = rest['bookmarked'] as BookmarkNote | undefined;
    if (bookmarked === undefined || name === null) return;
    // One that is set again is the newest.
    this.#known.delete(name);
    const note = rest['marked'] as MarkNote | undefined;
    if (bookmarked.what === 'removed' || note === undefined) return;
    this.#known.set(name, { name, at, checkpoint: bookmarked.commit, ...note });
  }

  get(name: string): Mark | undefined {
    return this.#known.get(name);
  }

  /** One that sets itself, so nobody chose its name. */
  isAutomatic(name: string): boolean {
    return PINNED.includes(name) && this.#known.has(name);
  }

  /** In the order in which they were set. */
  list(): Mark[] {
    return [...this.#known.values()];
  }
}
