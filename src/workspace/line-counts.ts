import type { FileLine } from '../core/changes/file-news.js';
import type { Measured } from '../core/changes/news.js';
import type { FileResult } from '../core/file-results.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import type { FileDiff, FileSide, TextDiff } from '../core/text-diff.js';
import type { FileState, Watcher } from '../core/watching.js';
import type { Contents } from './contents.js';

export interface LineCountDeps {
  readonly contents: Contents;
  readonly text: TextDiff;
  readonly watcher: Pick<Watcher, 'get'>;
}

type Counts = Pick<Measured, 'additions' | 'deletions'>;

const NOBODY_KNOWS: Counts = { additions: null, deletions: null };
const MOST_REMEMBERED = 10_000;
/** Comparing larger ones would keep the reader waiting; they are told without a count. */
const LARGEST = 1024 * 1024;

/** How many lines came and went between two contents; each pair is compared once. */
export class LineCounts {
  readonly #deps: LineCountDeps;
  readonly #known = new Map<string, Counts>();

  constructor(deps: LineCountDeps) {
    this.#deps = deps;
  }

  /** A line of the ledger may say it already. */
  learn({ changes, ...entry }: LedgerEntry): void {
    const told = entry['told'] as (Partial<Counts> & { untold?: true }) | undefined;
    const [first, last] = [changes[0], changes.at(-1)];
    if (told?.additions === undefined || told.deletions === undefined || told.untold) return;
    if (first === undefined || last === undefined || changes.length > 2) return;
    const { additions, deletions } = told;
    this.#remember(`${first.before}:${last.after}`, { additions, deletions });
  }

  async of(lines: readonly FileLine[]): Promise<Map<FileLine, Counts>> {
    const counts = lines.map(async (line): Promise<[FileLine, Counts]> => {
      return [line, line.result === undefined ? NOBODY_KNOWS : await this.#count(line.result)];
    });
    return new Map(await Promise.all(counts));
  }

  /** With its text; undefined when there is none. */
  async textOf({ result }: FileLine): Promise<string | undefined> {
    return result === undefined ? undefined : (await this.#compare(result))?.unified;
  }

  async #count(result: FileResult): Promise<Counts> {
    const key = `${result.before?.hash ?? 'null'}:${result.after?.hash ?? 'null'}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const diff = await this.#compare(result);
    // What could not be read now may be there the next time.
    if (diff === undefined) return NOBODY_KNOWS;
    const isText = !diff.is_binary && !diff.is_too_large;
    const counts = isText ? { additions: diff.additions, deletions: diff.deletions } : NOBODY_KNOWS;
    this.#remember(key, counts);
    return counts;
  }

  async #compare(result: FileResult): Promise<FileDiff | undefined> {
    const { path, from, change, before, after } = result;
    if (change === 'unchanged') return undefined;
    const [old, now] = await Promise.all([
      this.#kept(from ?? path, before),
      this.#present(path, after),
    ]);
    if (old === undefined || now === undefined) return undefined;
    return this.#deps.text.file({
      path,
      ...(from === undefined ? {} : { from }),
      change: change === 'created' ? 'added' : change,
      before: old,
      after: now,
    });
  }

  async #kept(path: Path, state: FileState | null): Promise<FileSide | null | undefined> {
    return this.#deps.contents.keptSide(path, state).catch(() => undefined);
  }

  async #present(path: Path, state: FileState | null): Promise<FileSide | null | undefined> {
    if (state === null) return null;
    const { contents, watcher } = this.#deps;
    if ((watcher.get(path)?.size ?? 0) > LARGEST) return { mode: state.mode, content: null };
    const content = await contents.read(path, state).catch(() => undefined);
    return content === undefined ? undefined : { mode: state.mode, content };
  }

  #remember(key: string, counts: Counts): void {
    this.#known.delete(key);
    this.#known.set(key, counts);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }
}
