import { SmithyError } from '../core/errors.js';
import type { BranchUpdate, CheckpointStore } from '../core/store.js';

/**
 * Branches that moved for a fact the ledger does not have yet. They move before the line is
 * written; when it cannot be, they have to go back, or the next commit finds them elsewhere.
 */
export class Unrecorded {
  readonly #store: CheckpointStore;
  /** What takes each move back, the newest last. */
  readonly #back = new Map<string, BranchUpdate[]>();

  constructor(store: CheckpointStore) {
    this.#store = store;
  }

  /** The same store; what it moves is noted here. */
  watched(): CheckpointStore {
    const store = this.#store;
    return {
      ...store,
      commit: async (request) => {
        const id = await store.commit(request);
        const { dialog, branch: name, expected } = request;
        this.#note(dialog, [{ name, to: expected, expected: id }]);
        return id;
      },
      setBranches: async (dialog, updates) => {
        await store.setBranches(dialog, updates);
        this.#note(
          dialog,
          updates.map(({ name, to, expected }) => ({ name, to: expected, expected: to })),
        );
      },
      deleteRepository: async (dialog) => {
        const freed = await store.deleteRepository(dialog);
        this.recorded(dialog);
        return freed;
      },
    };
  }

  recorded(dialog: string): void {
    this.#back.delete(dialog);
  }

  /** Dialogs with moves that nothing in the ledger accounts for. */
  dialogs(): string[] {
    return [...this.#back.keys()];
  }

  /** Only from where we put them: what somebody else did since stays. */
  async takeBack(dialog: string): Promise<void> {
    const moves = this.#back.get(dialog) ?? [];
    for (let move = moves.at(-1); move !== undefined; move = moves.at(-1)) {
      await this.#store.setBranches(dialog, [move]).catch((error: unknown) => {
        if (!(error instanceof SmithyError) || error.code !== 'BUSY') throw error;
      });
      moves.pop();
    }
    this.recorded(dialog);
  }

  #note(dialog: string, moves: readonly BranchUpdate[]): void {
    this.#back.set(dialog, [...(this.#back.get(dialog) ?? []), ...moves]);
  }
}
