import type { LineRange } from './semantics.js';
import type { FileDiff, Hunk } from './text-diff.js';

/** Which content shows what changed, and where in it. */
export interface ChangedLines {
  readonly side: 'before' | 'after';
  readonly ranges: readonly LineRange[];
}

/**
 * The new lines; where lines only went, those of the old content. In a change of both kinds the
 * places where lines went count as well: what is around them is what changed.
 */
export function changedLines({ hunks = [] }: Pick<FileDiff, 'hunks'>): ChangedLines {
  const runs = hunks.flatMap(runsOf);
  const isOnlyGone = runs.every(({ added }) => added === 0);
  if (isOnlyGone && runs.length > 0) {
    const ranges = runs.map(({ before, gone }) => ({ first: before, last: before + gone - 1 }));
    return { side: 'before', ranges };
  }
  const ranges = runs.map(({ after, added }) => ({ first: after, last: after + added - 1 }));
  return { side: 'after', ranges };
}

/** Changed lines without an unchanged one between them. */
interface Run {
  readonly before: number;
  readonly after: number;
  gone: number;
  added: number;
}

function runsOf({ before_start, before_lines, after_start, after_lines, lines }: Hunk): Run[] {
  const runs: Run[] = [];
  // A side without lines starts at the line before it.
  let before = before_lines === 0 ? before_start + 1 : before_start;
  let after = after_lines === 0 ? after_start + 1 : after_start;
  let run: Run | undefined;
  for (const { mark } of lines) {
    if (mark === ' ') run = undefined;
    else if (run === undefined) runs.push((run = { before, after, gone: 0, added: 0 }));
    if (run !== undefined && mark === '-') run.gone += 1;
    if (run !== undefined && mark === '+') run.added += 1;
    if (mark !== '+') before += 1;
    if (mark !== '-') after += 1;
  }
  return runs;
}

/** Numbers as the ledger has them, as ranges. */
export function rangesOf(numbers: readonly unknown[]): LineRange[] {
  return numbers
    .filter((line): line is number => typeof line === 'number')
    .map((line) => ({ first: line, last: line }));
}
