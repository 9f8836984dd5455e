import type { BranchUpdate, CommitRequest } from '../core/store.js';
import { isNotOpened } from './files.js';
import type { Layout } from './layout.js';
import {
  holdBranch,
  removeBroken,
  toTransaction,
  type HeldBranch,
  type LeftLocks,
} from './refs.js';
import type { Git } from './run.js';
import type { SpareFiles } from './spare-files.js';

export interface BranchMovesDeps {
  readonly git: Git;
  readonly layout: Layout;
  readonly spares: Pick<SpareFiles, 'take'>;
  readonly flush: (folder: string) => Promise<void>;
  /** After a flush that failed; answers what to throw. */
  readonly doubt: (error: unknown) => Promise<Error>;
}

/** The branches of all dialogs move here. Only for the holder of the writer's turn. */
export interface BranchMoves {
  hold(request: CommitRequest): Promise<HeldBranch>;
  /** To what was prepared. On the disk afterwards, unless its line is to be told: then when `lasting`. */
  move(branch: HeldBranch, request: CommitRequest): Promise<void>;
  /** All of them or none. */
  set(dialog: string, updates: readonly BranchUpdate[]): Promise<void>;
  /** When all that moved before is on the disk, or the failure was told. */
  lasting(): Promise<void>;
}

export function createBranchMoves(deps: BranchMovesDeps): BranchMoves {
  const { git, layout, spares, flush, doubt } = deps;
  const left: LeftLocks = new Set();
  /** Folders of branches whose lines are about to be written. */
  const told = new Set<string>();
  let flushing = Promise.resolve();

  async function flushNow(dialog: string): Promise<void> {
    await flush(layout.heads(dialog)).catch(async (error: unknown) => {
      // The branch has moved: a folder that cannot be opened is as bad as one that is not flushed.
      const why = isNotOpened(error) ? new Error(String(error), { cause: error }) : error;
      throw await doubt(why);
    });
  }

  /**
   * A file system with a log writes the move down together with a line of the ledger that is flushed
   * after it, and has nothing left to do for the folder: on ext4 both take 0.8 ms where one after the
   * other takes 1.6; without a log 0.4 and 0.6. The line has to come first, so it gets a turn of the
   * loop.
   */
  async function flushTold(before: Promise<void>): Promise<void> {
    const folders = [...told];
    told.clear();
    await new Promise(setImmediate);
    await Promise.all([before, ...folders.map(flushFolder)]);
  }

  /** Of a branch whose line is being written, which is enough until another flush. */
  async function flushFolder(folder: string): Promise<void> {
    await flush(folder).catch(async (error: unknown) => {
      if (isNotOpened(error)) told.add(folder);
      else await doubt(error);
    });
  }

  return {
    hold: ({ dialog, branch, expected }) =>
      holdBranch(layout, dialog, { branch, expected, spares, left }),
    async move(branch, { dialog, isTold }) {
      try {
        branch.move();
      } catch (error) {
        throw await doubt(error);
      }
      if (isTold === true) told.add(layout.heads(dialog));
      else await flushNow(dialog);
    },
    async set(dialog, updates) {
      const names = updates.map(({ name }) => name);
      await removeBroken(layout, dialog, names);
      const gitDir = layout.gitDir(dialog);
      await git.text(['update-ref', '--stdin', '-z'], { gitDir, input: toTransaction(updates) });
      await flushNow(dialog);
    },
    lasting() {
      if (told.size > 0) flushing = flushTold(flushing);
      return flushing;
    },
  };
}
