import type { DialogState } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import { toResults } from '../core/file-results.js';
import { eventId, readEventId, type Ledger } from '../core/ledger.js';
import type { CommitId, Path } from '../core/model.js';
import { idBegunBy, resolveId } from '../core/resolve-id.js';
import { createSkips } from '../core/sight.js';
import { readSnapshotId } from '../core/snapshots.js';
import type { CheckpointStore, TreeChange } from '../core/store.js';
import { sameState, type FileState, type Watcher } from '../core/watching.js';
import type { BookmarkBook } from './bookmark-book.js';
import type { Chronicle } from './chronicle.js';
import { stateOf, type KnownAt } from './claims.js';
import type { DialogBook, SavedAt } from './dialog-book.js';
import { explainedBy } from './explained.js';
import type { Folded, FoldBook } from './fold-book.js';
import { replay } from './replay.js';
import type { Sights } from './sights.js';
import type { SnapshotBook } from './snapshot-book.js';
import type { Timeline } from './timeline.js';

/** A state of the whole project that can be named. */
export type Place = { readonly kind: 'worktree' } | SavedPlace;

export type SavedPlace =
  /** `asOf`: where in the ledger this was the state, for the authors of its lines. */
  | { readonly kind: 'commit'; readonly commit: CommitId; readonly asOf?: number | undefined }
  /** What was known after this line of the ledger. */
  | { readonly kind: 'event'; readonly seq: number };

export interface PlaceDeps {
  readonly book: DialogBook;
  readonly bookmarks: BookmarkBook;
  readonly snapshots: SnapshotBook;
  readonly sights: Pick<Sights, 'at'>;
  readonly folds: Pick<FoldBook, 'within'>;
  readonly chronicle: Chronicle;
  readonly timeline: Timeline;
  readonly ledger: Pick<Ledger, 'read'>;
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
}

type Tree = ReadonlyMap<Path, FileState>;

/** States by the names that people give them, and what they hold. */
export class Places {
  readonly #deps: PlaceDeps;

  constructor(deps: PlaceDeps) {
    this.#deps = deps;
  }

