import type { FileMode } from './watching.js';

export type FileChangeKind = 'added' | 'modified' | 'deleted' | 'renamed';

/** One side of a comparison. */
export interface FileSide {
  readonly mode: FileMode;
  /** The raw bytes (of a link: its target); null when they were too many to be loaded. */
  readonly content: Uint8Array | null;
}

export interface FileDiffInput {
  readonly path: string;
  /** The old path of a rename. */
  readonly from?: string;
  readonly change: FileChangeKind;
  /** Null when the file is not there on that side. */
  readonly before: FileSide | null;
  readonly after: FileSide | null;
}

export interface FileDiffOptions {
  /** Unchanged lines around a change. */
  readonly context?: number;
  /** A side with more bytes or lines than this is flagged and not compared. */
  readonly maxBytes?: number;
  readonly maxLines?: number;
  /** Edits after which the search for common lines is given up. */
  readonly maxEdits?: number;
}

export type LineMark = ' ' | '+' | '-';

export interface HunkLine {
  readonly mark: LineMark;
  /** Without its newline; a carriage return before the newline is part of the text. */
  readonly text: string;
  /** The last line of its side, and no newline ends it. */
  readonly no_newline?: true;
}

/** Line numbers start at 1; a side without lines starts at the line before it, as in a patch. */
export interface Hunk {
  readonly before_start: number;
  readonly before_lines: number;
  readonly after_start: number;
  readonly after_lines: number;
  readonly lines: readonly HunkLine[];
}

/**
 * How `unified` and `hunks` stand for bytes. Text that is no UTF-8 has one character per byte, so
 * that the patch stays exact and a Latin-1 file stays readable.
 */
export type PatchEncoding = 'utf-8' | 'latin1';

export interface FileDiff {
  readonly path: string;
  readonly from?: string;
  readonly change: FileChangeKind;
  /** Of text; an upper bound for a file that is too large, 0 for a binary one. */
  readonly additions: number;
  readonly deletions: number;
  readonly is_binary: boolean;
  readonly is_too_large: boolean;
  readonly mode_before?: FileMode;
  readonly mode_after?: FileMode;
  /** Absent when the side is absent or was not loaded. */
  readonly bytes_before?: number;
  readonly bytes_after?: number;
  /** Per cent of the content that a renamed file kept; absent when it was not compared. */
  readonly similarity?: number;
  /** A patch that git takes; a binary file only has its headers. Absent when too large. */
  readonly unified?: string;
  /** Absent for a binary or too large file. */
  readonly hunks?: readonly Hunk[];
  /** Given when it is not UTF-8. */
  readonly encoding?: PatchEncoding;
}

export interface MergeResult {
  readonly clean: boolean;
  /** Merged; where the sides contradict each other it holds ours, without any marker. */
  readonly content: Uint8Array;
  /** Places where the sides contradict each other. */
  readonly conflicts: number;
}

/** Compares and merges the contents of files. Pure, bounded in time and memory for any input. */
export interface TextDiff {
  file(input: FileDiffInput, options?: FileDiffOptions): FileDiff;
  /**
   * Three-way merge by lines. Only UTF-8 text within the size limits is merged; anything else that
   * both sides changed differently is one conflict and stays ours.
   */
  merge(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): MergeResult;
}

/** The bytes to write when `unified` goes into a file or into `git apply`. */
export function patchBytes({ unified = '', encoding = 'utf-8' }: FileDiff): Uint8Array {
  if (encoding === 'utf-8') return new TextEncoder().encode(unified);
  const bytes = new Uint8Array(unified.length);
  for (let at = 0; at < unified.length; at += 1) bytes[at] = unified.charCodeAt(at);
  return bytes;
}
