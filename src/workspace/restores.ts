import { walked, type DialogState, type Trail } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import type { CommitId, Path } from '../core/model.js';
import { isChosen } from '../core/restore-plan.js';
import { toPath } from '../core/paths.js';
import type { Clock, SmallFile } from '../core/ports.js';
import type { CheckpointStore, Commit } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import { dialogVoice, restoredLines } from './adoption.js';
import type { Checkpoints } from './checkpoints.js';
import type { DialogBook } from './dialog-book.js';
import type { Dialogs } from './dialogs.js';
import type { EventStream } from './event-stream.js';
import type { Present } from './present.js';
import type { Queue } from '../core/queue.js';
import {
  applyMove,
  nothingMoved,
  planMove,
  summarisePlan,
  toDifferences,
  type MoveDeps,
  type Moved,
} from './tree-moves.js';
import { settled } from './settled.js';

export interface RestoreDeps extends MoveDeps {
  readonly root: string;
  readonly book: DialogBook;
  readonly dialogs: Dialogs;
  readonly checkpoints: Checkpoints;
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly events: EventStream;
  readonly queue: Queue;
  readonly present: Present;
  readonly clock: Clock;
  /** Refuses when one of the paths is being edited. */
  readonly requireFree: (paths: readonly Path[]) => void;
  readonly isEdited: () => boolean;
  /** What is being done to the tree, so that a crash in between can be mended. */
  readonly intent: SmallFile;
}

export interface RestoreRequest {
  readonly checkpoint: string;
  readonly dialog?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly mode?: 'exact' | 'keep_external' | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface RestoreAnswer {
  restored_to: CommitId;
  new_checkpoint: CommitId;
  safety_checkpoint: CommitId | null;
  restored: string[];
  deleted: string[];
  kept: string[];
  skipped: { path: string; reason: string }[];
}

/** What a killed restore was about to do. */
export interface Intent {
  readonly what: 'restore' | 'reset';
  readonly dialog: string;
  readonly target: CommitId;
  readonly paths?: readonly Path[] | undefined;
  readonly trail?: Trail | undefined;
}

interface Target {
  readonly commit: CommitId;
  readonly paths?: readonly Path[] | undefined;
  /** Where undo stands afterwards; absent: the restored state is a new step. */
  readonly trail?: Trail | undefined;
}

const MOST_ROUNDS = 5;

/** Taking the project to another state, and back. */
export class Restores {
  readonly #deps: RestoreDeps;

  constructor(deps: RestoreDeps) {
    this.#deps = deps;
  }

  async restore(request: RestoreRequest): Promise<RestoreAnswer> {
    const { root, dialogs, checkpoints, queue, watcher } = this.#deps;
    const paths = request.paths?.map((path) => toPath(path, root));
    await settled(watcher);
    return queue.run(async () => {
      const dialog = await dialogs.wanted(request.dialog);
      const commit = checkpoints.resolve(dialog, request.checkpoint);
      if (request.mode === 'keep_external') return this.#keepExternal(dialog, { commit, paths });
      if (request.dryRun === true) return this.#dryRun(dialog, { commit, paths });
      return this.#moveTo(dialog, { commit, paths });
    });
  }

  async undo(given: string | undefined): Promise<RestoreAnswer> {
    return this.#walk(given, -1);
  }

  async redo(given: string | undefined): Promise<RestoreAnswer> {
    return this.#walk(given, 1);
  }

  /** Finishes what a killed daemon began. To be called once, in the first turn of the queue. */
  async recover(): Promise<Intent | undefined> {
    const { intent, book } = this.#deps;
    const left = intent.read() as Intent | undefined;
    if (left === undefined) return undefined;
    const dialog = book.list().find(({ id }) => id === left.dialog);
    if (dialog !== undefined) await this.#sweep(dialog, left.target);
    if (dialog !== undefined && left.what === 'restore') {
      // What was pending is saved already. What is on disk now is half of this very restore and
      // no state to go back to; whatever else is found there is saved on the way.
      await this.#finishMove(dialog, { commit: left.target, paths: left.paths, trail: left.trail });
    }
    return left;
  }

