import type { DialogState } from '../core/dialogs.js';
import { toResults } from '../core/file-results.js';
import { readEventId, type Ledger } from '../core/ledger.js';
import type { CommitId, Path } from '../core/model.js';
import type { CheckpointStore, TreeChange } from '../core/store.js';
import { sameState, type FileState, type Watcher } from '../core/watching.js';
import type { Checkpoints } from './checkpoints.js';
import type { Chronicle } from './chronicle.js';
import { stateOf, type KnownAt } from './claims.js';
import type { DialogBook, SavedAt } from './dialog-book.js';
import { explainedBy } from './explained.js';
import { replay } from './replay.js';
import type { Timeline } from './timeline.js';

/** A state of the whole project that can be named. */
export type Place =
  | { readonly kind: 'worktree' }
  | { readonly kind: 'commit'; readonly commit: CommitId }
  /** What was known after this line of the ledger. */
  | { readonly kind: 'event'; readonly seq: number };

export interface PlaceDeps {
  readonly book: DialogBook;
  readonly checkpoints: Checkpoints;
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
    if (given === 'main') return { kind: 'commit', commit: dialog.approved };
    if (readEventId(given) !== undefined) return this.#atEvent(given);
    const session = dialog.sessions.find(({ name }) => name === given);
    if (session === undefined) {
      return { kind: 'commit', commit: this.#deps.checkpoints.resolve(dialog, given) };
    }
    const tip = (await this.#deps.store.branches(dialog.id)).get(session.name);
    return { kind: 'commit', commit: tip ?? dialog.tip };
  }

  /** What is at one path; null: nothing. */
  async file(place: Place, path: Path): Promise<FileState | null> {
    const { store, watcher } = this.#deps;
    if (place.kind === 'worktree') return stateOf(watcher.get(path));
    if (place.kind === 'commit') return (await store.tree(place.commit)).get(path) ?? null;
    const base = this.#base(place.seq);
    const told = await this.#lastTold(path, base.seq, place.seq);
    if (told !== undefined) return told;
    const held = (await this.#heldAt(base)).find(([held]) => held === path);
    if (held !== undefined) return held[1];
    const saved = (await store.tree(base.commit)).get(path);
    if (saved !== undefined || !this.#deps.book.skippedAt(base.commit).includes(path)) {
      return saved ?? null;
    }
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

  /** A line that made a checkpoint stands for that checkpoint. */
  #atEvent(given: string): Place {
    const seq = this.#deps.chronicle.seq(given);
    const base = this.#base(seq);
    return base.seq === seq ? { kind: 'commit', commit: base.commit } : { kind: 'event', seq };
  }

  /** The nearest checkpoint before: everything after it is in the lines between. */
  #base(seq: number): SavedAt {
    return this.#deps.book.savedBefore(seq);
  }

  async #tree(place: Place): Promise<Tree> {
    const { store, watcher, ledger } = this.#deps;
    if (place.kind === 'commit') return store.tree(place.commit);
    if (place.kind === 'worktree') {
      watcher.publish();
      return new Map([...watcher.entries()].map(({ path, hash, mode }) => [path, { hash, mode }]));
    }
    const base = this.#base(place.seq);
    const tree = new Map(await store.tree(base.commit));
    const take = ([path, state]: KnownAt): void => {
      if (state === null) tree.delete(path);
      else tree.set(path, state);
    };
    // With the checkpoint's own line, which tells what was in the hands of edits.
    await replay(
      ledger,
      (entry) => {
        if (entry.seq <= place.seq) explainedBy(entry).forEach(take);
      },
      base.seq - 1,
    );
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
