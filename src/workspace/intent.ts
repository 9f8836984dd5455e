import type { Trail } from '../core/dialogs.js';
import type { CommitId, Path } from '../core/model.js';

/** What a killed restore was about to do. */
export interface Intent {
  readonly what: 'restore' | 'reset' | 'rewind';
  readonly dialog: string;
  readonly target: CommitId;
  /** What was there when it began. */
  readonly from?: CommitId | undefined;
  readonly paths?: readonly Path[] | undefined;
  readonly trail?: Trail | undefined;
  readonly label?: string | undefined;
  readonly asOf?: number | undefined;
  /** The one that begins with a rewind. */
  readonly session?: string | undefined;
  /** The move before this one, by its line: a later line says that this one is done. */
  readonly after?: number | undefined;
}

/** Where the tree is brought to. */
export interface Target {
  readonly commit: CommitId;
  /** What was asked for, when `commit` was made only to lead there. */
  readonly label?: string | undefined;
  /** Where in the ledger it was the state. */
  readonly asOf?: number | undefined;
  readonly session?: string | undefined;
  readonly paths?: readonly Path[] | undefined;
  /** Where undo stands afterwards; absent: the restored state is a new step. */
  readonly trail?: Trail | undefined;
}
