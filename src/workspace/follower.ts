import type { Ledger, LedgerEntry } from '../core/ledger.js';
import type { Clock, Log } from '../core/ports.js';

export interface FollowerDeps {
  readonly ledger: Pick<Ledger, 'head' | 'read'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Somebody's work under way is done: it goes first. */
  readonly calm: () => Promise<void>;
}

export interface Following {
  /** For the log, when it fails: `a patch could not be written`. */
  readonly failure: string;
  /** It begins when nothing was recorded for so long, */
  readonly quietMs: number;
  /** and at the latest after so long, however busy it is. */
  readonly longestMs: number;
  /** Everything up to here is done; asked once, before the first line. */
  readonly reached: () => Promise<number>;
  /** Lines in their order; false for one that is to be taken again later. */
  readonly take: (entry: LedgerEntry) => Promise<boolean>;
  /** After some lines, and before it rests. */
  readonly pause?: (reached: number) => Promise<void>;
}

const PAGE = 100;

/**
 * Does something for each line of the ledger, after the answer. What is due is what the ledger has
 * and is not done yet, so nothing is queued in memory and nothing is lost with it.
 */
export class Follower {
  readonly #deps: FollowerDeps;
  readonly #following: Following;
  /** Everything up to here is done; undefined until a start has looked. */
  #reached: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dueSince = 0;
  #working: Promise<void> | undefined;
  /** New lines may have come after the last look. */
  #isWoken = false;
  #isClosed = false;

  constructor(deps: FollowerDeps, following: Following) {
    this.#deps = deps;
    this.#following = following;
  }

  /** After the ledger was read: goes on where the daemon before this one had ended. */
  open(): void {
    this.#wait();
  }

  /** There are new lines. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isClosed || this.#working !== undefined) return;
    const now = this.#deps.clock.monotonic();
    if (this.#timer === undefined) this.#dueSince = now;
    else if (now - this.#dueSince > this.#following.longestMs) return;
    this.#wait();
  }

  /** Ends after the line under way; the next start does the others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#working;
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isWoken = false;
      this.#working = this.#workThrough();
    }, this.#following.quietMs).unref();
  }

  async #workThrough(): Promise<void> {
    try {
      this.#reached ??= await this.#following.reached();
      while (await this.#page(this.#reached));
    } catch (error) {
      // It can be done at any time; the next line is the next occasion.
      this.#deps.log.write('warn', this.#following.failure, { error: String(error) });
    } finally {
      this.#working = undefined;
      if (this.#isWoken) this.wake();
    }
  }

  /** False: there is nothing more to do now. */
  async #page(after: number): Promise<boolean> {
    const { take, pause } = this.#following;
    const entries = await this.#deps.ledger.read({ after, limit: PAGE });
    let isAll = entries.length > 0;
    let reached = after;
    for (const entry of entries) {
      await this.#deps.calm();
      isAll = !this.#isClosed && (await take(entry));
      if (!isAll) break;
      this.#reached = reached = entry.seq;
    }
    if (reached > after) await pause?.(reached);
    return isAll;
  }
}