  /** Brings the tree to a commit; the dialog's tip is what is on disk. Shared with reset. */
  async bring(dialog: DialogState, target: Target, what: Intent['what']): Promise<Moved> {
    const { intent, book, checkpoints } = this.#deps;
    const { commit, paths, trail } = target;
    intent.write({ what, dialog: dialog.id, target: commit, paths, trail } satisfies Intent);
    const all = nothingMoved();
    let present = dialog;
    for (let round = 1; ; round++) {
      const plan = await planMove(this.#deps, this.#move(present, target));
      const moved = await applyMove(this.#deps, plan);
      all.restored.push(...moved.restored);
      all.deleted.push(...moved.deleted);
      all.changes.push(...moved.changes);
      if (!moved.raced || round === MOST_ROUNDS) {
        return { ...all, skipped: moved.skipped, raced: moved.raced };
      }
      // Somebody wrote meanwhile: that is work too, and is saved before it is replaced.
      await checkpoints.save(present, SAFETY);
      present = book.get(dialog.id);
    }
  }

  /** @throws SmithyError RESTORE_BLOCKED when somebody edits what would change. */
  async requireFree(dialog: DialogState, { commit, paths }: Target): Promise<void> {
    if (!this.#deps.isEdited()) return;
    const differences = await this.#deps.present.differencesTo(dialog, commit);
    this.#deps.requireFree(differences.map(({ path }) => path).filter(isChosen(paths)));
  }

  /** After the files: the state is what the ledger says, and nothing is left to mend. */
  done(): void {
    this.#deps.intent.remove();
  }

  /** Files that a killed restore had not yet put in their place. */
  async #sweep(dialog: DialogState, target: CommitId): Promise<void> {
    const { store, files } = this.#deps;
    const differences = (await store.compare(dialog.tip, target)).flatMap(toDifferences);
    await files.sweep(differences.map(({ path }) => path));
  }

  async #walk(given: string | undefined, step: 1 | -1): Promise<RestoreAnswer> {
    const { dialogs, checkpoints, book, store, queue, watcher } = this.#deps;
    await settled(watcher);
    return queue.run(async () => {
      const before = await dialogs.wanted(given);
      const saved = await checkpoints.save(before, SAFETY);
      const dialog = book.get(before.id);
      const present = await store.readCommit(dialog.tip);
      const { points } = dialog.trail;
      // By position: a reset comes to a commit that was a point before.
      for (let at = dialog.trail.at + step; ; at += step) {
        const commit = points[at];
        if (commit === undefined) break;
        // Points at which nothing differs would make undo look broken.
        if (isSameState(await store.readCommit(commit), present)) continue;
        const answer = await this.#moveTo(dialog, { commit, trail: { ...dialog.trail, at } });
        return { ...answer, safety_checkpoint: saved.isNew ? saved.commit : null };
      }
      throw new SmithyError('CHECKPOINT_NOT_FOUND', 'There is nothing to go to.', {
        hint: 'See `smithyd log` for all checkpoints and use `smithyd restore ID`.',
        data: { id: null, near: [] },
      });
    });
  }

  async #moveTo(before: DialogState, target: Target): Promise<RestoreAnswer> {
    const { checkpoints, book } = this.#deps;
    await this.requireFree(before, target);
    const safety = await checkpoints.save(before, SAFETY);
    const answer = await this.#finishMove(book.get(before.id), target);
    return { ...answer, safety_checkpoint: safety.isNew ? safety.commit : null };
  }

  async #finishMove(dialog: DialogState, target: Target): Promise<RestoreAnswer> {
    const { checkpoints, book, events } = this.#deps;
    const moved = await this.bring(dialog, target, 'restore');
    const now = book.get(dialog.id);
    const trailAfter = (commit: CommitId): Trail => target.trail ?? walked(now.trail, commit);
    const saved = await checkpoints.save(
      now,
      { kind: 'restore', message: `Restored to ${target.commit}`, always: true },
      (commit) => ({
        fact: { what: 'moved', trail: trailAfter(commit) },
        line: { restored_to: target.commit, files: [...moved.restored, ...moved.deleted] },
        changes: restoredLines(moved.changes, dialogVoice(now, this.#deps.clock)),
      }),
    );
    this.done();
    const answer = {
      restored_to: target.commit,
      new_checkpoint: saved.commit,
      safety_checkpoint: null,
      restored: moved.restored,
      deleted: moved.deleted,
      kept: [],
      skipped: moved.skipped,
    };
    events.publish({
      type: 'restore',
      dialog_id: dialog.id,
      restored_to: target.commit,
      new_checkpoint: saved.commit,
      restored: moved.restored.length,
      deleted: moved.deleted.length,
      skipped: moved.skipped.length,
    });
    return answer;
  }

  /** What a restore would do, computed from what is on disk instead of from a saved state. */
  async #dryRun(dialog: DialogState, target: Target): Promise<RestoreAnswer> {
    const differences = await this.#deps.present.differencesTo(dialog, target.commit);
    const plan = await planMove(this.#deps, { ...this.#move(dialog, target), differences });
    return { ...untouched(dialog, target.commit), ...listsOf(summarisePlan(plan)) };
  }

  /** Nothing on disk is this dialog's own work until edits are announced: everything is kept. */
  async #keepExternal(dialog: DialogState, target: Target): Promise<RestoreAnswer> {
    const differences = await this.#deps.present.differencesTo(dialog, target.commit);
    const chosen = isChosen(target.paths);
    const kept = differences.map(({ path }) => path).filter(chosen);
    return { ...untouched(dialog, target.commit), kept };
  }

  #move(dialog: DialogState, { commit, paths }: Target) {
    return { from: dialog.tip, to: commit, ...(paths === undefined ? {} : { paths }) };
  }
}

function isSameState(a: Commit, b: Commit): boolean {
  return a.tree === b.tree && a.emptyFolders.join('\0') === b.emptyFolders.join('\0');
}

function untouched(dialog: DialogState, target: CommitId): RestoreAnswer {
  return {
    restored_to: target,
    new_checkpoint: dialog.tip,
    safety_checkpoint: null,
    restored: [],
    deleted: [],
    kept: [],
    skipped: [],
  };
}

function listsOf({ restored, deleted, skipped }: Moved) {
  return { restored, deleted, skipped };
}

const SAFETY = { kind: 'auto_save', message: 'Pending work, saved first', always: false } as const;
