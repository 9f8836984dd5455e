import type { Path } from '../core/model.js';
import type { Clock, SmallFile } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { CheckpointStore } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import type { Accounts } from './accounts.js';
import type { Checkpoints } from './checkpoints.js';
import type { DialogBook } from './dialog-book.js';
import type { Dialogs } from './dialogs.js';
import type { Goals } from './goals.js';
import type { HunkChoice } from './hunk-returns.js';
import type { Meter } from './metrics.js';
import type { OwnDeps } from './own-changes.js';
import type { Present } from './present.js';
import type { ProgressDeps } from './progress.js';
import type { MoveDeps } from './tree-moves.js';

export interface RestoreDeps extends MoveDeps, OwnDeps, ProgressDeps {
  readonly root: string;
  readonly book: DialogBook;
  readonly dialogs: Dialogs;
  readonly goals: Goals;
  readonly checkpoints: Checkpoints;
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly queue: Queue;
  readonly present: Present;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly metrics: Pick<Meter, 'restored'>;
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
  /** Of the one path that is given. */
  readonly hunks?: Omit<HunkChoice, 'path'> | undefined;
}
