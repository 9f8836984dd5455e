import type { Hunk, HunkLine, LineMark } from '../core/text-diff.js';

/** Lines `[before, beforeEnd)` became `[after, afterEnd)`. */
export interface Edit {
  readonly before: number;
  readonly beforeEnd: number;
  readonly after: number;
  readonly afterEnd: number;
}

/** The stretches between the common lines, in order. */
export function editsOf(partner: Int32Array, afterLength: number): Edit[] {
  const edits: Edit[] = [];
  let before = 0;
  let after = 0;
  const close = (beforeEnd: number, afterEnd: number): void => {
    if (beforeEnd > before || afterEnd > after) edits.push({ before, beforeEnd, after, afterEnd });
    before = beforeEnd + 1;
    after = afterEnd + 1;
  };
  for (const [line, match] of partner.entries()) if (match !== -1) close(line, match);
  close(partner.length, afterLength);
  return edits;
}

export interface Sides {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Edits whose context would touch or overlap share a hunk. */
export function hunksOf(edits: readonly Edit[], sides: Sides, context: number): Hunk[] {
  const groups: [Edit, ...Edit[]][] = [];
  let last: Edit | undefined;
  for (const edit of edits) {
    const near = last !== undefined && edit.before - last.beforeEnd <= 2 * context;
    if (near) groups.at(-1)?.push(edit);
    else groups.push([edit]);
    last = edit;
  }
  return groups.map((group) => hunkOf(group, sides, context));
}

function hunkOf(group: readonly [Edit, ...Edit[]], sides: Sides, context: number): Hunk {
  const [first] = group;
  const last = group.at(-1) ?? first;
  const lead = Math.min(context, first.before);
  const trail = Math.min(context, sides.before.length - last.beforeEnd);
  const start = first.before - lead;
  const lines: HunkLine[] = [];
  let at = start;
  for (const edit of group) {
    append(lines, ' ', sides.before.slice(at, edit.before));
    append(lines, '-', sides.before.slice(edit.before, edit.beforeEnd));
    append(lines, '+', sides.after.slice(edit.after, edit.afterEnd));
    at = edit.beforeEnd;
  }
  append(lines, ' ', sides.before.slice(at, at + trail));
  const before_lines = last.beforeEnd + trail - start;
  const after_lines = last.afterEnd + trail - (first.after - lead);
  return {
    before_start: startOf(start, before_lines),
    before_lines,
    after_start: startOf(first.after - lead, after_lines),
    after_lines,
    lines,
  };
}

function startOf(index: number, lines: number): number {
  return lines === 0 ? index : index + 1;
}

function append(lines: HunkLine[], mark: LineMark, added: readonly string[]): void {
  for (const line of added) {
    lines.push(
      line.endsWith('\n')
        ? { mark, text: line.slice(0, -1) }
        : { mark, text: line, no_newline: true },
    );
  }
}
