import type { DialogState } from '../core/dialogs.js';
import type { CommitId, Path } from '../core/model.js';
import type { Difference } from '../core/restore-plan.js';
import type { CheckpointStore } from '../core/store.js';
import { sameState } from '../core/watching.js';
import type { Saving } from './saving.js';
import { toDifference } from './tree-moves.js';

/** What is on disk now, compared with checkpoints, at the cost of what differs. */
export class Present {
  readonly #store: CheckpointStore;
  readonly #saving: Saving;

  constructor(store: CheckpointStore, saving: Saving) {
    this.#store = store;
    this.#saving = saving;
  }

  /** What leads from the disk (`from`) to a commit (`to`), in path order. */
  async differencesTo(dialog: DialogState, commit: CommitId): Promise<Difference[]> {
    const [changes, pending] = await Promise.all([
      this.#store.differences(dialog.tip, commit),
      this.#saving.pending(dialog),
    ]);
    const found = new Map<Path, Difference>();
    for (const difference of changes.map(toDifference)) found.set(difference.path, difference);
    for (const { path, before, after } of pending) {
      const from = after === null ? null : { mode: after.mode, hash: after.hash };
      const difference = found.get(path);
      const to = difference === undefined ? before : difference.to;
      if (sameState(from, to)) found.delete(path);
      else found.set(path, { path, from, to });
    }
    return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}
