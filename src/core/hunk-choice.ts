import type { FileDiff, Hunk } from './text-diff.js';

/** Lines with their ends. */
const LINES = /[^\n]*\n|[^\n]+$/gu;

/**
 * The bytes of the new side with some hunks taken back, counted from 1 in the order of the diff.
 * The others stay as they are, to the byte.
 */
export function withoutHunks(
  after: Uint8Array,
  { hunks = [], encoding = 'utf-8' }: Pick<FileDiff, 'hunks' | 'encoding'>,
  numbers: readonly number[],
): Uint8Array {
  const lines = Buffer.from(after).toString(encoding).match(LINES) ?? [];
  const chosen = new Set(numbers);
  // The last first: what is taken back moves what comes after it.
  for (let number = hunks.length; number > 0; number -= 1) {
    const hunk = hunks[number - 1];
    if (hunk === undefined || !chosen.has(number)) continue;
    const start = hunk.after_lines === 0 ? hunk.after_start : hunk.after_start - 1;
    lines.splice(start, hunk.after_lines, ...oldLines(hunk));
  }
  return Buffer.from(lines.join(''), encoding);
}

function oldLines({ lines }: Hunk): string[] {
  return lines
    .filter(({ mark }) => mark !== '+')
    .map(({ text, no_newline: isOpen }) => (isOpen === true ? text : `${text}\n`));
}
