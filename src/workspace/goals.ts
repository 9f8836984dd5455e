import type { DialogState } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import { eventId } from '../core/ledger.js';
import type { CommitId, DialogId, Hash, Path } from '../core/model.js';
import type { Clock } from '../core/ports.js';
import type { CheckpointStore, FileChange } from '../core/store.js';
import type { KnownAt } from './claims.js';
import type { DialogBook } from './dialog-book.js';
import type { Places, SavedPlace } from './places.js';

export interface GoalDeps {
  readonly places: Places;
  readonly book: DialogBook;
  readonly store: CheckpointStore;
  readonly clock: Clock;
}

/** A state that a restore leads to. */
export interface Goal {
  readonly commit: CommitId;
  /** How people call it, when `commit` was made only to lead there. */
  readonly label?: string;
  readonly asOf?: number | undefined;
}

/** Where a state is to be a commit. */
export interface GoalPlan {
  /** A dialog, or `KEPT`. */
  readonly dialog: string;
  readonly branch: string;
  readonly parents: readonly CommitId[];
  readonly message: string;
  readonly kind: string;
}

/** The branch of a state that is no checkpoint, as long as something leads there. */
export const GOAL = 'goal';
/** The same for a part of the way to a state. */
const WANTED = 'wanted';
/** The checkpoint that a commit was made from; what that one could not take in is missing here too. */
export const BASED_ON = 'Based-On';

/** Any state that can be named, as a commit that can be gone to. */
export class Goals {
  readonly #deps: GoalDeps;

  constructor(deps: GoalDeps) {
    this.#deps = deps;
  }

  /** To be called in the queue; a goal with a label is on a branch that somebody has to drop. */
  async find(dialog: DialogState, given: string): Promise<Goal> {
    const place = this.#deps.places.saved(dialog, given);
    if (place.kind === 'commit') return { commit: place.commit, asOf: place.asOf };
    const label = eventId(place.seq);
    const commit = await this.make(place, {
      ...{ dialog: dialog.id, branch: GOAL, kind: 'wanted' },
      parents: [dialog.tip],
      message: `The project after ${label}`,
    });
    return { commit, label, asOf: place.seq };
  }

  /** The state as a commit of its own. */
  async make(place: SavedPlace, { dialog, branch, parents, message, kind }: GoalPlan) {
    const { store, clock, places } = this.#deps;
    const { base, changes } =
      place.kind === 'commit' ? { base: place, changes: [] } : await places.built(place.seq);
    await this.#requireContents(changes);
    const { emptyFolders, trailers } = await store.readCommit(base.commit);
    const origin = trailers[BASED_ON] ?? base.commit;
    const left = (await store.branches(dialog)).get(branch);
    return store.commit({
      ...{ dialog, branch, parents, message },
      // What a failed call had left there is nobody's any more.
      expected: left ?? null,
      base: base.commit,
      changes: await this.#differing(base.commit, changes),
      emptyFolders: emptyFolders.filter((folder) => !isFilled(folder, changes)),
      trailers: { Kind: kind, [BASED_ON]: origin },
      at: clock.now(),
    });
  }

  /** What is there with a part of the way to a state gone. */
  async part(
    { id, tip }: DialogState,
    changes: readonly FileChange[],
    label: string,
  ): Promise<CommitId> {
    const { store, clock } = this.#deps;
    const { emptyFolders } = await store.readCommit(tip);
    return store.commit({
      ...{ dialog: id, branch: WANTED, parents: [tip], base: tip, changes, emptyFolders },
      // As above.
      expected: (await store.branches(id)).get(WANTED) ?? null,
      message: `Wanted: a part of the way to ${label}`,
      trailers: { 'Dialog-Id': id, Kind: 'wanted' },
      at: clock.now(),
    });
  }

  /** Takes the branches away when nothing leads there any more. */
  async drop(dialog: DialogId): Promise<void> {
    const { store } = this.#deps;
    const branches = await store.branches(dialog);
    const updates = [WANTED, GOAL].flatMap((name) => {
      const expected = branches.get(name);
      return expected === undefined ? [] : [{ name, to: null, expected }];
    });
    if (updates.length > 0) await store.setBranches(dialog, updates);
  }

  /** Where in the history of a dialog a state is: what comes after it branches off there. */
  branchPoint(dialog: DialogState, place: SavedPlace): CommitId {
    const { book } = this.#deps;
    const base = place.kind === 'commit' ? place.commit : book.savedBefore(place.seq).commit;
    return book.madeAt(dialog.id, base) === undefined ? dialog.approved : base;
  }

  /** Deleting what is not there would be an error to git. */
  async #differing(base: CommitId, changes: readonly KnownAt[]): Promise<FileChange[]> {
    if (changes.length === 0) return [];
    const tree = await this.#deps.store.tree(base);
    return changes.flatMap(([path, state]): FileChange[] => {
      if (state !== null) return [{ path, ...state }];
      return tree.has(path) ? [{ path, deleted: true }] : [];
    });
  }

  /** Contents are named by their hashes, so what is there is what it was. */
  async #requireContents(changes: readonly KnownAt[]): Promise<void> {
    const wanted = changes.flatMap(([path, state]) => (state === null ? [] : [{ path, ...state }]));
    const present = await this.#deps.store.has(wanted.map(({ hash }) => hash));
    const missing = wanted.find(({ hash }) => !present.has(hash));
    if (missing !== undefined) throw contentGone(missing.path, missing.hash);
  }
}

function isFilled(folder: Path, changes: readonly KnownAt[]): boolean {
  return changes.some(([path, state]) => state !== null && path.startsWith(`${folder}/`));
}

function contentGone(path: Path, hash: Hash): SmithyError {
  return new SmithyError('CHECKPOINT_NOT_FOUND', `What ${path} held then is gone.`, {
    hint: 'It went with its dialog; a bookmark would have kept it.',
    data: { id: hash, near: [] },
  });
}
