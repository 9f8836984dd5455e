import type { Ledger, LedgerEntry, PatchFiles } from '../core/ledger.js';
import type { Clock, Log } from '../core/ports.js';
import { patchBytes } from '../core/text-diff.js';
import type { Accounts } from './accounts.js';
import { resultsOf } from './entry-results.js';

export interface PatchDeps {
  readonly ledger: Pick<Ledger, 'head' | 'read'>;
  readonly accounts: Pick<Accounts, 'compareKept'>;
  readonly patches: PatchFiles;
  readonly clock: Clock;
  readonly log: Log;
}

/** Patches are for later: whoever edits now goes first. */
const QUIET_MS = 200;
/** But nobody waits longer than this for one, however busy it is. */
const LONGEST_MS = 5_000;
const PAGE = 100;
/** A patch is to be read; what is beyond it is named in its first lines. */
const MOST_BYTES = 4 * 1024 * 1024;
/** How far back a start looks for patches that were not written any more. */
const MOST_LOOKED_BACK = 10_000;

/**
 * A patch beside each line that tells of changes, written after the answer. What is due is what the
 * ledger has and is not written yet, so nothing is queued in memory and nothing is lost with it.
 */
export class Patches {
  readonly #deps: PatchDeps;
  /** Everything up to here is written; undefined until a start has looked. */
  #reached: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dueSince = 0;
  #writing: Promise<void> | undefined;
  /** New lines may have come after the last look. */
  #isWoken = false;
  #isClosed = false;

  constructor(deps: PatchDeps) {
    this.#deps = deps;
  }

  /** After the ledger was read: goes on where the daemon before this one had ended. */
  open(): void {
    this.#wait();
  }

  /** There are new lines. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isClosed || this.#writing !== undefined) return;
    const now = this.#deps.clock.monotonic();
    if (this.#timer === undefined) this.#dueSince = now;
    else if (now - this.#dueSince > LONGEST_MS) return;
    this.#wait();
  }

  /** Ends after the one under way; the next start writes the others. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isWoken = false;
      this.#writing = this.#writeAll();
    }, QUIET_MS).unref();
  }

  async #writeAll(): Promise<void> {
    try {
      this.#reached ??= await this.#lastWritten();
      while (await this.#writePage(this.#reached));
    } catch (error) {
      // They can be made at any time; the next line is the next occasion.
      this.#deps.log.write('warn', 'a patch could not be written', { error: String(error) });
    } finally {
      this.#writing = undefined;
      if (this.#isWoken) this.wake();
    }
  }

  /** False: there is nothing more to do. */
  async #writePage(after: number): Promise<boolean> {
    const { ledger, patches } = this.#deps;
    const entries = await ledger.read({ after, limit: PAGE });
    for (const entry of entries) {
      if (this.#isClosed) return false;
      if (entry.diff_path !== null) await patches.write(entry.id, await this.patchOf(entry));
      this.#reached = entry.seq;
    }
    return entries.length > 0;
  }

  /** In the words of `git diff`; the same bytes whenever it is made. */
  async patchOf(entry: LedgerEntry): Promise<Uint8Array> {
    const left: string[] = [];
    const parts: Uint8Array[] = [];
    let room = MOST_BYTES;
    for (const result of resultsOf(entry)) {
      const diff = room > 0 ? await this.#compare(result) : undefined;
      const bytes = diff?.unified === undefined ? undefined : patchBytes(diff);
      if (bytes === undefined) left.push(`# not shown: ${JSON.stringify(result.path)}\n`);
      else parts.push(bytes);
      room -= bytes?.length ?? 0;
    }
    return Buffer.concat([Buffer.from(left.join('')), ...parts]);
  }

  /** Contents of a deleted dialog may be gone. */
  async #compare(result: Parameters<Accounts['compareKept']>[0]) {
    return this.#deps.accounts.compareKept(result).catch(() => undefined);
  }

  /** They are written in order, so the newest one there is tells how far it went. */
  async #lastWritten(): Promise<number> {
    const { ledger, patches } = this.#deps;
    const floor = Math.max(0, ledger.head().seq - MOST_LOOKED_BACK);
    const due: LedgerEntry[] = [];
    for (let after = floor; ;) {
      const entries = await ledger.read({ after, limit: PAGE });
      const last = entries.at(-1);
      if (last === undefined) break;
      due.push(...entries.filter(({ diff_path: path }) => path !== null));
      after = last.seq;
    }
    for (const { id, seq } of due.toReversed()) if (await patches.has(id)) return seq;
    return floor;
  }
}
