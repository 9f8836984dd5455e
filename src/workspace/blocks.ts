import { changedLines } from '../core/changed-lines.js';
import {
  plainBlock,
  toFileBlock,
  type BlockFiles,
  type EventBlocks,
  type FileBlock,
} from '../core/event-blocks.js';
import { SmithyError } from '../core/errors.js';
import type { FileResult } from '../core/file-results.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { Semantics } from '../core/semantics.js';
import type { FileDiff } from '../core/text-diff.js';
import type { Accounts } from './accounts.js';
import type { Contents } from './contents.js';
import { resultsOf } from './entry-results.js';
import type { Meter } from './metrics.js';
import { Follower, type FollowerDeps } from './follower.js';

export interface BlockDeps extends FollowerDeps {
  readonly accounts: Pick<Accounts, 'compareKept'>;
  readonly contents: Pick<Contents, 'keptSide'>;
  readonly semantics: Semantics;
  readonly blockFiles: BlockFiles;
  readonly metrics: Pick<Meter, 'dropped'>;
}

interface Derived {
  readonly blocks: EventBlocks;
  /** Another time it would be the same, so it can be kept. */
  readonly isSettled: boolean;
}

/** Of a line that tells of many: nobody reads more, and each is a file to parse. */
const MOST_FILES = 20;
/** Whoever asks for what is not derived yet waits so long at most. */
const PATIENCE_MS = 400;
const AT_ONCE = 4;
/** How far back a start goes; what is older is derived when somebody asks for it. */
const MOST_LOOKED_BACK = 10_000;
const LINK = '120000';
const NEWLINE = 0x0a;

/**
 * What the changes of each line are inside of. Derived from the contents after the line is written,
 * so that nobody who records something waits for a parser; kept beside the ledger.
 */
export class Blocks {
  readonly #deps: BlockDeps;
  readonly follower: Follower;
  /** Being derived: the follower and whoever asks share the work. */
  readonly #underWay = new Map<number, Promise<Derived>>();
  #followed: EventBlocks[] = [];
  #followedTo = 0;
  /** Kept because somebody asked, before the follower came to it. */
  readonly #asked = new Set<number>();
  #keeping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: BlockDeps) {
    this.#deps = deps;
    this.follower = new Follower(deps, {
      failure: 'what changes are inside of could not be kept',
      // A parser takes a core for itself, and who asks before is answered all the same.
      quietMs: 2_000,
      longestMs: 60_000,
      reached: () => this.#reached(),
      take: (entry) => this.#follow(entry),
      pause: (reached) => deps.blockFiles.add(this.#followed.splice(0), reached),
    });
  }

  /** For each line that tells of changes; those that take too long are told by their lines. */
  async of(entries: readonly LedgerEntry[]): Promise<Map<number, EventBlocks>> {
    const told = entries.filter(tellsOfChanges);
    const found = await this.#kept(told);
    const missing = told.filter(({ seq }) => !found.has(seq));
    if (missing.length === 0) return found;
    await this.#deriveInTime(missing, found);
    for (const entry of missing) if (!found.has(entry.seq)) found.set(entry.seq, plain(entry));
    return found;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // First: what it waits for is answered with lines, which are not kept.
    await this.#deps.semantics.close();
    await this.follower.close();
    await this.#keeping;
  }

