import {
  actionOf,
  isCreated,
  isDeleted,
  mostAlike,
  toResults,
  withRenames,
  type FileResult,
  type Pair,
} from '../core/file-results.js';
import type { LedgerEntry, NewEvent } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import type { CheckpointStore } from '../core/store.js';
import type { FileDiff, TextDiff } from '../core/text-diff.js';
import type { FileState } from '../core/watching.js';
import type { Contents } from './contents.js';
import { toState } from './explained.js';

/** Who a change is by, as its ledger line says it. */
export interface Voice {
  readonly by: string;
  readonly author: {
    readonly name: string;
    readonly version: string | null;
    readonly kind: string;
  };
  readonly ts: string;
  readonly dialog_id: string | null;
  readonly session: string | null;
  readonly rationale?: string | null;
  readonly run_id?: string | null;
}

/** A result together with its size and text. */
export interface Account extends FileResult {
  readonly additions: number;
  readonly deletions: number;
  readonly diff?: string;
  readonly affectedLines: readonly number[];
}

/** Texts in one answer; beyond it files are listed without theirs. */
const MOST_TEXT_BYTES = 4 * 1024 * 1024;
/** More lines than this are a rewrite, not a list of places. */
const MOST_LINES = 1_000;
/** Every gone file is compared with every new one. */
const MOST_COMPARED = 10;
const LEAST_SIMILARITY = 50;
/** A checkout changes thousands: one line tells of this many. */
const CHANGES_PER_LINE = 1_000;

export interface AccountDeps {
  readonly contents: Contents;
  readonly store: Pick<CheckpointStore, 'writeBlobs'>;
  readonly text: TextDiff;
  /** Runs after each write to the store; returns at once. */
  readonly tidy: () => void;
}

/** Turns what happened to files into lines of the ledger and into words for the caller. */
export class Accounts {
  readonly #contents: Contents;
  readonly #store: Pick<CheckpointStore, 'writeBlobs'>;
  readonly #text: TextDiff;
  readonly #tidy: () => void;

  constructor({ contents, store, text, tidy }: AccountDeps) {
    this.#contents = contents;
    this.#store = store;
    this.#text = text;
    this.#tidy = tidy;
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

  /** Compares before and after of each; a file that moved and changed a little is one result. */
  async describe(results: readonly FileResult[]): Promise<Account[]> {
    const joined = withRenames(results, await this.#similarMoves(results));
    const accounts: Account[] = [];
    let room = MOST_TEXT_BYTES;
    for (const result of joined) {
      const diff = room > 0 ? await this.#compare(result) : undefined;
      room -= diff?.unified?.length ?? 0;
      accounts.push({
        ...result,
        additions: diff?.additions ?? 0,
        deletions: diff?.deletions ?? 0,
        ...(diff?.unified === undefined ? {} : { diff: diff.unified }),
        affectedLines: diff === undefined ? [] : linesOf(diff),
      });
    }
    return accounts;
  }

  /** The text of a line's change, as far as it can still be had. */
  async diffOf(entry: LedgerEntry): Promise<string | null> {
    const last = entry.changes.at(-1);
    if (last === undefined) return null;
    const path = last.path as Path;
    const from = (entry['moves'] as Moves | undefined)?.[path];
    const first = from === undefined ? last : entry.changes[0];
    const before = toState(first?.before ?? null, first?.mode_before);
    const after = toState(last.after, last.mode_after);
    const [result] = toResults([{ path, before, after }]);
    if (result === undefined) return null;
    const moved = from === undefined ? result : { ...result, from, change: 'renamed' as const };
    const diff = await this.#compare(moved).catch(() => undefined);
    return diff?.unified ?? null;
  }

  async #compare(result: FileResult): Promise<FileDiff | undefined> {
    const { path, from = path, change, before, after } = result;
    if (change === 'unchanged') return undefined;
    return this.#text.file({
      path,
      ...(change === 'renamed' ? { from } : {}),
      change: change === 'created' ? 'added' : change,
      before: await this.#contents.side(from, before),
      after: await this.#contents.side(path, after),
    });
  }

  async #similarMoves(results: readonly FileResult[]): Promise<Map<Path, Path>> {
    const gone = results.filter(isDeleted);
    const come = results.filter(isCreated);
    if (gone.length > MOST_COMPARED || come.length > MOST_COMPARED) return new Map();
    const pairs: Pair[] = [];
    for (const created of come) {
      for (const { path: from, before } of gone) {
        const result = { ...created, from, before, change: 'renamed' } as const;
        const { similarity = 0, is_binary: isBinary } = (await this.#compare(result)) ?? {};
        if (isBinary === true || similarity < LEAST_SIMILARITY) continue;
        pairs.push({ from, to: created.path, similarity });
      }
    }
    return mostAlike(pairs);
  }
}

/** One line per changed file. */
export function linesFor(
  accounts: readonly Account[],
  voice: Voice,
  edit?: { readonly id: string; readonly what: string },
): NewEvent[] {
  return accounts
    .filter(({ change }) => change !== 'unchanged')
    .map((account) => {
      const { change, additions, deletions } = account;
      return {
        ...voice,
        ...changeFields([account]),
        action_type: actionOf(account, account),
        affected_lines: [...account.affectedLines],
        told: { change, additions, deletions },
        ...(edit === undefined ? {} : { edit }),
      };
    });
}

/** Few lines for many files: what changed, without looking into it. */
export function summaryLines(results: readonly FileResult[], voice: Voice): NewEvent[] {
  const lines: NewEvent[] = [];
  const kinds = [isCreated, isDeleted, (one: FileResult) => !isCreated(one) && !isDeleted(one)];
  for (const isKind of kinds) {
    const alike = results.filter((one) => one.change !== 'unchanged' && isKind(one));
    for (let at = 0; at < alike.length; at += CHANGES_PER_LINE) {
      const some = alike.slice(at, at + CHANGES_PER_LINE);
      const [first] = some;
      if (first === undefined) break;
      const action = actionOf(first, { additions: 1, deletions: 1 });
      lines.push({ ...voice, ...changeFields(some), action_type: action });
    }
  }
  return lines;
}

/** New path -> old path, for the files that moved. */
export type Moves = Readonly<Record<string, Path>>;

function changeFields(results: readonly FileResult[]) {
  const moved = results.filter(({ from }) => from !== undefined);
  return {
    files: results.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path])),
    changes: results.flatMap(changesOf),
    ...(moved.length === 0
      ? {}
      : { moves: Object.fromEntries(moved.map(({ path, from }) => [path, from])) }),
  };
}

function changesOf({ path, from, before, after }: FileResult) {
  if (from === undefined) return [change(path, before, after)];
  return [change(from, before, null), change(path, null, after)];
}

function change(path: Path, before: FileState | null, after: FileState | null) {
  return {
    path,
    before: before?.hash ?? null,
    after: after?.hash ?? null,
    ...(before === null ? {} : { mode_before: before.mode }),
    ...(after === null ? {} : { mode_after: after.mode }),
  };
}

function linesOf({ hunks = [] }: FileDiff): number[] {
  const numbers: number[] = [];
  for (const hunk of hunks) {
    let at = hunk.after_start;
    for (const { mark } of hunk.lines) {
      if (mark === '+') numbers.push(at);
      if (mark !== '-') at += 1;
      if (numbers.length >= MOST_LINES) return numbers;
    }
  }
  return numbers;
}
