import { quoteName } from './quoted-name.js';
import type { Hunk } from './text-diff.js';
import type { FileMode } from './watching.js';

/** One section of a patch. A side without a mode is a side without the file. */
export interface PatchSection {
  readonly path: string;
  readonly from?: string;
  readonly modeBefore?: FileMode;
  readonly modeAfter?: FileMode;
  readonly similarity?: number;
  readonly body: readonly Hunk[] | 'binary';
  /** Names in ASCII only: the patch is written with one byte per character. */
  readonly ascii: boolean;
}

/** The section as `git diff` writes it, without the `index` line; '' when nothing changed. */
export function patchText(section: PatchSection): string {
  const { path, from = path, modeBefore, modeAfter, body, ascii } = section;
  const left = quoteName(`a/${from}`, ascii);
  const right = quoteName(`b/${path}`, ascii);
  const lines = [...modeLines(section), ...renameLines(section)];
  if (body === 'binary') {
    lines.push(
      `Binary files ${modeBefore ? left : '/dev/null'} and ${modeAfter ? right : '/dev/null'} differ`,
    );
  } else if (body.length > 0) {
    lines.push(
      `--- ${modeBefore ? withTab(left) : '/dev/null'}`,
      `+++ ${modeAfter ? withTab(right) : '/dev/null'}`,
      ...body.flatMap(hunkLines),
    );
  }
  return lines.length === 0 ? '' : `${[`diff --git ${left} ${right}`, ...lines].join('\n')}\n`;
}

function modeLines({ modeBefore, modeAfter }: PatchSection): string[] {
  if (modeBefore === undefined) return modeAfter ? [`new file mode ${modeAfter}`] : [];
  if (modeAfter === undefined) return [`deleted file mode ${modeBefore}`];
  return modeBefore === modeAfter ? [] : [`old mode ${modeBefore}`, `new mode ${modeAfter}`];
}

function renameLines({ path, from, similarity, ascii }: PatchSection): string[] {
  if (from === undefined || from === path) return [];
  return [
    ...(similarity === undefined ? [] : [`similarity index ${similarity}%`]),
    `rename from ${quoteName(from, ascii)}`,
    `rename to ${quoteName(path, ascii)}`,
  ];
}

/** Programs that look for a time stamp after the name would cut it at a space; a tab stops them. */
function withTab(name: string): string {
  return name.includes(' ') ? `${name}\t` : name;
}

export function hunkHeading(hunk: Hunk): string {
  const { before_start, before_lines, after_start, after_lines } = hunk;
  return `@@ -${range(before_start, before_lines)} +${range(after_start, after_lines)} @@`;
}

function range(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${start},${lines}`;
}

function hunkLines(hunk: Hunk): string[] {
  const lines = [hunkHeading(hunk)];
  for (const { mark, text, no_newline } of hunk.lines) {
    lines.push(`${mark}${text}`);
    if (no_newline) lines.push('\\ No newline at end of file');
  }
  return lines;
}
