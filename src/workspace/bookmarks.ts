import { PINNED } from '../core/changes/mark-name.js';
import { requireBookmarkName, requireNoId } from '../core/bookmark-name.js';
import type { DialogState } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import { eventId, type NewEvent } from '../core/ledger.js';
import type { CommitId, Hash } from '../core/model.js';
import { nearest } from '../core/nearest.js';
import type { Clock, Log, SmallFile } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import { resolveId } from '../core/resolve-id.js';
import { readSnapshotId } from '../core/snapshots.js';
import { KEPT, type BranchUpdate, type CheckpointStore } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import { placeOf } from './adoption.js';
import type { Bookmark, BookmarkBook, BookmarkNote } from './bookmark-book.js';
import type { Checkpoints } from './checkpoints.js';
import type { DialogBook } from './dialog-book.js';
import type { Dialogs } from './dialogs.js';
import type { EditBook } from './edit-book.js';
import type { Goals } from './goals.js';
import type { MarkBook, MarkNote } from './mark-book.js';
import type { Places, SavedPlace } from './places.js';
import { settled } from './settled.js';
import type { SnapshotBook } from './snapshot-book.js';
import type { Unrecorded } from './unrecorded.js';

export interface BookmarkDeps {
  readonly bookmarks: BookmarkBook;
  readonly marks: MarkBook;
  readonly snapshots: SnapshotBook;
  readonly book: DialogBook;
  readonly dialogs: Dialogs;
  readonly checkpoints: Checkpoints;
  readonly places: Places;
  readonly goals: Goals;
  readonly store: CheckpointStore;
  readonly unrecorded: Pick<Unrecorded, 'recorded'>;
  readonly editBook: Pick<EditBook, 'append'>;
  readonly watcher: Watcher;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** `ledger/bookmarks.json`. */
  readonly bookmarkFile: SmallFile;
}

export interface BookmarkRequest {
  readonly name: string;
  readonly event?: string | undefined;
  readonly snapshot?: string | undefined;
  readonly checkpoint?: string | undefined;
  readonly dialog?: string | undefined;
}

interface Target {
  readonly id: string;
  readonly place: SavedPlace;
}

const NOT_AS_THE_LEDGER = 'it is not what the ledger says';
/** Branches of the whole project that hold what bookmarks name. */
const PIN = 'pin-';

/** Names for states of the project. What has a name is kept as long as it has it. */
export class Bookmarks {
  readonly #deps: BookmarkDeps;

  constructor(deps: BookmarkDeps) {
    this.#deps = deps;
  }

