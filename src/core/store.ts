import type { Stretch } from './folding.js';
import type { DamagedFile } from './ports.js';
import type { CommitId, Hash, Path } from './model.js';
import type { FileState } from './watching.js';

/**
 * In place of a dialog: the repository of what belongs to the whole project. Its branches hold
 * what bookmarks and snapshots name, whatever becomes of the dialogs.
 */
export const KEPT = '@kept';

/** What a checkpoint holds at a path. */
export type FileEntry = FileState;

/** Content too large to hold at once. Holds nothing open before the first read: there may be none. */
export interface ContentSource {
  readonly size: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}
export type Content = Uint8Array | ContentSource;

/** Content under its promised name; read when it is written, and again when that has to be repeated. */
export interface NewBlob {
  readonly hash: Hash;
  readonly content: () => Content | Promise<Content>;
  /** For the check against the limit; 0 when not given. */
  readonly size?: number;
  /** Where a thread may look for it by itself; what it finds there counts by its hash alone. */
  readonly place?: string;
}

export type FileChange =
  /** Without `content` the store must have the blob already. */
  | ({ readonly path: Path } & FileEntry & Partial<NewBlob>)
  | { readonly path: Path; readonly deleted: true };

/** How much of long work is done. May be called often. */
export type OnProgress = (done: number, total: number) => void;

export interface Pruning {
  readonly onProgress?: OnProgress | undefined;
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
}

/** What is taken for gone before it is. */
export interface Gone {
  /** Branches of `KEPT`, or names of pins. */
  readonly names: readonly string[];
  /** Lines of the ledger that hold no contents. */
  readonly runs: readonly Stretch[];
}

export interface CommitRequest {
  /** Or `KEPT`. */
  readonly dialog: string;
  readonly branch: string;
  /** Where the branch must be; null when it must not exist. */
  readonly expected: CommitId | null;
  readonly parents: readonly CommitId[];
  /** The commit whose tree `changes` start from; null is the empty tree. */
  readonly base: CommitId | null;
  readonly changes: Iterable<FileChange>;
  /** All folders without a tracked file. Git trees cannot hold them; the commit's text does. */
  readonly emptyFolders: readonly Path[];
  readonly message: string;
  readonly trailers: Readonly<Record<string, string>>;
  /** Wall time in ms; stored in seconds. */
  readonly at: number;
  /** Counts contents. */
  readonly onProgress?: OnProgress;
  /** A line of the ledger names the commit next: until `lasting()` the branch may not be on the disk. */
  readonly isTold?: boolean;
}

export interface Commit {
  readonly id: CommitId;
  readonly tree: string;
  readonly parents: readonly CommitId[];
  /** Wall time in ms. */
  readonly at: number;
  /** Without the trailers. */
  readonly message: string;
  readonly trailers: Readonly<Record<string, string>>;
  readonly emptyFolders: readonly Path[];
}

export interface BranchUpdate {
  readonly name: string;
  /** null deletes. */
  readonly to: CommitId | null;
  /** null: must not exist. */
  readonly expected: CommitId | null;
}

export interface LogQuery {
  readonly branch: string;
  readonly limit: number;
  /** Start after this commit instead of at the tip. */
  readonly before?: CommitId;
  /** Leave out everything reachable from here: `main` for the own commits of a session. */
  readonly without?: CommitId;
}

export interface TreeChange {
  readonly path: Path;
  readonly change: 'added' | 'modified' | 'deleted' | 'renamed';
  readonly before: FileEntry | null;
  readonly after: FileEntry | null;
  /** The old path of a rename. */
  readonly from?: Path;
}

export interface StoreSizes {
  readonly bytes: number;
  readonly objects: number;
  readonly packs: number;
}

/** What opening found and mended. All empty on an ordinary day. */
export interface StoreReport {
  /** Locks and unfinished files that a killed process left behind. */
  readonly removed: readonly string[];
  /** Dialog repositories that were half made, or whose files had been changed. */
  readonly mended: readonly string[];
  /** Repositories that are not ours to touch: made by something else, or of a newer version. */
  readonly foreign: readonly string[];
}

export interface StoreCheck {
  /** What git said, at most the first few; empty when all is well. */
  readonly problems: readonly string[];
  /** Packs and branches that are not what was written, and how many were looked at. */
  readonly damaged: readonly DamagedFile[];
  readonly files: number;
}

export interface AdoptedDialog {
  readonly main: CommitId;
  /** Everything that can be gone back to, oldest first; `main` is among them. */
  readonly commits: readonly CommitId[];
}

/**
 * Where content lives: one set of objects per project, one repository of branches per dialog.
 * Every write is on the disk, ref and folder included, when its promise resolves; but for `isTold`.
 */
export interface CheckpointStore {
  open(): Promise<StoreReport>;
  close(): Promise<void>;

