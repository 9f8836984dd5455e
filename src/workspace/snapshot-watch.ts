import type { Derived } from '../core/derived.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { Clock, Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import { NOTHING_YET, SinceSnapshot, type Rhythm, type Tally } from '../core/snapshot-rhythm.js';
import type { Snapshots } from './snapshots.js';

export interface SnapshotWatchDeps {
  readonly snapshots: Pick<Snapshots, 'saveIfNew'>;
  readonly rhythm: () => Rhythm;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
}

/** Whoever works now goes first. */
const QUIET_MS = 200;
/** But not for longer than this. */
const LONGEST_MS = 5_000;

/** Makes snapshots when enough has happened, after the answer that made it enough. */
export class SnapshotWatch implements Derived {
  readonly name = 'since-snapshot';
  readonly form = 1;
  readonly #deps: SnapshotWatchDeps;
  readonly #since = new SinceSnapshot();
  #timer: NodeJS.Timeout | undefined;
  #dueSince = 0;
  #isOpen = false;

  constructor(deps: SnapshotWatchDeps) {
    this.#deps = deps;
  }

  reset(): void {
    this.#since.take(NOTHING_YET);
  }

  save(): unknown[] {
    return [this.#since.tally];
  }

  load(piece: unknown): void {
    this.#since.take(piece as Tally);
  }

  /** Every line, in the order of the ledger. */
  fold(entry: LedgerEntry): void {
    this.#since.fold(entry);
  }

  /** New lines were folded. */
  wake(): void {
    if (!this.#isOpen || this.#since.due(this.#deps.rhythm()) === undefined) return;
    const now = this.#deps.clock.monotonic();
    if (this.#timer === undefined) this.#dueSince = now;
    else if (now - this.#dueSince > LONGEST_MS) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#save(), QUIET_MS).unref();
  }

  patched(bytes: number): void {
    this.#since.patched(bytes);
    this.wake();
  }

  /** What was due when the daemon before this one ended is due now. */
  open(): void {
    this.#isOpen = true;
    this.wake();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  async #save(): Promise<void> {
    const { queue, snapshots, rhythm, log } = this.#deps;
    this.#timer = undefined;
    try {
      await queue.run(async () => {
        const reason = this.#since.due(rhythm());
        if (!this.#isOpen || reason === undefined) return;
        if ((await snapshots.saveIfNew(reason)) === undefined) this.#since.skip();
      });
    } catch (error) {
      // A full disk, mostly: the next line is the next occasion.
      log.write('warn', 'a snapshot could not be made', { error: String(error) });
    }
  }
}
