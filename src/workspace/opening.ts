import type { Archives } from '../core/archive.js';
import type { DialogId } from '../core/model.js';
import type { Queue } from '../core/queue.js';
import type { Watcher } from '../core/watching.js';
import type { Blocks } from './blocks.js';
import type { Bookmarks } from './bookmarks.js';
import type { DerivedState } from './derived-state.js';
import type { ExplainedSince } from './explained.js';
import type { Folding } from './folding.js';
import type { createLeaving } from './left-edits.js';
import { migrate, type MigrationDeps } from './migration.js';
import type { Patches } from './patches.js';
import type { Projection } from './projection.js';
import { recover, type RecoveryDeps } from './recovery.js';
import { reopenEdits } from './reopened.js';
import type { Readiness } from './readiness.js';
import type { RetentionWatch } from './retention-watch.js';
import type { Retention } from './retention.js';
import type { Saving } from './saving.js';
import type { SnapshotWatch } from './snapshot-watch.js';

type Deps = Omit<RecoveryDeps, 'tell' | 'watcher'> &
  MigrationDeps &
  Omit<Parameters<typeof reopenEdits>[0], 'watcher'> & {
    readonly watcher: Watcher;
    readonly derived: DerivedState;
    readonly archives: Pick<Archives, 'sweep'>;
    readonly bookmarks: Pick<Bookmarks, 'open'>;
    readonly explained: ExplainedSince;
    readonly saving: Saving;
    readonly projection: Projection;
    readonly turns: Queue;
    readonly leaving: ReturnType<typeof createLeaving>;
    readonly folding: Folding;
    readonly retention: Retention;
    readonly patches: Patches;
    readonly blocks: Blocks;
    readonly snapshotWatch: SnapshotWatch;
    readonly retentionWatch: RetentionWatch;
    readonly readiness: Pick<Readiness, 'open'>;
  };

/** Sentences about a crash are for a glance; the log has them all. */
const MOST_TOLD = 20;

/** What a start has to say: how far it is, what it found cut off and what it could not take over. */
export class StartReport {
  readonly recovered: string[] = [];
  /** One sentence for each thing of an older program. */
  notMigrated: readonly string[] = [];
  /** Why what was saved cannot be asked for. */
  unread: string | undefined = 'what was saved is still being read; ask again in a moment';
  /** The last try was in vain. A sentence, too. */
  failure: string | undefined;

  tell(sentence: string): void {
    if (this.recovered.length < MOST_TOLD) this.recovered.push(sentence);
  }
}

/** Reads the ledger, mends what a crash left and sets everything going: the first turn of all. */
export function createOpening(deps: Deps, report: StartReport): () => Promise<void> {
  const { watcher, book, claims, saving, projection } = deps;
  let isRead = false;
  let hasRemoved = false;

  /**
   * The last checkpoint holds what could be explained then; without one, or with a lost one, it is
   * what was seen first.
   */
  async function explainedThen(lost: ReadonlySet<DialogId>): Promise<void> {
    const last = book.lastSaved;
    if (last === undefined || lost.has(last.dialog)) return;
    claims.restart(await saving.pending(book.get(last.dialog)), deps.explained.states);
  }

  /**
   * Not before branches are where they belong and it is known what edits and rejections may put
   * back. What is left for want of a working disk goes with the next prune.
   */
  async function giveBack(): Promise<void> {
    try {
      const { freedBytes } = await deps.store.prune();
      deps.log.write('info', 'gave back what only they used', { freed_bytes: freedBytes });
    } catch (error) {
      deps.log.write('warn', 'what only they used is still there', { error: String(error) });
    }
    hasRemoved = false;
  }

  /** May have to be done again: a full disk keeps it from its end. */
  async function open(): Promise<void> {
    if (!isRead) {
      await deps.derived.open();
      isRead = true;
    }
    await watcher.settle();
    report.notMigrated = await migrate(deps);
    // Before anything is given back.
    await deps.bookmarks.open();
    await deps.retention.open();
    await deps.archives.sweep();
    const found = await recover({ ...deps, tell: (sentence) => report.tell(sentence) });
    hasRemoved ||= found.hasRemoved;
    await explainedThen(found.lost);
    const left = reopenEdits(deps);
    projection.writeIndex(book);
    await projection.catchUp(book);
    void projection.keepUp(book, deps.turns);
    await deps.folding.open();
    deps.leaving.later(await deps.leaving.now(left));
    // What is left of a lost dialog may be reachable by nothing, and is all that there is of it.
    if (hasRemoved && found.lost.size === 0) await giveBack();
    deps.patches.follower.open();
    deps.blocks.follower.open();
    deps.snapshotWatch.open();
    deps.retentionWatch.open();
    deps.readiness.open();
  }

  return async () => {
    try {
      await open();
      report.unread = undefined;
      report.failure = undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      report.unread = `what was saved cannot be read: ${why}`;
      report.failure = `What was saved cannot be read: ${why}`;
      throw error;
    }
  };
}
