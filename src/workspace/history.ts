import type { WorkspaceDeps } from './deps.js';
import { Checkpoints } from './checkpoints.js';
import { DialogBook } from './dialog-book.js';
import { Dialogs } from './dialogs.js';
import { Diffs } from './diffs.js';
import { Present } from './present.js';
import { Projection } from './projection.js';
import { createQueue } from '../core/queue.js';
import { recover } from './recovery.js';
import { Restores } from './restores.js';
import { Saving } from './saving.js';
import { Sessions } from './sessions.js';
import { createTidying } from './tidying.js';

/** Everything about saving and going back, put together. */
export function createHistory(deps: WorkspaceDeps) {
  const { store, watcher, identity } = deps;
  const projection = new Projection(deps);
  const book = new DialogBook({
    ledger: deps.ledger,
    clock: deps.clock,
    version: identity.version,
    recorded: (...told) => projection.recorded(...told),
  });
  const saving = new Saving(deps);
  const present = new Present(store, saving);
  const queue = createQueue();
  const shared = { ...deps, root: identity.root, book, saving, present, queue };
  const dialogs = new Dialogs({ ...shared, newId: deps.newDialogId });
  const checkpoints = new Checkpoints({ ...shared, dialogs, tidy: createTidying(store, deps.log) });
  const diffs = new Diffs({ ...shared, dialogs, checkpoints });
  const restores = new Restores({
    ...shared,
    dialogs,
    checkpoints,
    skippedAt: (commit) => book.skippedAt(commit),
  });
  const sessions = new Sessions({ ...shared, dialogs, checkpoints, diffs, restores });

  return {
    book,
    dialogs,
    checkpoints,
    diffs,
    restores,
    sessions,

    /** Reads the ledger and mends what a crash left. Verbs may be called when it is done. */
    open: (): Promise<void> =>
      queue.open(async () => {
        await book.load();
        await watcher.settle();
        await recover({ book, store, restores, sessions, log: deps.log });
        projection.writeIndex(book);
        await projection.catchUp(book);
      }),

    close: (): void => projection.writeIndex(book),
  };
}