  /** Makes the repository, or completes a half-made one. Branches it has stay. */
  createRepository(dialog: string): Promise<void>;
  /** Those with a repository of ours. */
  dialogs(): Promise<string[]>;
  /** Removes the repository; what only it used goes with the next `prune`. */
  deleteRepository(dialog: string): Promise<void>;

  /**
   * Writes contents, trees and a commit, then moves the branch.
   *
   * @throws SmithyError BUSY when the branch is not at `expected`; nothing moved.
   * @throws SmithyError STALE_READ when content is not what its hash says; `data.path` names it.
   * @throws SmithyError LIMIT_EXCEEDED, STORAGE_FULL, STORAGE_IO; nothing moved.
   */
  commit(request: CommitRequest): Promise<CommitId>;
  /**
   * Does in memory, while nobody waits, what a commit of these changes would have to do first. Writes
   * nothing and promises nothing: the commit does itself whatever is not ready. Contents that were read
   * are what their hashes say when it resolves.
   *
   * @throws SmithyError STALE_READ when content is not what its hash says, and others for what is too much.
   */
  prepare(request: Pick<CommitRequest, 'base' | 'changes'>): Promise<void>;
  /**
   * When all branches that were moved so far are on the disk. To be called as their line is written:
   * both are flushed together then. Never fails: the line is enough to bring a branch to its place,
   * and the store takes no more writes when one could not be flushed.
   */
  lasting(): Promise<void>;
  /**
   * Contents without a commit, such as pre-images; durable. Calls at the same time share a flush,
   * and each fails for its own contents only. Kept while `pinned()` names them, and between the
   * answer and the ledger line that follows it.
   *
   * @throws SmithyError STALE_READ, LIMIT_EXCEEDED, STORAGE_FULL, STORAGE_IO.
   */
  writeBlobs(blobs: Iterable<NewBlob>): Promise<void>;

  /** Empty for `KEPT` as long as nothing was kept. */
  branches(dialog: string): Promise<ReadonlyMap<string, CommitId>>;
  /** All of them or none. */
  setBranches(dialog: string, updates: readonly BranchUpdate[]): Promise<void>;
  /** Newest first, along first parents. */
  log(dialog: string, query: LogQuery): Promise<Commit[]>;

  readCommit(id: CommitId): Promise<Commit>;
  tree(id: CommitId): Promise<Map<Path, FileEntry>>;
  /** One path of it, however many there are; null: no file. */
  fileAt(id: CommitId, path: Path): Promise<FileEntry | null>;
  /** What leads from `a` (null: the empty tree) to `b`, in path order. */
  compare(a: CommitId | null, b: CommitId): Promise<TreeChange[]>;
  /** The same without a search for renames, and in a fraction of the time. */
  differences(a: CommitId, b: CommitId): Promise<TreeChange[]>;

  /** Which of these the store has. */
  has(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>>;
  /** How large they are; what the store does not have is left out. */
  lengths(hashes: readonly Hash[]): Promise<ReadonlyMap<Hash, number>>;
  readBlob(hash: Hash): Promise<Buffer>;
  /** For content of any size. */
  streamBlob(hash: Hash): Promise<ContentSource>;

  /** Dialogs that an older program made, taken over already or not. */
  oldDialogs(): Promise<string[]>;
  /**
   * Takes an old dialog over: its commits into the store, `main` where it was, `session_1` from
   * there, its other branches as `old_NAME`. What was there is moved to `old-dialogs/` as it is.
   * May be repeated after a crash at any point.
   *
   * @throws SmithyError STORE_CORRUPT when it has no commits or cannot be read; nothing moved.
   */
  adopt(dialog: string): Promise<AdoptedDialog>;
  /** Removes what `adopt` had moved away. */
  dropOld(dialog: string): Promise<void>;

  /**
   * Copies blobs out of another repository's objects, read-only, and says which it found there.
   * `commit` can then name them without their content.
   */
  seedFrom(gitDir: string, hashes: readonly Hash[]): Promise<ReadonlySet<Hash>>;

  sizes(): StoreSizes;
  /** Reads every object and follows every branch; who asks meanwhile gets the same answer. */
  check(onProgress: (percent: number) => void): Promise<StoreCheck>;
  /** Rolls small packs up into larger ones and sweeps leftovers. Never removes an object. */
  maintain(): Promise<{ readonly packsBefore: number; readonly packsAfter: number }>;
  /**
   * Removes what neither a branch nor `pinned()` reaches. Writers wait for its beginning and end.
   * Cut off at any point, all that is reachable is there.
   */
  prune(how?: Pruning): Promise<{ readonly freedBytes: number }>;
  /** What `prune` would free if these were gone. Changes nothing. */
  prunable(gone: Gone, how?: Pruning): Promise<{ readonly freedBytes: number }>;
}
