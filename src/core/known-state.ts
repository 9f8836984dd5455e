import type { Span } from './edits.js';
import type { Hash, Path } from './model.js';
import { sameState, type ChangeOrigin, type FileState } from './watching.js';

/** A path whose content nobody has accounted for. */
export interface Unexplained {
  readonly path: Path;
  /** The last content that can be explained; null: there was no file. */
  readonly expected: FileState | null;
  readonly actual: FileState | null;
  readonly origin: ChangeOrigin;
}

export function toSpan({ path, expected, actual }: Unexplained): Span {
  return { path, before: expected, after: actual };
}

interface Doubtful {
  readonly expected: FileState | null;
  readonly origin: ChangeOrigin;
}

export interface Observed {
  readonly path: Path;
  readonly before?: FileState | undefined;
  readonly origin: ChangeOrigin;
}

/**
 * For each path the last content that can be explained. Only the paths that differ from the disk
 * are kept: of all others the disk itself is the explanation.
 */
export class KnownState {
  readonly #doubtful = new Map<Path, Doubtful>();
  readonly #onDisk: (path: Path) => FileState | undefined;

  constructor(onDisk: (path: Path) => FileState | undefined) {
    this.#onDisk = onDisk;
  }

  /** Something changed and nobody claims it. What was expected before still is. */
  note({ path, before, origin }: Observed): void {
    const known = this.#doubtful.get(path);
    this.#set(path, known === undefined ? (before ?? null) : known.expected, origin);
  }

  /** From now on this is what the path should hold. False: the disk says something else. */
  explain(path: Path, state: FileState | null): boolean {
    return this.#set(path, state, this.#doubtful.get(path)?.origin ?? 'live');
  }

  /** The path is no longer tracked: nothing is expected of it. */
  forget(path: Path): void {
    this.#doubtful.delete(path);
  }

  /** What the path should hold. */
  expected(path: Path): FileState | null {
    const doubtful = this.#doubtful.get(path);
    if (doubtful !== undefined) return doubtful.expected;
    return this.#onDisk(path) ?? null;
  }

  /** What is expected where the disk differed when it was last told; undefined: nothing special. */
  doubt(path: Path): { readonly expected: FileState | null } | undefined {
    return this.#doubtful.get(path);
  }

  get(path: Path): Unexplained | undefined {
    const doubtful = this.#doubtful.get(path);
    if (doubtful === undefined) return undefined;
    const actual = this.#onDisk(path) ?? null;
    // Back to what it should be, and so shortly that nobody was told.
    return sameState(doubtful.expected, actual) ? undefined : { path, actual, ...doubtful };
  }

  /** What is expected wherever there is doubt, told to anybody or not. */
  expectations(): Hash[] {
    return [...this.#doubtful.values()].flatMap(({ expected }) => expected?.hash ?? []);
  }

  list(): Unexplained[] {
    return [...this.#doubtful.keys()].flatMap((path) => this.get(path) ?? []);
  }

  #set(path: Path, expected: FileState | null, origin: ChangeOrigin): boolean {
    const isSame = sameState(expected, this.#onDisk(path));
    if (isSame) this.#doubtful.delete(path);
    else this.#doubtful.set(path, { expected, origin });
    return isSame;
  }
}
