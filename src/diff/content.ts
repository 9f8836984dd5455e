import type { PatchEncoding } from '../core/text-diff.js';

/** As far as git looks for a NUL before it calls a file binary. */
const BINARY_PROBE = 8000;
const NEWLINE = 10;

export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, BINARY_PROBE).includes(0);
}

export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

export function countLines(content: Uint8Array): number {
  let lines = 0;
  for (let at = content.indexOf(NEWLINE); at !== -1; at = content.indexOf(NEWLINE, at + 1)) {
    lines += 1;
  }
  return content.length === 0 || content.at(-1) === NEWLINE ? lines : lines + 1;
}

/** Every line with its newline; joined again they are the text. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** Undefined when the bytes are no UTF-8. A byte order mark is part of the text. */
export function decodeUtf8(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

/** Both sides in the same encoding, or equal bytes would look different. */
export function decodePair(
  { before, after }: { readonly before: Uint8Array; readonly after: Uint8Array },
  latin1: boolean,
): { before: string; after: string; encoding: PatchEncoding } {
  const texts = latin1 ? [] : [decodeUtf8(before), decodeUtf8(after)];
  if (texts[0] !== undefined && texts[1] !== undefined) {
    return { before: texts[0], after: texts[1], encoding: 'utf-8' };
  }
  return { before: byteString(before), after: byteString(after), encoding: 'latin1' };
}

function byteString(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
}

/**
 * Lines between the first and the last difference: linear, no text is made, and never less than
 * what really changed.
 */
export function roughCounts(
  before: Uint8Array,
  after: Uint8Array,
): { additions: number; deletions: number } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  let lineStart = 0;
  while (start < shorter && before[start] === after[start]) {
    if (before[start] === NEWLINE) lineStart = start + 1;
    start += 1;
  }
  let tail = 0;
  let lineTail = 0;
  while (
    tail < shorter - lineStart &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    // Common lines begin after a newline, so what stands before it belongs to the difference.
    if (before[before.length - 1 - tail] === NEWLINE) lineTail = tail;
    tail += 1;
  }
  return {
    additions: countLines(after.subarray(lineStart, after.length - lineTail)),
    deletions: countLines(before.subarray(lineStart, before.length - lineTail)),
  };
}