  async add(request: BookmarkRequest) {
    const { watcher, queue, dialogs } = this.#deps;
    const name = requireBookmarkName(request.name);
    requireOneTarget(request);
    await settled(watcher);
    return queue.run(async () => {
      this.requireFree(name);
      const dialog = await dialogs.wanted(request.dialog);
      return this.set(name, await this.#target(dialog, request));
    });
  }

  /** Gives a name to a state, whatever it named before. In a turn; `mark`: what makes it a mark. */
  async set(name: string, { id, place }: Target, mark?: MarkNote) {
    const isMoved = this.#deps.bookmarks.get(name) !== undefined;
    const commit = await this.#hold(name, { id, place }, mark);
    const asOf = (place.kind === 'event' ? place.seq : place.asOf) ?? 0;
    const event = await this.#record(name, { what: 'added', id, commit, as_of: asOf }, mark);
    if (isMoved) await this.#settleLater();
    return { name, id, commit_id: commit, event };
  }

  remove(name: string) {
    return this.#deps.queue.run(() => this.drop(name));
  }

  /** The same in a turn. */
  async drop(name: string) {
    const { bookmarks } = this.#deps;
    const known = bookmarks.get(name);
    if (known === undefined) throw notFound(name, bookmarks.list());
    const { id, commit, asOf } = known;
    // The line first: a pin without a name goes at the next start.
    const event = await this.#record(name, { what: 'removed', id, commit, as_of: asOf });
    await this.#settleLater();
    return { name, id, event };
  }

  list() {
    return this.#deps.queue.share(() => {
      const all = this.#listed();
      return {
        bookmarks: toMap(all),
        details: all.map(({ name, id, commit, event, at }) => {
          return { name, id, commit_id: commit, event, created_at: at };
        }),
      };
    });
  }

  /** To be called when the ledger was read: pins and file are what it says. */
  async open(): Promise<void> {
    await this.#settlePins();
    const due = toMap(this.#listed());
    const present = this.#deps.bookmarkFile.read();
    if (present === undefined && Object.keys(due).length === 0) return;
    if (JSON.stringify(present) !== JSON.stringify(due)) this.#writeFile();
  }

  /** Why `bookmarks.json` is not what the ledger says; undefined when it is, or is not there. */
  whyFileDiffers(): string | undefined {
    const { bookmarkFile } = this.#deps;
    if (!bookmarkFile.isThere()) return undefined;
    const due = JSON.stringify(toMap(this.#listed()));
    return JSON.stringify(bookmarkFile.read()) === due ? undefined : NOT_AS_THE_LEDGER;
  }

  /** What people named: marks that set themselves are told by `list_marks` alone. */
  #listed(): Bookmark[] {
    const { bookmarks, marks } = this.#deps;
    return bookmarks.list().filter(({ name }) => !marks.isAutomatic(name));
  }

  async #record(name: string, note: BookmarkNote, mark?: MarkNote): Promise<string> {
    const { editBook, bookmarks, marks, unrecorded, book, clock, version } = this.#deps;
    const dialog = book.find(undefined);
    const isMark = mark !== undefined || marks.get(name) !== undefined;
    const what = isMark ? 'mark' : 'bookmark';
    const line: NewEvent = {
      ts: new Date(clock.now()).toISOString(),
      author: { name: 'smithyd', version, kind: 'daemon' },
      action_type: 'checkpoint',
      ...(dialog === undefined ? {} : placeOf(dialog)),
      bookmark: name,
      ...(readSnapshotId(note.id) === undefined ? {} : { snapshot_ref: note.id }),
      message: `${note.what === 'added' ? capital(what) : `Removed ${what}`} ${name}: ${note.id}`,
      bookmarked: note,
      ...(mark === undefined ? {} : { marked: mark }),
      ...(isMark && PINNED.includes(name) ? { automatic: true } : {}),
    };
    const [entry] = await editBook.append([line]);
    if (entry === undefined) throw new Error('a bookmark left no line');
    bookmarks.fold(entry);
    marks.fold(entry);
    unrecorded.recorded(KEPT);
    this.#writeFile();
    return entry.id;
  }

  /** What is asked for; without a word the project as it is now. */
  async #target(
    dialog: DialogState,
    { name, event, snapshot, checkpoint }: BookmarkRequest,
  ): Promise<Target> {
    const { places, checkpoints, book } = this.#deps;
    if (event !== undefined) {
      const place = places.atEvent(event);
      const seq = place.kind === 'event' ? place.seq : (place.asOf ?? 0);
      return { id: eventId(seq), place };
    }
    if (snapshot !== undefined) {
      const { id } = this.#deps.snapshots.require(snapshot);
      return { id, place: places.atSnapshot(id) };
    }
    if (checkpoint !== undefined) return this.#checkpoint(checkpoint);
    const message = `Bookmark ${name}`;
    const saved = await checkpoints.save(dialog, { kind: 'manual', message, always: false });
    const asOf = book.madeAt(dialog.id, saved.commit);
    return { id: saved.commit, place: { kind: 'commit', commit: saved.commit, asOf } };
  }

  /** Of any dialog: a bookmark belongs to the whole project. */
  #checkpoint(given: string): Target {
    const known = this.#commits();
    const missing = 'CHECKPOINT_NOT_FOUND';
    const id = resolveId({ what: 'checkpoint', given, known: known.keys(), missing });
    return { id, place: { kind: 'commit', commit: id as CommitId, asOf: known.get(id) } };
  }

  /** Every checkpoint there is, and the line after which it was the state. */
  #commits(): Map<string, number> {
    const { book, bookmarks } = this.#deps;
    const known = new Map<string, number>();
    for (const { commit, asOf } of bookmarks.list()) known.set(commit, asOf);
    const made = book.list().flatMap(({ id }) => book.made(id));
    for (const { commit, seq } of made) known.set(commit, seq);
    return known;
  }

  /** Nothing for a mark that sets itself: its dialog has the checkpoint as long as the mark is there. */
  async #hold(name: string, { id, place }: Target, mark?: MarkNote): Promise<CommitId> {
    const isAutomatic = mark !== undefined && PINNED.includes(name) && place.kind !== 'event';
    return isAutomatic ? place.commit : this.#pin(id, place);
  }

  /** Holds a state by a branch of its own; the commit that is held. */
  async #pin(id: string, place: SavedPlace): Promise<CommitId> {
    const { store, goals } = this.#deps;
    const pinned = this.#listed().find((one) => one.id === id);
    if (pinned !== undefined) return pinned.commit;
    await store.createRepository(KEPT);
    const branch = `${PIN}${id}`;
    if (place.kind === 'event') {
      const message = `The project after ${id}`;
      return goals.make(place, { dialog: KEPT, branch, parents: [], message, kind: 'bookmark' });
    }
    const expected = (await store.branches(KEPT)).get(branch) ?? null;
    await store.setBranches(KEPT, [{ name: branch, to: place.commit, expected }]);
    return place.commit;
  }

  /** What it does is only tidy: the next start does it too. */
  async #settleLater(): Promise<void> {
    await this.#settlePins().catch((error: unknown) => {
      this.#deps.log.write('warn', 'a pin is left for the next start', { error: String(error) });
    });
  }

  /** A pin for everything that somebody named, and none for what has not. */
  async #settlePins(): Promise<void> {
    const { store, log } = this.#deps;
    const due = new Map(this.#listed().map(({ id, commit }) => [`${PIN}${id}`, commit]));
    const present = await store.branches(KEPT);
    const updates: BranchUpdate[] = [...present]
      .filter(([name]) => name.startsWith(PIN) && !due.has(name))
      .map(([name, expected]) => ({ name, to: null, expected }));
    const lost = [...due].filter(([name, commit]) => present.get(name) !== commit);
    const asBlobs = lost.map(([, commit]) => commit as string as Hash);
    const there = lost.length === 0 ? new Set<string>() : await store.has(asBlobs);
    for (const [name, to] of lost.filter(([, commit]) => there.has(commit as string as Hash))) {
      updates.push({ name, to, expected: present.get(name) ?? null });
    }
    if (updates.length === 0) return;
    await store.createRepository(KEPT);
    await store.setBranches(KEPT, updates);
    this.#deps.unrecorded.recorded(KEPT);
    log.write('info', 'pins are what the bookmarks say', { changed: updates.length });
  }

  #writeFile(): void {
    try {
      this.#deps.bookmarkFile.write(toMap(this.#listed()));
    } catch (error) {
      // Made again at the next start; the line is what counts.
      this.#deps.log.write('warn', 'bookmarks.json could not be written', { error: String(error) });
    }
  }

  /** @throws SmithyError NAME_TAKEN, NAME_INVALID */
  requireFree(name: string): void {
    requireNoId(name, this.#commits().keys());
    const taken = this.#deps.bookmarks.get(name);
    if (taken === undefined) return;
    throw new SmithyError('NAME_TAKEN', `There is a bookmark ${name} already, of ${taken.id}.`, {
      hint: `Choose another name, or remove it first: smithyd bookmark rm ${name}.`,
      data: { name, id: taken.id },
    });
  }
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

function toMap(all: readonly Bookmark[]): Record<string, string> {
  return Object.fromEntries(all.map(({ name, id }) => [name, id]));
}

function requireOneTarget({ event, snapshot, checkpoint }: BookmarkRequest): void {
  if ([event, snapshot, checkpoint].filter((one) => one !== undefined).length < 2) return;
  throw new SmithyError('INVALID_PARAMS', 'A bookmark names one thing.', {
    hint: 'Give an event, a snapshot or a checkpoint; none of them means the project as it is now.',
    data: { issues: [{ path: 'checkpoint', message: 'more than one target' }] },
  });
}

function notFound(name: string, all: readonly Bookmark[]): SmithyError {
  const near = nearest(
    name,
    all.map((bookmark) => bookmark.name),
  );
  return new SmithyError('BOOKMARK_NOT_FOUND', `There is no bookmark ${name.slice(0, 100)}.`, {
    hint: 'See `smithyd bookmark list`.',
    data: { id: name, near },
  });
}