  /** @throws SmithyError EVENT_NOT_FOUND, CHECKPOINT_NOT_FOUND, AMBIGUOUS_ID */
  async resolve(dialog: DialogState, given: string): Promise<Place> {
    if (given === 'worktree') return { kind: 'worktree' };
    const session = dialog.sessions.find(({ name }) => name === given);
    if (session === undefined) return this.saved(dialog, given);
    const tip = (await this.#deps.store.branches(dialog.id)).get(session.name);
    return { kind: 'commit', commit: tip ?? dialog.tip };
  }

  /**
   * One that cannot change any more: a bookmark, an event, a snapshot, a checkpoint of this dialog
   * or one that is bookmarked; `main` is what is approved now.
   *
   * @throws SmithyError EVENT_NOT_FOUND, SNAPSHOT_NOT_FOUND, CHECKPOINT_NOT_FOUND, AMBIGUOUS_ID
   */
  saved(dialog: DialogState, given: string): SavedPlace {
    const { bookmarks, book, snapshots } = this.#deps;
    if (given === 'main') {
      const commit = dialog.approved;
      return { kind: 'commit', commit, asOf: book.madeAt(dialog.id, commit) };
    }
    const marked = bookmarks.get(given) ?? bookmarks.pinned(canonical(given));
    if (marked !== undefined) return { kind: 'commit', commit: marked.commit, asOf: marked.asOf };
    if (readEventId(given) !== undefined) return this.atEvent(given);
    if (readSnapshotId(given) !== undefined) return this.atSnapshot(given);
    const known = new Map<string, number>();
    for (const { commit, asOf } of bookmarks.list()) known.set(commit, asOf);
    for (const { commit, seq } of book.made(dialog.id)) known.set(commit, seq);
    // Anything can be the name of a snapshot: an id keeps its meaning.
    if (idBegunBy(given, known.keys()) === undefined && snapshots.named(given) !== undefined) {
      return this.atSnapshot(given);
    }
    const named = [...bookmarks.list(), ...snapshots.list()];
    const names = new Set(named.flatMap(({ name }) => name ?? []));
    const missing = 'CHECKPOINT_NOT_FOUND';
    const question = { what: 'checkpoint', given, known: known.keys(), names, missing } as const;
    const commit = resolveId(question) as CommitId;
    return { kind: 'commit', commit, asOf: known.get(commit) };
  }

  /** What is at one path; null: nothing. */
  async file(place: Place, path: Path): Promise<FileState | null> {
    const { store, watcher } = this.#deps;
    if (place.kind === 'worktree') return stateOf(watcher.get(path));
    if (place.kind === 'commit') return store.fileAt(place.commit, path);
    const base = this.#base(place.seq);
    const told = await this.#lastTold(path, base.seq, place.seq);
    if (told !== undefined) return told;
    const held = (await this.#heldAt(base)).find(([held]) => held === path);
    if (held !== undefined) return held[1];
    const saved = await store.fileAt(base.commit, path);
    const isSkipped = createSkips(this.#deps.sights.at(base.commit).skipped);
    if (saved !== null || !isSkipped(path)) return saved;
    return (await this.#lastTold(path, 0, base.seq)) ?? null;
  }

  /** What leads from the one to the other, in path order; a file that moved is one change. */
  async compare(from: Place, to: Place): Promise<TreeChange[]> {
    const [a, b] = [await this.#tree(from), await this.#tree(to)];
    const paths = [...new Set([...a.keys(), ...b.keys()])];
    const spans = paths
      .map((path) => ({ path, before: a.get(path) ?? null, after: b.get(path) ?? null }))
      .filter(({ before, after }) => !sameState(before, after));
    return toResults(spans).flatMap(({ change, ...result }): TreeChange[] => {
      if (change === 'unchanged') return [];
      return [{ ...result, change: change === 'created' ? 'added' : change }];
    });
  }

  /**
   * A line that made a checkpoint stands for that checkpoint.
   *
   * @throws SmithyError EVENT_NOT_FOUND when what led there was folded and nobody has named it.
   */
  atEvent(given: string): SavedPlace {
    const { chronicle, folds, bookmarks } = this.#deps;
    const seq = chronicle.seq(given);
    const base = this.#base(seq);
    if (base.seq === seq) return { kind: 'commit', commit: base.commit, asOf: seq };
    // Not only inside of a run: the checkpoint at its end may have gone with its dialog.
    const run = folds.within({ after: base.seq, before: seq + 1 });
    if (run === undefined) return { kind: 'event', seq };
    const marked = bookmarks.pinned(eventId(seq));
    if (marked === undefined) throw this.#folded(seq, run);
    return { kind: 'commit', commit: marked.commit, asOf: marked.asOf };
  }

  atSnapshot(given: string): SavedPlace {
    const { commit, base } = this.#deps.snapshots.require(given);
    return { kind: 'commit', commit, asOf: base };
  }

  /** The state after a line as a checkpoint and what leads from there. */
  async built(seq: number): Promise<{ base: SavedAt; changes: KnownAt[] }> {
    const base = this.#base(seq);
    const later = new Map<Path, FileState | null>();
    // With the checkpoint's own line, which tells what was in the hands of edits.
    await replay(
      this.#deps.ledger,
      (entry) => {
        if (entry.seq > seq) return false;
        for (const [path, state] of explainedBy(entry)) later.set(path, state);
        return true;
      },
      base.seq - 1,
    );
    return { base, changes: [...later] };
  }

  /** The nearest checkpoint before: everything after it is in the lines between. */
  #base(seq: number): SavedAt {
    return this.#deps.book.savedBefore(seq);
  }

  #folded(seq: number, run: Folded): SmithyError {
    const { book, snapshots } = this.#deps;
    const checkpoints = [book.savedUpTo(seq), book.savedAfter(seq)];
    const near = [
      ...checkpoints.flatMap((saved) => (saved === undefined ? [] : [eventId(saved.seq)])),
      ...[run.from, run.to].filter((id) => snapshots.get(id) !== undefined),
    ];
    const id = eventId(seq);
    return new SmithyError('EVENT_NOT_FOUND', `The event ${id} was folded into ${run.event}.`, {
      hint: `Its line stays; the nearest states that are left: ${near.join(', ')}.`,
      data: { id, folded: run.event, near },
    });
  }

  async #tree(place: Place): Promise<Tree> {
    const { store, watcher } = this.#deps;
    if (place.kind === 'commit') return store.tree(place.commit);
    if (place.kind === 'worktree') {
      watcher.publish();
      return new Map([...watcher.entries()].map(({ path, hash, mode }) => [path, { hash, mode }]));
    }
    const { base, changes } = await this.built(place.seq);
    const tree = new Map(await store.tree(base.commit));
    for (const [path, state] of changes) {
      if (state === null) tree.delete(path);
      else tree.set(path, state);
    }
    return tree;
  }

  async #heldAt({ seq }: SavedAt): Promise<readonly KnownAt[]> {
    const [entry] = await this.#deps.timeline.entries([seq]);
    return (entry?.['known'] as readonly KnownAt[] | undefined) ?? [];
  }

  /** What the newest line of a stretch says that a path holds. */
  async #lastTold(path: Path, after: number, upTo: number): Promise<FileState | null | undefined> {
    const { timeline } = this.#deps;
    const seqs = timeline.index.changesOf(path).filter((seq) => seq > after && seq <= upTo);
    for (const seq of seqs.reverse()) {
      const [entry] = await timeline.entries([seq]);
      const told = entry && explainedBy(entry).findLast(([changed]) => changed === path);
      if (told !== undefined) return told[1];
    }
    return undefined;
  }
}

/** An event may be named with fewer zeros than its id has. */
function canonical(given: string): string {
  const seq = readEventId(given);
  return seq === undefined ? given : eventId(seq);
}
