import { shownRename, type DiffStyle, type DiffTone, type DiffView } from './diff-style.js';
import { displayWidth, fit, padDisplay, wrap } from './display-width.js';
import { hunkHeading } from './patch-text.js';
import type { FileDiff, Hunk, HunkLine } from './text-diff.js';

/** Below this two columns of text make no sense; a narrower terminal wraps on its own. */
const MIN_WIDTH = 20;
/** Columns of text that the line numbers must leave. */
const MIN_TEXT = 10;
const TAB = 4;
/** A minified line would fill the screen many times; its end is rarely what changed. */
const MAX_ROWS = 10;
const SEPARATOR = ' │ ';

interface Cell {
  /** Absent for a remark. */
  readonly number?: number;
  readonly mark: HunkLine['mark'] | '\\';
  readonly text: string;
}

interface Row {
  readonly left?: Cell;
  readonly right?: Cell;
}

/** One file, before on the left and after on the right, every line within `width` columns. */
export function sideBySide(file: FileDiff, view: DiffView): string[] {
  const { style } = view;
  const width = Math.max(MIN_WIDTH, Math.floor(view.width));
  const heading = fit(`${shownRename(file, style)} (${summary(file)})`, width);
  const lines = [style.paint('heading', heading)];
  const hunks = file.hunks ?? [];
  const layout = layoutOf(hunks, width, style);
  for (const hunk of hunks) {
    lines.push(style.paint('quiet', fit(hunkHeading(hunk), width)));
    for (const row of rowsOf(hunk)) lines.push(...rowLines(row, layout));
  }
  return lines;
}

function summary(file: FileDiff): string {
  const { mode_before: before, mode_after: after } = file;
  const mode = before && after && before !== after ? [`mode ${before} => ${after}`] : [];
  if (file.is_binary) return [file.change, 'binary', ...mode].join(', ');
  if (file.is_too_large) return [file.change, 'too large to compare', ...mode].join(', ');
  return [file.change, `+${file.additions} -${file.deletions}`, ...mode].join(', ');
}

/** Removed lines stand beside the added ones that follow them. */
function rowsOf(hunk: Hunk): Row[] {
  const rows: Row[] = [];
  const next = { left: hunk.before_start, right: hunk.after_start };
  let removed: HunkLine[] = [];
  let added: HunkLine[] = [];
  const pair = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      rows.push(...rowOf(removed[at], added[at], next));
    }
    removed = [];
    added = [];
  };
  for (const line of hunk.lines) {
    if (line.mark === '+') added.push(line);
    else if (line.mark === '-' && added.length === 0) removed.push(line);
    else {
      pair();
      if (line.mark === '-') removed.push(line);
      else rows.push(...rowOf(line, line, next));
    }
  }
  pair();
  return rows;
}

function rowOf(
  left: HunkLine | undefined,
  right: HunkLine | undefined,
  next: { left: number; right: number },
): Row[] {
  const sides = [left, right].filter((line) => line !== undefined);
  // A carriage return that the whole row has is how the file ends its lines, not a change.
  const quiet = sides.every(({ text }) => text.endsWith('\r'));
  const cell = (line: HunkLine, number: number): Cell => ({
    number,
    mark: line.mark,
    text: quiet ? line.text.slice(0, -1) : line.text,
  });
  const rows: Row[] = [
    {
      ...(left ? { left: cell(left, next.left++) } : {}),
      ...(right ? { right: cell(right, next.right++) } : {}),
    },
  ];
  if (sides.some(({ no_newline }) => no_newline)) {
    const remark: Cell = { mark: '\\', text: 'No newline at end of file' };
    rows.push({
      ...(left?.no_newline ? { left: remark } : {}),
      ...(right?.no_newline ? { right: remark } : {}),
    });
  }
  return rows;
}

interface Layout {
  readonly style: DiffStyle;
  /** Columns of a side, of its line number (0: not shown) and of its text. */
  readonly side: number;
  readonly digits: number;
  readonly text: number;
}

function layoutOf(hunks: readonly Hunk[], width: number, style: DiffStyle): Layout {
  const side = Math.floor((width - SEPARATOR.length) / 2);
  const last = hunks.at(-1);
  const highest = last
    ? Math.max(last.before_start + last.before_lines, last.after_start + last.after_lines)
    : 0;
  const digits = String(highest).length;
  const room = side - digits - 3;
  return room < MIN_TEXT
    ? { style, side, digits: 0, text: side - 2 }
    : { style, side, digits, text: room };
}

const TONES: Readonly<Record<Cell['mark'], DiffTone | undefined>> = {
  '+': 'added',
  '-': 'deleted',
  '\\': 'quiet',
  ' ': undefined,
};

function rowLines({ left, right }: Row, layout: Layout): string[] {
  const [lefts, rights] = [cellLines(left, layout), cellLines(right, layout)];
  const lines: string[] = [];
  for (let at = 0; at < Math.max(lefts.length, rights.length); at += 1) {
    const before = lefts[at] ?? { plain: '', painted: '' };
    const filler = padDisplay(before.plain, layout.side).slice(before.plain.length);
    const after = rights[at]?.painted ?? '';
    lines.push(`${before.painted}${filler}${SEPARATOR}${after}`.trimEnd());
  }
  return lines;
}

function cellLines(
  cell: Cell | undefined,
  { style, digits, text: width }: Layout,
): { plain: string; painted: string }[] {
  if (cell === undefined) return [];
  // Every column comes from at least one character here, but for marks that take none.
  const bounded = cell.text.slice(0, width * MAX_ROWS * 4 + 1);
  return wrap(flatten(bounded, style), width, MAX_ROWS).map((piece, at) => {
    const number = at === 0 && cell.number !== undefined ? String(cell.number) : '';
    const gutter = digits === 0 ? '' : `${number.padStart(digits)} `;
    const body = `${cell.mark} ${piece}`;
    const tone = TONES[cell.mark];
    return {
      plain: gutter + body,
      painted:
        (gutter.trim() === '' ? gutter : style.paint('quiet', gutter)) +
        (tone === undefined ? body : style.paint(tone, body)),
    };
  });
}

/** Tabs become spaces first: the terminal would count them from its own left edge. */
function flatten(text: string, style: DiffStyle): string {
  if (!text.includes('\t')) return style.safe(text);
  let line = '';
  let column = 0;
  for (const [at, part] of text.split('\t').entries()) {
    if (at > 0) {
      const gap = TAB - (column % TAB);
      line += ' '.repeat(gap);
      column += gap;
    }
    const shown = style.safe(part);
    line += shown;
    column += displayWidth(shown);
  }
  return line;
}
