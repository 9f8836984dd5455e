import {
  patchPath,
  readEventId,
  type Ledger,
  type LedgerEntry,
  type PatchFiles,
} from '../core/ledger.js';
import type { DamagedFile } from '../core/ports.js';
import { patchBytes } from '../core/text-diff.js';
import type { Accounts } from './accounts.js';
import { resultsOf } from './entry-results.js';
import { Follower, type FollowerDeps } from './follower.js';
import { replay } from './replay.js';

export interface PatchDeps extends FollowerDeps {
  readonly ledger: Pick<Ledger, 'head' | 'read'>;
  readonly accounts: Pick<Accounts, 'compareKept'>;
  readonly patches: PatchFiles;
  /** Those that have let go of their contents have none. */
  readonly isFolded: (seq: number) => boolean;
  /** How many bytes the patch of a line has. */
  readonly patched: (bytes: number) => void;
}

const NOT_SHOWN = '# not shown: ';
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
        if (entry.diff_path === null || deps.isFolded(entry.seq)) return true;
        const bytes = await this.patchOf(entry, deps.calm);
        await deps.patches.write(entry.id, bytes);
        deps.patched(bytes.length);
        return true;
      },
    });
  }

  /** Compares those that are there with what they would be if they were made now. */
  async check(repair: boolean): Promise<{ files: number; damaged: DamagedFile[] }> {
    const { ledger, patches } = this.#deps;
    const damaged: DamagedFile[] = [];
    const ids = await patches.list();
    for (const id of ids) {
      const seq = readEventId(id) ?? 0;
      const [entry] = await ledger.read({ after: seq - 1, limit: 1 });
      const detail = await this.#whyDifferent(id, entry?.seq === seq ? entry : undefined);
      if (detail === undefined) continue;
      damaged.push({ file: patchPath(id), detail });
      if (repair && entry?.seq === seq) await patches.write(id, await this.patchOf(entry));
    }
    return { files: ids.length, damaged };
  }

  /** Removes those of folded lines. */
  async dropFolded(): Promise<void> {
    const { patches, isFolded } = this.#deps;
    for (const id of await patches.list()) {
      if (isFolded(readEventId(id) ?? 0)) await patches.remove(id);
    }
  }

  async #whyDifferent(id: string, entry: LedgerEntry | undefined): Promise<string | undefined> {
    const found = await this.#deps.patches.read(id);
    if (found === undefined) return undefined;
    if (entry === undefined) return 'there is no such event';
    // It was about to be removed.
    if (this.#deps.isFolded(entry.seq)) return undefined;
    const due = await this.patchOf(entry);
    if (isSame(found, due)) return undefined;
    // Contents that it had may be gone with their dialog.
    return startsWith(due, NOT_SHOWN) ? undefined : 'it is not what the event changed';
  }

  /** In the words of `git diff`; the same bytes whenever it is made. `calm`: waited for before each file. */
  async patchOf(entry: LedgerEntry, calm?: () => Promise<void>): Promise<Uint8Array> {
    const left: string[] = [];
    const parts: Uint8Array[] = [];
    let room = MOST_BYTES;
    for (const result of resultsOf(entry)) {
      await calm?.();
      const diff = room > 0 ? await this.#compare(result) : undefined;
      const bytes = diff?.unified === undefined ? undefined : patchBytes(diff);
      if (bytes === undefined) left.push(`${NOT_SHOWN}${JSON.stringify(result.path)}\n`);
      else parts.push(bytes);
      room -= bytes?.length ?? 0;
    }
    return Buffer.concat([Buffer.from(left.join('')), ...parts]);
  }

  /** Contents of a deleted dialog may be gone. */
  async #compare(result: Parameters<Accounts['compareKept']>[0]) {
    return this.#deps.accounts.compareKept(result).catch(() => undefined);
  }

  /**
   * They are written in order, so the newest one there is tells how far it went. An empty one does
   * not: nobody flushes them, and a power cut leaves the last ones so.
   */
  async #lastWritten(): Promise<number> {
    const { ledger, patches, isFolded } = this.#deps;
    const floor = Math.max(0, ledger.head().seq - MOST_LOOKED_BACK);
    const due: LedgerEntry[] = [];
    const take = (entry: LedgerEntry): void => {
      if (entry.diff_path !== null && !isFolded(entry.seq)) due.push(entry);
    };
    await replay(ledger, take, floor);
    for (const { id, seq } of due.toReversed()) {
      const written = await patches.read(id);
      if (written !== undefined && written.length > 0) return seq;
    }
    return floor;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function startsWith(bytes: Uint8Array, words: string): boolean {
  return new TextDecoder().decode(bytes.subarray(0, words.length)) === words;
}
