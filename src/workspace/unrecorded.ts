import { SmithyError } from '../core/errors.js';
import type { BranchUpdate, CheckpointStore } from '../core/store.js';

/**
 * Branches that moved for a fact the ledger does not have yet. They move before the line is
 * written; when it cannot be, they have to go back, or the next commit finds them elsewhere.
 */
export class Unrecorded {
  readonly #store: CheckpointStore;
  /** What takes the moves of the present call back, the newest last. */
  readonly #own = new Map<string, BranchUpdate[]>();
  /** The same for calls that failed. */
  readonly #left = new Map<string, BranchUpdate[]>();

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
        await store.deleteRepository(dialog);
        this.recorded(dialog);
      },
    };
  }

  /** A call begins: what the one before moved is as it should be, unless it failed. */
  begin(): void {
    this.#own.clear();
  }

  recorded(dialog: string): void {
    this.#own.delete(dialog);
  }

  /** The call failed: what it moved and did not record has to go back. */
  fail(): void {
    for (const [dialog, moves] of this.#own) add(this.#left, dialog, moves);
    this.#own.clear();
  }

  /** Dialogs with moves of failed calls. */
  dialogs(): string[] {
    return [...this.#left.keys()];
  }

  /** Only from where we put them: what somebody else did since stays. */
  async takeBack(dialog: string): Promise<void> {
    const moves = this.#left.get(dialog) ?? [];
    for (let move = moves.at(-1); move !== undefined; move = moves.at(-1)) {
      await this.#store.setBranches(dialog, [move]).catch((error: unknown) => {
        if (!(error instanceof SmithyError) || error.code !== 'BUSY') throw error;
      });
      moves.pop();
    }
    this.#left.delete(dialog);
  }

  #note(dialog: string, moves: readonly BranchUpdate[]): void {
    add(this.#own, dialog, moves);
  }
}

function add(
  to: Map<string, BranchUpdate[]>,
  dialog: string,
  moves: readonly BranchUpdate[],
): void {
  to.set(dialog, [...(to.get(dialog) ?? []), ...moves]);
}
