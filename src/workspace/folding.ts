import { toResults } from '../core/file-results.js';
import { foldable, type FoldNote, type Run } from '../core/folding.js';
import type { NewEvent } from '../core/ledger.js';
import type { Clock, Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { Snapshot } from '../core/snapshots.js';
import type { CheckpointStore } from '../core/store.js';
import { inLines } from './account-lines.js';
import type { DialogBook } from './dialog-book.js';
import type { EditBook } from './edit-book.js';
import type { Folded, FoldBook } from './fold-book.js';
import type { Milestones } from './milestones.js';
import type { Patches } from './patches.js';
import type { InTurn, Projection } from './projection.js';
import type { Sights } from './sights.js';
import type { Timeline } from './timeline.js';

export interface FoldingDeps {
  readonly folds: FoldBook;
  readonly book: DialogBook;
  readonly sights: Pick<Sights, 'at'>;
  readonly editBook: Pick<EditBook, 'append' | 'heldFrom'>;
  readonly milestones: Pick<Milestones, 'spans'>;
  readonly timeline: Pick<Timeline, 'index'>;
  readonly store: Pick<CheckpointStore, 'differences'>;
  readonly patches: Pick<Patches, 'dropFolded'>;
  readonly projection: Pick<Projection, 'rebuild'>;
  readonly queue: Pick<Queue, 'run'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

/** What old runs are to be found among. */
export interface Age {
  /** Those that stay. */
  readonly snapshots: readonly Snapshot[];
  /** Undefined: nothing is old. */
  readonly days: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Lets go of what old lines hold beside checkpoints. The lines stay; the one that says so has what
 * they came to.
 */
export class Folding {
  readonly #deps: FoldingDeps;

  constructor(deps: FoldingDeps) {
    this.#deps = deps;
  }

  /** In a turn of the queue. */
  plan({ snapshots, days }: Age): Run[] {
    const { book, sights, editBook, milestones, folds, timeline, clock } = this.#deps;
    if (days === undefined) return [];
    return foldable({
      snapshots,
      checkpointAt: (seq) => {
        const saved = book.savedUpTo(seq);
        return saved && { seq: saved.seq, isWhole: sights.at(saved.commit).skipped.length === 0 };
      },
      olderThan: clock.now() - days * DAY_MS,
      heldFrom: editBook.heldFrom(),
      told: milestones.spans(),
      folded: folds.list(),
      changesIn: ({ after, before }) => timeline.index.changesBetween(after, before),
    });
  }

  /** Each in a turn of its own, if nothing came between. What is recorded can be pruned. */
  async carryOut(runs: readonly Run[], age: Age, signal: AbortSignal): Promise<Folded[]> {
    const { queue, folds, log } = this.#deps;
    const done: Folded[] = [];
    try {
      for (const run of runs) {
        signal.throwIfAborted();
        await queue.run(async () => {
          if (!this.plan(age).some((one) => isSame(one, run))) return;
          await this.#record(run);
          done.push(...folds.list().filter((one) => isSame(one, run)));
        });
      }
    } finally {
      // Also for those that came before whatever ended it.
      if (done.length > 0) await this.#settle(done, (turn) => queue.run(turn));
    }
    if (done.length > 0) log.write('info', 'old runs were folded', { runs: done.length });
    return done;
  }

  /** To be called when the ledger was read, in the first turn: what follows a line may be missing. */
  async open(): Promise<void> {
    const due = this.#deps.folds.due();
    if (due.length > 0) await this.#settle(due, async (turn) => turn());
  }

  async #record(run: Run): Promise<void> {
    const { book, store, editBook, folds, clock, version } = this.#deps;
    const [from, to] = [book.savedBefore(run.after), book.savedBefore(run.before)];
    const changes = await store.differences(from.commit, to.commit);
    const told = inLines(toResults(changes));
    const { after, before, from: first, to: last, events } = run;
    const note: FoldNote = { after, before, from: first, to: last, events };
    const lines = (told.length === 0 ? [{}] : told).map((one, at): NewEvent => ({
      ts: new Date(clock.now()).toISOString(),
      author: { name: 'smithyd', version, kind: 'daemon' },
      action_type: 'meta_note',
      message: `Folded ${events} changes between ${first} and ${last}`,
      // Nobody changed anything: it is what the lines of the run came to.
      noted: true,
      folded: at === 0 ? note : { ...note, part: at + 1 },
      ...one,
    }));
    for (const entry of await editBook.append(lines)) folds.fold(entry);
  }

  /** Patches and journals tell no more than can be made again. */
  async #settle(runs: readonly Folded[], inTurn: InTurn): Promise<void> {
    const { book, timeline, patches, projection, log } = this.#deps;
    try {
      await patches.dropFolded();
      for (const { id } of book.list()) {
        const isTouched = ({ after, before }: Folded): boolean =>
          timeline.index.find({ dialog: id, after, before, limit: 1 }).length > 0;
        if (runs.some(isTouched)) await projection.rebuild(book, id, inTurn);
      }
    } catch (error) {
      // The next start does it again.
      log.write('warn', 'what tells of folded lines is behind', { error: String(error) });
    }
  }
}

function isSame(one: Run, other: Run): boolean {
  return one.after === other.after && one.before === other.before;
}
