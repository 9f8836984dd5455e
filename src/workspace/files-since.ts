import type { FileNews } from '../core/changes/file-news.js';
import type { Config } from '../core/config.js';
import { byOf } from '../core/edits.js';
import { toResults, type FileResult } from '../core/file-results.js';
import type { Ledger } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import { sameState, type ChangeOrigin, type FileState, type Watcher } from '../core/watching.js';
import type { Base } from './change-bases.js';
import { stateOf, type Claims } from './claims.js';
import { toState } from './explained.js';
import type { FileTrail } from './file-trail.js';
import { replay } from './replay.js';

export interface FilesSinceDeps {
  readonly trail: FileTrail;
  readonly claims: Claims;
  readonly watcher: Watcher;
  readonly ledger: Pick<Ledger, 'read' | 'head'>;
  readonly config: () => Config;
}

/** Where a look begins. */
type Start = Pick<Base, 'seq' | 'observed'>;

/** What the ledger says of the time after a point that this run does not remember. */
export interface Recalled {
  /** What each path held before its first line, and what its last line says it holds. */
  readonly before: Map<Path, FileState | null>;
  readonly last: Map<Path, FileState | null>;
  readonly authors: Map<Path, string[]>;
  /** Lines up to here are in. */
  readonly upTo: number;
}

interface Changed {
  readonly before: ReadonlyMap<Path, FileState | null>;
  readonly authors: ReadonlyMap<Path, readonly string[]>;
  readonly origins: ReadonlyMap<Path, ChangeOrigin>;
}

const UNKNOWN = 'unknown';

/** Which files are not what they were at a cursor, and whose work that is. */
export class FilesSince {
  readonly #deps: FilesSinceDeps;

  constructor(deps: FilesSinceDeps) {
    this.#deps = deps;
  }

  /** Reads what memory does not have; undefined when it has everything. */
  async recall(start: Start): Promise<Recalled | undefined> {
    if (this.#remembered(start) !== undefined) return undefined;
    const { ledger } = this.#deps;
    const recalled = { before: new Map(), last: new Map(), authors: new Map<Path, string[]>() };
    let upTo = start.seq;
    // Until nothing came while the last of it was read.
    while (upTo < ledger.head().seq) {
      const { seq: end } = ledger.head();
      await replay(
        ledger,
        ({ seq, changes, ...entry }) => {
          if (seq > end) return false;
          const { by, noted } = entry as { readonly by?: string; readonly noted?: true };
          if (by === undefined || noted === true) return true;
          for (const change of changes)
            take(recalled, { ...change, path: change.path as Path, by });
          return true;
        },
        upTo,
      );
      upTo = end;
    }
    return { ...recalled, upTo };
  }

  /** In one go, so that whoever is told has a cursor right after it. */
  news(start: Start, recalled: Recalled | undefined): FileNews[] {
    const { watcher } = this.#deps;
    watcher.publish();
    const changed = this.#remembered(start) ?? this.#fromLedger(recalled);
    const spans = [...changed.before].map(([path, before]) => {
      return { path, before, after: stateOf(watcher.get(path)) };
    });
    const results = toResults(spans).filter(({ change }) => change !== 'unchanged');
    return results.map((result) => this.#judge(result, changed));
  }

  #remembered({ observed, seq }: Start): Changed | undefined {
    if (observed === undefined) return undefined;
    const trace = this.#deps.trail.since(observed);
    const authors = this.#deps.trail.authorsSince(seq);
    return trace === undefined || authors === undefined ? undefined : { ...trace, authors };
  }

  /** Lines tell of what was accepted; the rest is what nobody has accounted for yet. */
  #fromLedger(recalled: Recalled | undefined): Changed {
    const { claims } = this.#deps;
    const told = [...(recalled?.before ?? [])];
    const before = new Map(told.filter(([path]) => !this.#isLeft(path, recalled?.last.get(path))));
    const origins = new Map<Path, ChangeOrigin>();
    for (const { path, expected, origin } of claims.unexplained()) {
      if (!before.has(path)) before.set(path, expected);
      origins.set(path, origin);
    }
    for (const [path, state] of claims.table.list().flatMap((edit) => [...edit.before])) {
      if (!before.has(path)) before.set(path, state);
    }
    return { before, origins, authors: recalled?.authors ?? new Map<Path, string[]>() };
  }

  /** The last line left a file there, and it is gone without being missed: it is not tracked any more. */
  #isLeft(path: Path, last: FileState | null | undefined): boolean {
    const { claims, watcher } = this.#deps;
    if (last === null || last === undefined || watcher.get(path) !== undefined) return false;
    return claims.known.doubt(path) === undefined && claims.table.claimant(path) === undefined;
  }

  #judge(result: FileResult, { authors, origins }: Changed): FileNews {
    const { claims, config } = this.#deps;
    const paths = result.from === undefined ? [result.path] : [result.from, result.path];
    const unexplained = claims.unexplained(paths);
    const told = paths.flatMap((path) => {
      const edit = claims.table.claimant(path);
      const by = edit === undefined ? [] : [byOf(edit.facts)];
      return [...(authors.get(path) ?? []), ...by];
    });
    const all = [
      ...new Set(unexplained.length > 0 || told.length === 0 ? [...told, UNKNOWN] : told),
    ];
    const by = unexplained.length > 0 ? UNKNOWN : (told.at(-1) ?? UNKNOWN);
    const isChecked =
      config().enableUnknownChangeDetection && !paths.every((path) => claims.isExcluded(path));
    const isUnknown = isChecked && all.includes(UNKNOWN);
    const origin = unexplained[0]?.origin ?? origins.get(result.path);
    return {
      result,
      by,
      also: all.filter((one) => one !== by),
      isUnknown,
      ...(isUnknown && origin !== undefined ? { origin } : {}),
    };
  }
}

interface ToldChange {
  readonly path: Path;
  readonly by: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly mode_before?: string | undefined;
  readonly mode_after?: string | undefined;
}

function take({ before, last, authors }: Omit<Recalled, 'upTo'>, change: ToldChange): void {
  const { path, by } = change;
  const [was, is] = [
    toState(change.before, change.mode_before),
    toState(change.after, change.mode_after),
  ];
  // A line may say again what one before it said: nothing happened in between.
  if (!before.has(path) && !sameState(was, is)) before.set(path, was);
  last.set(path, is);
  const known = authors.get(path) ?? [];
  authors.set(path, [...known.filter((one) => one !== by), by]);
}
