import type { Hash, Path } from './model.js';
import type { Entry, Step } from './restore-plan.js';
import type { Content as StoreContent } from './store.js';

/**
 * The bytes of a blob. An iterable is for content too large for memory: it is read at most once,
 * perhaps never, so it must not hold anything open before the first read.
 */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** Called ahead of need, for several hashes at a time. */
export type ContentSource = (hash: Hash) => Promise<Content>;

/**
 * Why a path was left as it was. `changed_meanwhile`: it is not what the plan expects, so somebody
 * wrote it. `in_the_way`: something the plan knows nothing of is there
 * (ignored, excluded, special, a folder, a link on the way). `protected`: no path we ever touch.
 * Anything else is a code and its text, such as `EACCES: permission denied`.
 */
export type SkipReason =
  'changed_meanwhile' | 'in_the_way' | 'protected' | 'cancelled' | `${string}: ${string}`;

interface Touched {
  readonly path: Path;
  /** The last step that dealt with the path. */
  readonly kind: Step['kind'];
}

export type Outcome =
  | (Touched & { readonly result: 'restored' | 'deleted' | 'unchanged' })
  | (Touched & { readonly result: 'skipped'; readonly reason: SkipReason });

export interface ApplyOptions {
  /** Ends the work between two files; the rest is `cancelled`. */
  readonly signal?: AbortSignal;
  /** After each step: how many are done. */
  readonly onProgress?: (done: number) => void;
  /** How much will be written in all; checked against the free space before the first step. */
  readonly bytes?: number;
}

export interface FileOnDisk extends Entry {
  readonly content: Uint8Array;
}

export type EntryAt = 'nothing' | 'file' | 'folder' | 'special' | 'unreachable';

export type ReadContent = (path: Path) => Promise<StoreContent | null>;

/**
 * The only hand that writes into the user's tree. It follows no link, enters no `.git` and no state
 * folder, replaces or deletes only what still is what the plan expects, and goes on with the next
 * path when one cannot be done. A replaced file is the old one or the new one, never a part.
 *
 * Applying the same steps twice is safe: what is already as wished is `unchanged`. The files are not
 * flushed to the disk: their content is in the store, so a power cut costs a restore, not work.
 */
export interface TreeWriter {
  /**
   * One outcome per path, or two where a file and a folder change places, in the order of the steps. A full disk ends the work: what is left is
   * skipped, so that nothing is deleted for a restore that cannot be completed.
   *
   * @throws SmithyError STORAGE_FULL before the first step if `bytes` do not fit.
   * @throws SmithyError RESTORE_BLOCKED if the root is no longer the folder it was.
   */
  apply(steps: readonly Step[], content: ContentSource, options?: ApplyOptions): Promise<Outcome[]>;
  /** The file or link at a path, or null when there is neither. The content of a link is its target. */
  readFile(path: Path): Promise<FileOnDisk | null>;
  /** What stands at a path; `unreachable`: a folder on the way is a link or a file. */
  kindAt(path: Path): Promise<EntryAt>;
  /**
   * For reading many files one after another, in path order at best: the way to a folder is walked
   * once. Answers null when there is neither file nor link. A large file comes in pieces, read while
   * `work` runs; whether it changed meanwhile is for the reader to find, by its hash.
   */
  reading<T>(work: (read: ReadContent) => Promise<T>): Promise<T>;
  /** Where a path is, for somebody who knows by its hash what must be there. */
  placeOf(path: Path): string;
  /**
   * Removes what a killed `apply` of these paths left beside them; answers what it removed.
   * Not while an `apply` runs.
   */
  sweep(paths: Iterable<Path>): Promise<Path[]>;
}

/** Short, so that it fits where a name of 255 bytes does; scans leave such names out. */
const TEMPORARY = /^\.smithyd-[0-9a-f]{12}$/u;

export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

export function temporaryName(uuid: string): string {
  return `.smithyd-${uuid.replaceAll('-', '').slice(0, 12)}`;
}