  async #kept(entries: readonly LedgerEntry[]): Promise<Map<number, EventBlocks>> {
    const times = new Map(entries.map(({ seq, ts }) => [seq, ts]));
    const kept = await this.#deps.blockFiles.read([...times.keys()]);
    return new Map(
      kept.filter((one) => one.ts === times.get(one.seq)).map((one) => [one.seq, one]),
    );
  }

  async #deriveInTime(
    entries: readonly LedgerEntry[],
    into: Map<number, EventBlocks>,
  ): Promise<void> {
    let isLate = false;
    const settled: EventBlocks[] = [];
    const next = entries.values();
    const work = async (): Promise<void> => {
      for (const entry of next) {
        const { blocks, isSettled } = await this.#derive(entry);
        if (isSettled) this.#settle(blocks, settled);
        if (isLate) return;
        into.set(entry.seq, blocks);
      }
    };
    const all = Promise.all(Array.from({ length: AT_ONCE }, work));
    // What is under way when time is up is kept as well: it was asked for.
    const kept = all.then(() => this.#deps.blockFiles.add(settled));
    this.#keep(kept);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
    await Promise.race([all, late]);
    clearTimeout(timer);
    isLate = true;
  }

  #settle(blocks: EventBlocks, settled: EventBlocks[]): void {
    settled.push(blocks);
    const isAhead = blocks.seq > this.#followedTo && this.#asked.size < MOST_LOOKED_BACK;
    if (isAhead) this.#asked.add(blocks.seq);
  }

  #keep(adding: Promise<void>): void {
    const kept = adding.catch((error: unknown) => {
      const message = 'what changes are inside of could not be kept';
      this.#deps.log.write('warn', message, { error: String(error) });
    });
    this.#keeping = Promise.all([this.#keeping, kept]).then(() => undefined);
  }

  async #reached(): Promise<number> {
    const { ledger, blockFiles } = this.#deps;
    const { seq } = ledger.head();
    const reached = await blockFiles.reached();
    // Of another ledger, in whose place this one is.
    return Math.max(reached > seq ? 0 : reached, seq - MOST_LOOKED_BACK, 0);
  }

  async #follow(entry: LedgerEntry): Promise<boolean> {
    if (!tellsOfChanges(entry)) return true;
    this.#followedTo = entry.seq;
    if (this.#asked.delete(entry.seq)) return true;
    const { blocks, isSettled } = await this.#derive(entry, this.#deps.calm);
    if (this.#isClosed) return isSettled;
    if (isSettled) this.#followed.push(blocks);
    return true;
  }

  /** `calm`: waited for before each file, by one that nobody waits for. */
  #derive(entry: LedgerEntry, calm?: () => Promise<void>): Promise<Derived> {
    const known = this.#underWay.get(entry.seq);
    if (known !== undefined) return known;
    const deriving = this.#deriveNow(entry, calm).finally(() => this.#underWay.delete(entry.seq));
    this.#underWay.set(entry.seq, deriving);
    return deriving;
  }

  async #deriveNow(entry: LedgerEntry, calm?: () => Promise<void>): Promise<Derived> {
    const results = resultsOf(entry);
    const files: FileBlock[] = [];
    let isSettled = true;
    for (const result of results.slice(0, MOST_FILES)) {
      await calm?.();
      const { unsettled, ...file } = await this.#examine(entry, result);
      files.push(file);
      if (unsettled === true) isSettled = false;
    }
    const left = results.length - files.length;
    const { seq, ts } = entry;
    return { blocks: { seq, ts, files, ...(left === 0 ? {} : { left }) }, isSettled };
  }

  async #examine(entry: LedgerEntry, result: FileResult): Promise<FileBlock & Doubt> {
    const { path, before, after } = result;
    if (before?.mode === LINK || after?.mode === LINK) return none(path, 'is a link');
    try {
      const diff = await this.#deps.accounts.compareKept(result);
      if (diff === undefined) return { path, block: null };
      if (diff.is_binary) return none(path, 'is binary');
      if (diff.is_too_large) return none(path, 'is too large to be examined');
      return await this.#enrich(result, diff);
    } catch (error) {
      const plain = plainBlock(entry, path, `${path} was not examined: ${reasonOf(error)}.`);
      // What was only noted may be in the store one day; a content that is gone is gone.
      const isFinal = isGone(error) && entry['noted'] !== true;
      return isFinal ? plain : { ...plain, unsettled: true };
    }
  }

  async #enrich(result: FileResult, diff: FileDiff): Promise<FileBlock & Doubt> {
    const { path, from = path, before, after } = result;
    if (before?.hash === after?.hash && from === path) return { path, block: null };
    const { side, ranges } = changedLines(diff);
    const isBefore = side === 'before' || after === null;
    const where = isBefore ? from : path;
    const content = (await this.#deps.contents.keptSide(where, isBefore ? before : after))?.content;
    if (!content) return none(path, 'is too large to be examined');
    // Of a file that only moved, all of it did.
    const whole = [{ first: 1, last: lineCount(content) }];
    const chosen = ranges.length === 0 ? whole : ranges;
    const enriched = await this.#deps.semantics.enrich(where, content, chosen);
    const file = toFileBlock(path, enriched);
    if (enriched.unsettled !== true) return file;
    if (!this.#isClosed) this.#deps.metrics.dropped('semantics');
    return { ...file, unsettled: true };
  }
}

interface Doubt {
  readonly unsettled?: true;
}

function tellsOfChanges({ changes }: LedgerEntry): boolean {
  return changes.length > 0;
}

function none(path: string, why: string): FileBlock {
  return { path, block: null, warning: `${path} ${why}.` };
}

/** Until somebody has looked into it. */
function plain(entry: LedgerEntry): EventBlocks {
  const { seq, ts } = entry;
  const path = resultsOf(entry)[0]?.path ?? '';
  const warning = `${path} has not been examined yet; ask again in a moment.`;
  return { seq, ts, files: [plainBlock(entry, path, warning)] };
}

function lineCount(content: Uint8Array): number {
  let count = content.at(-1) === NEWLINE ? 0 : 1;
  for (let at = content.indexOf(NEWLINE); at !== -1; at = content.indexOf(NEWLINE, at + 1)) {
    count += 1;
  }
  return Math.max(count, 1);
}

function isGone(error: unknown): boolean {
  return error instanceof SmithyError && error.code === 'STALE_READ';
}

function reasonOf(error: unknown): string {
  if (isGone(error)) return 'its content is gone';
  return error instanceof Error ? error.message : String(error);
}
