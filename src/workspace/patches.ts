import type { Ledger, LedgerEntry, PatchFiles } from '../core/ledger.js';
import { patchBytes } from '../core/text-diff.js';
import type { Accounts } from './accounts.js';
import { resultsOf } from './entry-results.js';
import { Follower, type FollowerDeps } from './follower.js';
import { replay } from './replay.js';

export interface PatchDeps extends FollowerDeps {
  readonly ledger: Pick<Ledger, 'head' | 'read'>;
  readonly accounts: Pick<Accounts, 'compareKept'>;
  readonly patches: PatchFiles;
  /** How many bytes the patch of a line has. */
  readonly patched: (bytes: number) => void;
}

/** A patch is to be read; what is beyond it is named in its first lines. */
const MOST_BYTES = 4 * 1024 * 1024;
/** How far back a start looks for patches that were not written any more. */
const MOST_LOOKED_BACK = 1_000;

/** A patch beside each line that tells of changes. */
export class Patches {
  readonly #deps: PatchDeps;
  readonly follower: Follower;

  constructor(deps: PatchDeps) {
    this.#deps = deps;
    this.follower = new Follower(deps, {
      failure: 'a patch could not be written',
      // Patches are for later: whoever edits now goes first.
      quietMs: 200,
      longestMs: 5_000,
      reached: () => this.#lastWritten(),
      take: async (entry) => {
        if (entry.diff_path === null) return true;
        const bytes = await this.patchOf(entry);
        await deps.patches.write(entry.id, bytes);
        deps.patched(bytes.length);
        return true;
      },
    });
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
    const take = (entry: LedgerEntry): void => {
      if (entry.diff_path !== null) due.push(entry);
    };
    await replay(ledger, take, floor);
    for (const { id, seq } of due.toReversed()) if (await patches.has(id)) return seq;
    return floor;
  }
}
