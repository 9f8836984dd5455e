import type { Hash, Path } from './model.js';
import type { Explanation, OuterRules } from './tracking.js';

/** What the product sees of the disk. Implemented by `watch/`; nothing else reads the tree. */

export type FileMode = '100644' | '100755' | '120000';

/** Content and mode as git records them: two equal states are the same file to everybody. */
export interface FileState {
  readonly hash: Hash;
  readonly mode: FileMode;
}

export function sameState(
  a: FileState | null | undefined,
  b: FileState | null | undefined,
): boolean {
  return a?.hash === b?.hash && a?.mode === b?.mode;
}

export interface KnownEntry extends FileState {
  readonly path: Path;
  readonly kind: 'file' | 'link';
  readonly size: number;
}

/**
 * Why a path that the rules track has no (or no newer) known content. `unreadable` and `unstable`
 * keep the content known before; none of them ever means deleted.
 */
export type SkipReason =
  | 'too_large'
  | 'special'
  | 'unreadable'
  | 'unstable'
  | 'not_utf8'
  | 'unreachable'
  /** An empty folder beyond those that one checkpoint holds. */
  | 'too_many';

export interface SkippedEntry {
  readonly path: string;
  readonly reason: SkipReason;
}

/**
 * Where a difference was noticed: by an event, at start, by a scan, during an operation of the
 * user's git, or because the rules (not the file) changed.
 */
export type ChangeOrigin = 'live' | 'offline' | 'scan' | 'git' | 'rules';

export interface FileChange {
  readonly path: Path;
  readonly change: 'created' | 'modified' | 'deleted';
  readonly before?: FileState;
  readonly after?: FileState;
  readonly origin: ChangeOrigin;
  /** The content equals one announced with `announce`: a write of our own. */
  readonly echo: boolean;
}

/** Differences since the batch before; a path appears once, and only if its state differs. */
export interface ChangeBatch {
  readonly changes: readonly FileChange[];
  /** Still on disk, no longer tracked: they leave the known state and nothing was deleted. */
  readonly untracked: readonly Path[];
  /** Noticed together with others that did not fit in here: the rest follows. */
  readonly more: boolean;
}

export type DoubtReason =
  | 'overflow'
  | 'stall'
  | 'sleep'
  | 'barrier_timeout'
  | 'watch_limit'
  | 'watch_failed'
  /** Files could not be opened because too many are open, here or on the whole machine. */
  | 'files_limit'
  /** A file system that tells nothing of changes made elsewhere: FUSE, network, shared folders. */
  | 'no_events'
  | 'requested';

export type WatchNotice =
  | { readonly type: 'watch_desynced'; readonly reason: DoubtReason }
  | { readonly type: 'watch_resynced'; readonly reason: DoubtReason }
  | { readonly type: 'root_lost'; readonly reason: string }
  | { readonly type: 'root_found' };

export interface WatchHealth {
  readonly engine: 'directories' | 'chokidar';
  readonly state: 'starting' | 'ready' | 'degraded';
  /** False while events may have been missed and no scan has made up for it yet. */
  readonly fresh: boolean;
  readonly files: number;
  readonly dirs: number;
  readonly reason: string | undefined;
  readonly remedy: string | undefined;
  readonly skipped: number;
  /** Folders with a `.git` of their own: tracked as content, their `.git` never entered. */
  readonly nestedRepositories: readonly string[];
  /** Folders with a daemon state of their own: left out with everything in them. */
  readonly nestedRoots: readonly string[];
}

export interface WatchConfig {
  readonly maxFileBytes: number;
  readonly watcher: 'auto' | 'directories' | 'chokidar';
}

export interface Watcher {
  /** Resolves when the content of every tracked file is known. */
  start(): Promise<void>;
  /**
   * Saves what is known and closes every handle. Safe to call inside a listener, and twice. `isKept`:
   * what is known is put aside for the next one.
   */
  stop(isKept?: boolean): Promise<void>;
  /**
   * Resolves when everything that finished on disk before the call is known and was published.
   * `fresh` is false when that could not be established in time.
   */
  settle(): Promise<{ readonly fresh: boolean }>;
  /**
   * The same for what an operation of the user's git did: whatever is noticed until then is told as
   * one thing, from git.
   */
  gitOperation(): Promise<{ readonly fresh: boolean }>;
  /**
   * Tells listeners at once what is known and was held back for a moment. Whoever compares what is
   * known with what it was told must call this first: a change that is taken back before it is
   * told is never told.
   */
  publish(): void;
  get(path: Path): KnownEntry | undefined;
  entries(): Iterable<KnownEntry>;
  /** In path order, from the first path after this one; costs what is taken of it. */
  entriesAfter(path: string | undefined): Iterable<KnownEntry>;
  /** Tracked folders that hold nothing tracked. */
  emptyFolders(): Iterable<Path>;
  /** At most `limit` of them; `health().skipped` is the total. */
  skipped(limit?: number): SkippedEntry[];
  health(): WatchHealth;
  /** What is tracked by now was decided by these; undefined until they were read. */
  rules(): OuterRules | undefined;
  explain(path: Path): Promise<Explanation>;
  /** Compares the whole tree with the disk, whatever the events said. */
  rescan(): Promise<void>;
  /** Takes new limits, engine and rules into effect at once. */
  reconfigure(config: WatchConfig): Promise<void>;
  /**
   * Says that we are about to make `path` have this content (undefined: be absent). The change
   * is marked as an echo whenever it is noticed, until the returned function is called.
   */
  announce(path: Path, hash: Hash | undefined): () => void;
  onChange(listener: (batch: ChangeBatch) => void): () => void;
  onNotice(listener: (notice: WatchNotice) => void): () => void;
}
