/** How the lines of a text became others. */
export type LineChange = 'edit_insert' | 'edit_delete' | 'edit_replace';

const NEWLINE = 0x0a;
/** Reading more would hold up whoever waits for the line in the ledger. */
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Told from the contents and not from a diff, which gives up on long texts: lines were only
 * inserted when the old text is what remains of the new one without some of its lines.
 * A line without its newline is another line, as in a patch.
 */
export function lineChange(before: Uint8Array, after: Uint8Array): LineChange {
  if (before.length + after.length > MOST_BYTES) return 'edit_replace';
  if (before.length < after.length && remains(before, after)) return 'edit_insert';
  if (before.length > after.length && remains(after, before)) return 'edit_delete';
  return 'edit_replace';
}

/** Whether every line of the one is in the other, in the same order. */
function remains(part: Uint8Array, whole: Uint8Array): boolean {
  let at = 0;
  for (let from = 0; from < part.length;) {
    const to = lineEnd(part, from);
    for (;;) {
      if (at >= whole.length) return false;
      const end = lineEnd(whole, at);
      const isFound = isSame({ bytes: part, from, to }, { bytes: whole, from: at, to: end });
      at = end;
      if (isFound) break;
    }
    from = to;
  }
  return true;
}

/** Where the line that begins here ends, with its newline. */
function lineEnd(bytes: Uint8Array, from: number): number {
  const newline = bytes.indexOf(NEWLINE, from);
  return newline === -1 ? bytes.length : newline + 1;
}

interface Line {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

function isSame(a: Line, b: Line): boolean {
  if (a.to - a.from !== b.to - b.from) return false;
  for (let step = a.to - a.from - 1; step >= 0; step -= 1) {
    if (a.bytes[a.from + step] !== b.bytes[b.from + step]) return false;
  }
  return true;
}
