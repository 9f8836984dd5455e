import type { Config } from '../core/config.js';
import { EditTable, type OpenEdit } from '../core/edits.js';
import { KnownState, type Unexplained } from '../core/known-state.js';
import type { Hash, Path } from '../core/model.js';
import { createPathMatch } from '../core/path-match.js';
import {
  sameState,
  type ChangeBatch,
  type FileChange,
  type FileState,
  type KnownEntry,
  type Watcher,
} from '../core/watching.js';
import type { PendingChange } from './pending.js';

/** A path and what it holds or should hold; null: nothing. */
export type KnownAt = readonly [Path, FileState | null];

/** Decides for every change whose it is: an edit's, our own, or nobody's. */
export class Claims {
  readonly table = new EditTable();
  readonly known: KnownState;
  readonly #watcher: Pick<Watcher, 'get' | 'publish'>;
  readonly #config: () => Config;
  #patterns: readonly string[] = [];
  #isExcluded = createPathMatch([]);

  constructor(watcher: Pick<Watcher, 'get' | 'publish'>, config: () => Config) {
    this.known = new KnownState((path) => watcher.get(path));
    this.#watcher = watcher;
    this.#config = config;
  }

  /** Takes a batch in; answers the changes that nobody claims. */
  take({ changes, untracked }: ChangeBatch): FileChange[] {
    for (const path of untracked) this.known.forget(path);
    return changes.filter((change) => this.#isUnclaimed(change));
  }

  /** From now on this is what the path should hold. False: the disk says something else. */
  explain(path: Path, state: FileState | null): boolean {
    this.#watcher.publish();
    return this.known.explain(path, state);
  }

  /** Content that nobody can explain, as far as it is to be checked. */
  unknown(paths?: Iterable<Path>): Unexplained[] {
    if (!this.#config().enableUnknownChangeDetection) return [];
    return this.unexplained(paths).filter(({ path }) => !this.isExcluded(path));
  }

  /** The same without regard to what is to be checked: what a checkpoint takes in. */
  unexplained(paths?: Iterable<Path>): Unexplained[] {
    this.#watcher.publish();
    const found =
      paths === undefined
        ? this.known.list()
        : [...new Set(paths)].flatMap((path) => this.known.get(path) ?? []);
    return found
      .filter(({ path }) => this.table.claimant(path) === undefined)
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** What the paths in the hands of edits should hold as long as nothing came of these. */
  underWay(): KnownAt[] {
    return this.table.list().flatMap(({ before }) => {
      return [...before].map(([path, state]): KnownAt => [path, this.shouldHold(path, state)]);
    });
  }

  /** What a path that an edit got with this content should hold as long as nothing came of it. */
  shouldHold(path: Path, before: FileState | null): FileState | null {
    const doubtful = this.known.doubt(path);
    return doubtful === undefined ? before : doubtful.expected;
  }

  /**
   * To be called when an edit was closed. Its paths should hold this from now on; those it got only
   * while its end was written down are nobody's, and should hold what they held before. Answers
   * what nobody can explain.
   */
  giveBack({ before }: OpenEdit, should: readonly KnownAt[]): Unexplained[] {
    const told = new Set(should.map(([path]) => path));
    const late = [...before].filter(([path]) => {
      return !told.has(path) && this.table.claimant(path) === undefined;
    });
    for (const [path, state] of should) this.known.explain(path, state);
    for (const [path, state] of late) this.known.explain(path, this.shouldHold(path, state));
    return this.unknown([...told, ...late.map(([path]) => path)]);
  }

  /** What may have to be put back: what is expected where there is doubt, and before open edits. */
  expectations(): Hash[] {
    const before = this.table.list().flatMap((edit) => [...edit.before.values()]);
    return [...this.known.expectations(), ...before.flatMap((state) => state?.hash ?? [])];
  }

  /** What is on disk at these paths where that is not what should be there. */
  unsettled(should: readonly KnownAt[]): KnownAt[] {
    return should.flatMap(([path, expected]): KnownAt[] => {
      const now = stateOf(this.#watcher.get(path));
      return sameState(expected, now) ? [] : [[path, now]];
    });
  }

  isExcluded(path: Path): boolean {
    const { excludeFromChecking } = this.#config();
    if (excludeFromChecking !== this.#patterns) {
      this.#patterns = excludeFromChecking;
      this.#isExcluded = createPathMatch(excludeFromChecking);
    }
    return this.#isExcluded(path);
  }

  /**
   * Begins anew from what was written down: the last checkpoint holds what could be explained
   * then, and the lines after it say what was explained since.
   */
  restart(pending: readonly PendingChange[], later: ReadonlyMap<Path, FileState | null>): void {
    this.#watcher.publish();
    const due = new Set([...pending.map(({ path }) => path), ...later.keys()]);
    // How the others were noticed is still true.
    for (const { path } of this.known.list()) if (!due.has(path)) this.known.forget(path);
    for (const { path, before } of pending) this.known.explain(path, before);
    for (const [path, state] of later) this.known.explain(path, state);
  }

  #isUnclaimed(change: FileChange): boolean {
    const { path, before, after, origin, echo } = change;
    // A rule that now lets a file in changed nothing, and what we wrote ourselves we can explain.
    if (origin === 'rules' || echo) {
      this.known.explain(path, after ?? null);
      return false;
    }
    if (this.table.touch(path, before ?? null)) return false;
    this.known.note(change);
    return true;
  }
}

/** The part of an entry that is its state. */
export function stateOf(entry: KnownEntry | undefined): FileState | null {
  return entry === undefined ? null : { hash: entry.hash, mode: entry.mode };
}
