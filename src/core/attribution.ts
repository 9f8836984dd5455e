import type { Hunk } from './text-diff.js';

/** Who a line is by. `baseline`: it was there before anybody was watched. */
export interface Ascription {
  readonly by: string;
  readonly edit_id?: string;
  readonly event?: string;
  readonly at?: string;
}

export interface AscribedRange extends Ascription {
  /** First and last line, counted from 1. */
  readonly from: number;
  readonly to: number;
}

export const BASELINE: Ascription = { by: 'baseline' };

/** The author of each line after a change: what stayed keeps its own, what is new is by `author`. */
export function ascribe(
  before: readonly Ascription[],
  hunks: readonly Hunk[],
  author: Ascription,
): Ascription[] {
  const after: Ascription[] = [];
  let at = 0;
  for (const hunk of hunks) {
    // A hunk without old lines names the line before it.
    const start = hunk.before_lines === 0 ? hunk.before_start : hunk.before_start - 1;
    while (at < start) after.push(before[at++] ?? author);
    for (const { mark } of hunk.lines) {
      if (mark === '+') after.push(author);
      else if (mark === '-') at += 1;
      else after.push(before[at++] ?? author);
    }
  }
  while (at < before.length) after.push(before[at++] ?? author);
  return after;
}

/** Neighbouring lines by the same author in one range. */
export function toRanges(lines: readonly Ascription[]): AscribedRange[] {
  const ranges: { from: number; to: number; ascription: Ascription }[] = [];
  lines.forEach((ascription, index) => {
    const last = ranges.at(-1);
    if (last !== undefined && isSame(last.ascription, ascription)) last.to = index + 1;
    else ranges.push({ from: index + 1, to: index + 1, ascription });
  });
  return ranges.map(({ from, to, ascription }) => ({ from, to, ...ascription }));
}

export function countLines(content: Uint8Array): number {
  let count = 0;
  for (const byte of content) if (byte === 10) count += 1;
  return content.length > 0 && content.at(-1) !== 10 ? count + 1 : count;
}

function isSame(a: Ascription, b: Ascription): boolean {
  return a.by === b.by && a.edit_id === b.edit_id && a.event === b.event;
}
