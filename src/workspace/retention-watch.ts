import type { Config } from '../core/config.js';
import type { Clock, Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import { isWorthPruning, isWorthThinning } from '../core/retention.js';
import type { CheckpointStore } from '../core/store.js';
import type { FoldBook } from './fold-book.js';
import type { Retention } from './retention.js';
import type { SnapshotBook } from './snapshot-book.js';

export interface RetentionWatchDeps {
  readonly retention: Retention;
  readonly snapshots: Pick<SnapshotBook, 'past'>;
  readonly folds: Pick<FoldBook, 'due'>;
  readonly store: Pick<CheckpointStore, 'sizes'>;
  readonly config: () => Config;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
}

/** Whoever works now goes first: snapshots are made within 5 s, and this looks after them. */
const QUIET_MS = 6_000;
/** But not for longer than this. */
const LONGEST_MS = 60_000;

const UNATTENDED = { isUnattended: true };

/** Keeps the disk bounded though nobody asks: a look when nothing was recorded for a while. */
export class RetentionWatch {
  readonly #deps: RetentionWatchDeps;
  #timer: NodeJS.Timeout | undefined;
  #wokenAt = 0;
  #prunedAt = -Infinity;
  #isRunning = false;
  #isOpen = false;

  constructor(deps: RetentionWatchDeps) {
    this.#deps = deps;
  }

  /** Something was recorded. */
  wake(): void {
    if (!this.#isOpen || this.#isRunning) return;
    const now = this.#deps.clock.monotonic();
    if (this.#timer === undefined) {
      this.#wokenAt = now;
      this.#timer = setTimeout(() => void this.#look(), QUIET_MS).unref();
    } else if (now - this.#wokenAt < LONGEST_MS) this.#timer.refresh();
  }

  open(): void {
    this.#isOpen = true;
    this.wake();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { log } = this.#deps;
    this.#timer = undefined;
    this.#isRunning = true;
    try {
      await this.#tidy();
    } catch (error) {
      // A full disk, or the daemon stops: what is needed is there, the next line is the next occasion.
      log.write('warn', 'old snapshots are still there', { error: String(error) });
    } finally {
      this.#isRunning = false;
    }
  }

  async #tidy(): Promise<void> {
    const { retention, queue, store, snapshots, folds, config, clock, log } = this.#deps;
    if (isWorthThinning(retention.plan(UNATTENDED))) {
      await queue.run(async () => this.#isOpen && retention.thinOut(retention.plan(UNATTENDED)));
    }
    if (this.#isOpen) await retention.fold(retention.plan(UNATTENDED));
    const sinceMs = clock.monotonic() - this.#prunedAt;
    const { limitBytes } = config().store;
    const { bytesThen, thinned } = snapshots.past;
    const look = { thinned, folded: folds.due().length, bytesThen, sinceMs, limitBytes };
    if (!this.#isOpen || !isWorthPruning({ ...look, bytes: store.sizes().bytes })) return;
    this.#prunedAt = clock.monotonic();
    const freed = await retention.prune();
    log.write('info', 'gave space back', { freed_bytes: freed });
  }
}
