import { SmithyError } from '../core/errors.js';
import {
  isCreated,
  isDeleted,
  mostAlike,
  sameResults,
  toResults,
  withRenames,
  type FileResult,
  type Pair,
} from '../core/file-results.js';
import { toSpan, type Unexplained } from '../core/known-state.js';
import type { LedgerEntry, NewEvent } from '../core/ledger.js';
import { lineChange, type LineChange } from '../core/line-change.js';
import type { Path } from '../core/model.js';
import type { CheckpointStore } from '../core/store.js';
import type { FileDiff, FileSide, TextDiff } from '../core/text-diff.js';
import type { FileState } from '../core/watching.js';
import type { Contents } from './contents.js';
import { linesFor, summaryLines, type Account, type Voice } from './account-lines.js';
import { resultsOf } from './entry-results.js';

/** What is expected to be told, and how it will look. */
export interface Foresight {
  readonly results: readonly FileResult[];
  readonly accounts: Promise<readonly Account[] | undefined>;
}

const nothing = Promise.resolve(undefined);

/** Texts in one answer; beyond it files are listed without theirs. */
const MOST_TEXT_BYTES = 4 * 1024 * 1024;
/** More lines than this are a rewrite, not a list of places. */
const MOST_LINES = 1_000;
/** Every gone file is compared with every new one. */
const MOST_COMPARED = 10;
const LEAST_SIMILARITY = 50;
/** So many changes that nobody announced are looked into; a checkpoint waits for it. */
const MOST_LOOKED_INTO = 8;

const LINK = '120000';

/** How the content of a state is had. */
type Side = (path: Path, state: FileState | null) => Promise<FileSide | null>;

export interface AccountDeps {
  readonly contents: Contents;
  readonly store: Pick<CheckpointStore, 'writeBlobs'>;
  readonly text: TextDiff;
  /** Runs after each write to the store; returns at once. */
  readonly tidy: () => void;
  /** A line that has let go of its contents, whether they happen to be there or not. */
  readonly isFolded: (seq: number) => boolean;
}

/** Turns what happened to files into lines of the ledger and into words for the caller. */
export class Accounts {
  readonly #contents: Contents;
  readonly #store: Pick<CheckpointStore, 'writeBlobs'>;
  readonly #text: TextDiff;
  readonly #tidy: () => void;
  readonly #isFolded: (seq: number) => boolean;
  readonly #side: Side = (path, state) => this.#contents.side(path, state);
  readonly #keptSide: Side = (path, state) => this.#contents.keptSide(path, state);

  constructor({ contents, store, text, tidy, isFolded }: AccountDeps) {
    this.#contents = contents;
    this.#store = store;
    this.#text = text;
    this.#tidy = tidy;
    this.#isFolded = isFolded;
  }

