import type { LedgerEntry } from './ledger.js';
import type { DamagedFile } from './ports.js';

/**
 * Something that is kept in memory and made from the lines of the ledger alone. It can be put aside
 * and taken up again, so that a start need not read every line; the lines stay the truth.
 */
export interface Derived {
  readonly name: string;
  /** To be raised when lines lead to something else than before, or when it is put aside otherwise. */
  readonly form: number;
  /** Back to what it is before the first line. */
  reset(): void;
  /** In the order of the ledger, each line once. */
  fold(entry: LedgerEntry): void;
  /**
   * What it holds now, as JSON values of some KB each. They are written later, so what may change
   * meanwhile is copied.
   */
  save(): readonly unknown[];
  /** Takes up one of them, in the order in which they were saved. */
  load(piece: unknown): void;
}

/** Where it is put aside. Both parts can be lost at any time. */
export interface DerivedFiles {
  /**
   * Undefined: there is nothing.
   *
   * @throws Error when it is not what was written.
   */
  read(): Promise<SavedParts | undefined>;
  /** What is wrong with what is on disk, and how many files there are. */
  check(): Promise<{ readonly files: number; readonly damaged: readonly DamagedFile[] }>;
  /** Replaces the lines and continues the pieces, or begins them anew. */
  write(lines: AsyncIterable<string>, pieces: NewPieces): Promise<void>;
}

export interface SavedParts {
  readonly lines: readonly string[];
  readonly pieces: readonly Uint8Array[];
}

export interface NewPieces {
  readonly isAnew: boolean;
  readonly pieces: Iterable<Uint8Array>;
}
