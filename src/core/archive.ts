import type { Hash } from './model.js';
import type { Content } from './store.js';
import type { FileMode } from './watching.js';

/** One file on its way into an archive. */
export interface ArchivedFile {
  readonly path: string;
  readonly mode: FileMode;
  readonly content: Content;
}

/** One file out of an archive; its content waits in a place of our own, whatever its path says. */
export interface UnpackedFile {
  readonly path: string;
  readonly mode: FileMode;
  readonly size: number;
  readonly hash: Hash;
  /** 64 hex digits. */
  readonly sha256: string;
  /** Of a link: where it leads. */
  readonly target?: string;
  readonly content: () => Content | Promise<Content>;
}

export interface Unpacked {
  readonly manifest: unknown;
  readonly files: readonly UnpackedFile[];
  /** Gives the space back. */
  release(): Promise<void>;
}

export interface UnpackLimits {
  /** What all contents together may have. */
  readonly mostBytes: number;
  readonly mostFiles: number;
}

/**
 * Projects as one file: `manifest.json` and then `files/PATH`, as tar and zstd write them. Whatever
 * is larger than a few MiB is never held as a whole.
 */
export interface Archives {
  /**
   * Makes the file, durably; never in the place of another one.
   *
   * @throws SmithyError NAME_TAKEN, PATH_UNSUPPORTED, STORAGE_FULL, STORAGE_IO
   */
  write(
    to: string,
    content: { readonly manifest: unknown; readonly files: AsyncIterable<ArchivedFile> },
  ): Promise<{ readonly bytes: number }>;
  /**
   * Takes an archive apart without ever making a file of a name it gives. Paths are as they stand
   * there: whether they are fit for a project is the caller's question.
   *
   * @throws SmithyError STORE_CORRUPT, LIMIT_EXCEEDED, PATH_UNSUPPORTED
   */
  read(from: string, limits: UnpackLimits): Promise<Unpacked>;
  /** Removes what a killed import left. */
  sweep(): Promise<void>;
}