  /**
   * Puts the contents into the store, durably.
   *
   * @throws SmithyError STALE_READ when one is not on disk any more; settle and look again.
   */
  async keep(states: Iterable<readonly [Path, FileState | null]>): Promise<void> {
    const blobs = [...states].flatMap(([path, state]) => {
      return state === null ? [] : [this.#contents.blob(path, state)];
    });
    if (blobs.length === 0) return;
    await this.#store.writeBlobs(blobs);
    this.#tidy();
  }

  /**
   * Compares before and after of each, with as much as is left of their contents; a file that moved and
   * changed a little is one result. A content that nobody could save before it was replaced keeps
   * nobody from saying that it was.
   */
  describe(results: readonly FileResult[]): Promise<Account[]> {
    return this.#describe(results, async (path, state) => {
      if (state === null) return null;
      return this.#contents.side(path, state).catch((error: unknown) => {
        if (!isGone(error)) throw error;
        // Nothing to compare, as of one that is too large.
        return { mode: state.mode, content: null };
      });
    });
  }

  async #describe(results: readonly FileResult[], side: Side): Promise<Account[]> {
    const joined = withRenames(results, await this.#similarMoves(results, side));
    const accounts: Account[] = [];
    let room = MOST_TEXT_BYTES;
    for (const result of joined) {
      const isUntold = room <= 0;
      const diff = isUntold ? undefined : await this.#compare(result, side);
      room -= diff?.unified?.length ?? 0;
      const lines =
        diff === undefined ? 'edit_replace' : await this.#lineChange(result, diff, side);
      accounts.push({
        ...result,
        ...sizeOf(diff),
        affectedLines: diff === undefined ? [] : affectedLines(diff, lines),
        lines,
        ...(isUntold ? { isUntold } : {}),
      });
    }
    return accounts;
  }

  /** Looks into what `tell` is likely to be asked, while the disk is busy with something else. */
  foresee(unexplained: readonly Unexplained[], sizeOf: (path: Path) => number): Foresight {
    const isMuch = unexplained.length > MOST_LOOKED_INTO;
    const results = isMuch ? [] : toResults(unexplained.map(toSpan));
    const looked = async (): Promise<Account[]> => {
      // When the disk is busy, and not before it is.
      await new Promise(setImmediate);
      await Promise.all(unexplained.map((one) => this.#contents.warm(one, sizeOf(one.path))));
      return this.#describe(results, this.#keptSide);
    };
    // What is not in the store yet is looked into when it is.
    return { results, accounts: isMuch ? nothing : looked().catch(() => undefined) };
  }

  /** Lines for changes outside of edits: of few each for itself, of many only what they are. */
  async tell(
    results: readonly FileResult[],
    voice: Voice,
    foreseen?: Foresight,
  ): Promise<NewEvent[]> {
    const changed = results.filter(({ change }) => change !== 'unchanged');
    if (changed.length > MOST_LOOKED_INTO) return summaryLines(changed, voice);
    try {
      const isForeseen = sameResults(changed, foreseen?.results);
      const accounts = isForeseen ? await foreseen?.accounts : undefined;
      return linesFor(accounts ?? (await this.#describe(changed, this.#keptSide)), voice);
    } catch (error) {
      // A content that cannot be had any more keeps nobody from saying that it changed.
      if (!isGone(error)) throw error;
      return summaryLines(changed, voice);
    }
  }

  /** The text of a line's change, as far as it can still be had. */
  async diffOf(entry: LedgerEntry): Promise<string | null> {
    const result = resultsOf(entry).at(-1);
    // What was too much to tell then stays so: whatever is made anew must be what it was.
    const told = entry['told'] as { untold?: true } | undefined;
    if (result === undefined || told?.untold === true || this.#isFolded(entry.seq)) return null;
    const diff = await this.#compare(result, this.#side).catch(() => undefined);
    return diff?.unified ?? null;
  }

  /** Of contents that are in the store, however large. */
  compareKept(result: FileResult): Promise<FileDiff | undefined> {
    return this.#compare(result, this.#keptSide);
  }

  async #compare(result: FileResult, side: Side): Promise<FileDiff | undefined> {
    const { path, from = path, change, before, after } = result;
    if (change === 'unchanged') return undefined;
    return this.#text.file({
      path,
      ...(change === 'renamed' ? { from } : {}),
      change: change === 'created' ? 'added' : change,
      before: await side(from, before),
      after: await side(path, after),
    });
  }

  async #lineChange(
    result: FileResult,
    { is_binary: isBinary }: FileDiff,
    side: Side,
  ): Promise<LineChange> {
    const { path, change, before, after } = result;
    if (change !== 'modified' || isBinary || before?.mode === LINK || after?.mode === LINK) {
      return 'edit_replace';
    }
    const old = (await side(path, before))?.content;
    const now = (await side(path, after))?.content;
    // Too large to be loaded.
    if (!old || !now) return 'edit_replace';
    return lineChange(old, now);
  }

  async #similarMoves(results: readonly FileResult[], side: Side): Promise<Map<Path, Path>> {
    const gone = results.filter(isDeleted);
    const come = results.filter(isCreated);
    if (gone.length > MOST_COMPARED || come.length > MOST_COMPARED) return new Map();
    const pairs: Pair[] = [];
    for (const created of come) {
      for (const { path: from, before } of gone) {
        const result = { ...created, from, before, change: 'renamed' } as const;
        const { similarity = 0, is_binary: isBinary } = (await this.#compare(result, side)) ?? {};
        if (isBinary === true || similarity < LEAST_SIMILARITY) continue;
        pairs.push({ from, to: created.path, similarity });
      }
    }
    return mostAlike(pairs);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof SmithyError && error.code === 'STALE_READ';
}

/** Numbers of the new file's lines; where lines only went, those that the old file had. */
function affectedLines({ hunks = [] }: FileDiff, lines: LineChange): number[] {
  const wanted = lines === 'edit_delete' ? '-' : '+';
  const numbers: number[] = [];
  for (const hunk of hunks) {
    let at = wanted === '-' ? hunk.before_start : hunk.after_start;
    for (const { mark } of hunk.lines) {
      if (mark === wanted) numbers.push(at);
      if (mark === wanted || mark === ' ') at += 1;
      if (numbers.length >= MOST_LINES) return numbers;
    }
  }
  return numbers;
}

function sizeOf(diff: FileDiff | undefined): Pick<Account, 'additions' | 'deletions' | 'diff'> {
  if (diff === undefined) return { additions: 0, deletions: 0 };
  const { additions, deletions, unified } = diff;
  return { additions, deletions, ...(unified === undefined ? {} : { diff: unified }) };
}
