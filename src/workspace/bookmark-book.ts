import type { Derived } from '../core/derived.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { CommitId } from '../core/model.js';

/** What a line says that became of a bookmark; its name is the line's `bookmark`. */
export interface BookmarkNote {
  readonly what: 'added' | 'removed';
  /** What it names, as people say it: an event, a snapshot or a checkpoint. */
  readonly id: string;
  /** The state it names. */
  readonly commit: CommitId;
  /** Where in the ledger this was the state. */
  readonly as_of: number;
}

export interface Bookmark {
  readonly name: string;
  readonly id: string;
  readonly commit: CommitId;
  readonly asOf: number;
  /** The line that made it. */
  readonly event: string;
  readonly at: string;
}

/** All bookmarks as the ledger tells them. */
export class BookmarkBook implements Derived {
  readonly name = 'bookmarks';
  readonly form = 1;
  readonly #known = new Map<string, Bookmark>();

  reset(): void {
    this.#known.clear();
  }

  save(): unknown[] {
    return this.list();
  }

  load(piece: unknown): void {
    const bookmark = piece as Bookmark;
    this.#known.set(bookmark.name, bookmark);
  }

  fold({ bookmark: name, id: event, ts: at, ...rest }: LedgerEntry): void {
    const note = rest['bookmarked'] as BookmarkNote | undefined;
    if (note === undefined || name === null) return;
    // One that is set again is the newest.
    this.#known.delete(name);
    if (note.what === 'removed') return;
    const { id, commit, as_of: asOf } = note;
    this.#known.set(name, { name, id, commit, asOf, event, at });
  }

  get(name: string): Bookmark | undefined {
    return this.#known.get(name);
  }

  /** Any bookmark of this event, snapshot or checkpoint. */
  pinned(id: string): Bookmark | undefined {
    return this.list().find((bookmark) => bookmark.id === id);
  }

  /** In the order in which they were made. */
  list(): Bookmark[] {
    return [...this.#known.values()];
  }
}
