import type { FileHandle } from 'node:fs/promises';
import { NEWLINE } from './line.js';

const CHUNK = 256 * 1024;
/** For who wants a few lines only. */
export const SMALL_CHUNK = 16 * 1024;

export interface PlacedLine {
  readonly offset: number;
  /** Without the line end. */
  readonly bytes: Buffer;
  /** False for what stands after the last line end. */
  readonly isEnded: boolean;
}

export interface Stretch {
  readonly start: number;
  readonly end: number;
  /** Bytes to read at once. */
  readonly chunk?: number;
}

/** The lines of a stretch of the file, read piece by piece. */
export async function* linesOf(
  file: FileHandle,
  { start, end, chunk = CHUNK }: Stretch,
): AsyncGenerator<PlacedLine> {
  let rest = Buffer.alloc(0);
  let restAt = start;
  for (let at = start; at < end;) {
    // Grows with the line: a very long one must not be copied once per small piece.
    const buffer = Buffer.allocUnsafe(Math.min(Math.max(chunk, rest.length), end - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const piece = buffer.subarray(0, bytesRead);
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let from = 0;
    for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
      yield { offset: restAt + from, bytes: bytes.subarray(from, to), isEnded: true };
      from = to + 1;
    }
    rest = bytes.subarray(from);
    restAt += from;
  }
  if (rest.length > 0) yield { offset: restAt, bytes: rest, isEnded: false };
}
