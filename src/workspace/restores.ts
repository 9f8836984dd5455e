import { walked, type DialogState, type Trail } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import type { CommitId } from '../core/model.js';
import { isChosen, planRestore } from '../core/restore-plan.js';
import { toPath } from '../core/paths.js';
import type { Commit } from '../core/store.js';
import { dialogVoice, restoredLines } from './adoption.js';
import { reportProgress } from './progress.js';
import { countsOf, listsOf, untouched, type RestoreAnswer } from './restore-answer.js';
import type { RestoreDeps, RestoreRequest } from './restore-deps.js';
import { partOf, type Part } from './restore-part.js';
import { requireKnownPaths } from './restore-paths.js';
import { applyMove, planMove, summarisePlan, type Moved } from './tree-moves.js';
import type { Intent, Target } from './intent.js';
import { settled } from './settled.js';

/** Taking the project to another state, and back. */
export class Restores {
  readonly #deps: RestoreDeps;
  #underWay: Intent | undefined;
  /** Begun by a daemon that was killed, and to be finished by the next move. */
  #left: Intent | undefined;
  #begun: number | undefined;

  constructor(deps: RestoreDeps) {
    this.#deps = deps;
  }

  async restore(request: RestoreRequest): Promise<RestoreAnswer> {
    const { root, dialogs, goals, queue, watcher } = this.#deps;
    const paths = request.paths?.map((path) => toPath(path, root));
    await settled(watcher);
    return queue.run(async () => {
      const dialog = await dialogs.wanted(request.dialog);
      const goal = await goals.find(dialog, request.checkpoint);
      const target = { ...goal, paths };
      await requireKnownPaths(this.#deps, dialog, target);
      const part = partOf(this.#deps, request, target);
      if (part === undefined && request.dryRun !== true) return this.#moveTo(dialog, target);
      const answer =
        part === undefined
          ? await this.#dryRun(dialog, target)
          : await this.#bringPart(dialog, { ...target, part }, request.dryRun === true);
      if (goal.label !== undefined) await goals.drop(dialog.id);
      return answer;
    });
  }

  async undo(given: string | undefined): Promise<RestoreAnswer> {
    return this.#walk(given, -1);
  }

  async redo(given: string | undefined): Promise<RestoreAnswer> {
    return this.#walk(given, 1);
  }

  /** Finishes what a killed daemon began. To be called once, in the first turn of the queue. */
  async recover(): Promise<(Intent & { readonly isRecorded: boolean }) | undefined> {
    const { intent, book } = this.#deps;
    const left = intent.read() as Intent | undefined;
    if (left === undefined) return undefined;
    const dialog = book.list().find(({ id }) => id === left.dialog);
    if (dialog !== undefined && book.movedAt(dialog.id) > (left.after ?? Infinity)) {
      return { ...left, isRecorded: true };
    }
    this.#left = left;
    if (dialog !== undefined) await this.#sweep(dialog, left.target);
    if (dialog !== undefined && left.what === 'restore') {
      // What was pending is saved already, and half of this very restore is no state to go back to.
      const { target: commit, paths, trail, label, asOf } = left;
      await this.#finishMove(dialog, { commit, paths, trail, label, asOf });
    }
    return { ...left, isRecorded: false };
  }

  /** Brings the tree to a commit; the dialog's tip is what is on disk. Shared with reset. */
  async bring(dialog: DialogState, target: Target, what: Intent['what']): Promise<Moved> {
    const { intent, book, clock } = this.#deps;
    const { commit, ...told } = target;
    const left = this.#left;
    this.#left = undefined;
    const since = { from: left?.from ?? dialog.tip, after: book.movedAt(dialog.id) };
    const written: Intent = { what, dialog: dialog.id, target: commit, ...told, ...since };
    // First: also one that is there and could not be flushed must go when the call is refused.
    this.#underWay = written;
    intent.write(written);
    this.#begun = clock.monotonic();
    const onProgress = reportProgress(this.#deps, { what: 'restore', dialog: dialog.id });
    const plan = await planMove(this.#deps, this.#move(dialog, target));
    // What a killed daemon began goes on with whatever room there is. What somebody writes meanwhile
    // is newer than all that was asked to go: it stays, and is told as skipped.
    return applyMove(this.#deps, plan, { onProgress, isAllOrNothing: left === undefined });
  }

  /** @throws SmithyError RESTORE_BLOCKED when somebody edits what would change. */
  async requireFree(dialog: DialogState, { commit, paths }: Target): Promise<void> {
    if (!this.#deps.isEdited()) return;
    const differences = await this.#deps.present.differencesTo(dialog, commit);
    this.#deps.requireFree(differences.map(({ path }) => path).filter(isChosen(paths)));
  }

  /** After the files: the state is what the ledger says, and nothing is left to mend. */
  done(): void {
    const { clock, metrics, intent } = this.#deps;
    if (this.#begun !== undefined) metrics.restored(clock.monotonic() - this.#begun);
    this.#forget();
    try {
      intent.remove();
    } catch {
      // Its line says that it is done, and the next start looks there first.
    }
  }

  #forget(): void {
    this.#begun = undefined;
    this.#underWay = undefined;
    this.#left = undefined;
  }

  /**
   * Takes back what a failed call did to the tree. Only what it wrote itself: a file that is not
   * what the target has was not reached, or is somebody's work since.
   */
  async rollBack(): Promise<Intent | undefined> {
    const left = this.#underWay;
    if (left === undefined) return undefined;
    const dialog = this.#deps.book.list().find(({ id }) => id === left.dialog);
    if (dialog !== undefined) {
      await this.#sweep(dialog, left.target);
      const back = { from: left.target, to: left.from ?? dialog.tip };
      const { paths } = left;
      const plan = await planMove(this.#deps, paths === undefined ? back : { ...back, paths });
      await applyMove(this.#deps, plan);
    }
    // While it is there the next start would finish what was refused.
    this.#deps.intent.remove();
    this.#forget();
    return left;
  }

  /** Files that a killed restore had not yet put in their place. */
  async #sweep(dialog: DialogState, target: CommitId): Promise<void> {
    const { store, files } = this.#deps;
    const differences = await store.differences(dialog.tip, target);
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
        return saved.isNew ? { ...answer, safety_checkpoint: saved.commit } : answer;
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
    const { checkpoints, book, accounts, clock } = this.#deps;
    const moved = await this.bring(dialog, target, 'restore');
    const now = book.get(dialog.id);
    const restoredTo = target.label ?? target.commit;
    const trailAfter = (commit: CommitId): Trail => target.trail ?? walked(now.trail, commit);
    const changes = await restoredLines(accounts, moved.changes, {
      voice: dialogVoice(now, clock),
      asOf: this.#asOf(dialog, target),
    });
    const saved = await checkpoints.save(
      now,
      { kind: 'restore', message: `Restored to ${restoredTo}`, always: true },
      (commit) => ({
        fact: { what: 'moved', trail: trailAfter(commit) },
        line: {
          restored_to: restoredTo,
          new_checkpoint: commit,
          files: [...moved.restored, ...moved.deleted],
          counts: countsOf(moved),
        },
        changes,
      }),
    );
    this.done();
    if (target.label !== undefined) await this.#deps.goals.drop(dialog.id);
    return {
      restored_to: restoredTo,
      new_checkpoint: saved.commit,
      safety_checkpoint: null,
      restored: moved.restored,
      deleted: moved.deleted,
      kept: [],
      skipped: moved.skipped,
    };
  }

  /** What a restore would do, computed from what is on disk instead of from a saved state. */
  async #dryRun(dialog: DialogState, target: Target): Promise<RestoreAnswer> {
    const differences = await this.#deps.present.differencesTo(dialog, target.commit);
    const plan = await planMove(this.#deps, { ...this.#move(dialog, target), differences });
    return {
      ...untouched(dialog, target.label ?? target.commit),
      ...listsOf(summarisePlan(plan)),
    };
  }

  /**
   * Takes a part back and keeps the rest. The wanted state is a commit on a branch of its own
   * first, so that a crash finds it like any other target.
   */
  async #bringPart(
    before: DialogState,
    target: Target & { readonly part: Part },
    isDryRun: boolean,
  ): Promise<RestoreAnswer> {
    const { checkpoints, book, goals, present } = this.#deps;
    const chosen = isChosen(target.paths);
    const label = target.label ?? target.commit;
    const own = await target.part(before);
    this.#deps.requireFree(own.differences.map(({ path }) => path));
    const touched = new Set<string>(own.differences.map(({ path }) => path));
    const all = await present.differencesTo(before, target.commit);
    const kept = all.map(({ path }) => path).filter((path) => chosen(path) && !touched.has(path));
    const told = { kept, skipped: own.left };
    if (isDryRun || touched.size === 0) {
      const plan = planRestore({ differences: own.differences });
      const lists = listsOf(summarisePlan({ steps: plan.steps, spared: own.left }));
      return { ...untouched(before, label), ...lists, kept };
    }
    const safety = await checkpoints.save(before, SAFETY);
    const dialog = book.get(before.id);
    // Anew: what came while the work was saved belongs to others and stays.
    const { changes } = await target.part(dialog);
    const wanted = await goals.part(dialog, changes, label);
    const answer = await this.#finishMove(dialog, { commit: wanted, label });
    return {
      ...answer,
      ...told,
      skipped: [...answer.skipped, ...own.left],
      safety_checkpoint: safety.isNew ? safety.commit : null,
    };
  }

  #move(dialog: DialogState, target: Target) {
    const { commit: to, paths } = target;
    const asOf = this.#asOf(dialog, target);
    return { from: dialog.tip, to, asOf, ...(paths === undefined ? {} : { paths }) };
  }

  /** Undefined for one that was made only to be gone to. */
  #asOf(dialog: DialogState, { commit, asOf }: Target): number | undefined {
    return asOf ?? this.#deps.book.madeAt(dialog.id, commit);
  }
}

function isSameState(a: Commit, b: Commit): boolean {
  return a.tree === b.tree && a.emptyFolders.join('\0') === b.emptyFolders.join('\0');
}

export const SAFETY = {
  kind: 'auto_save',
  message: 'Pending work, saved first',
  always: false,
} as const;
