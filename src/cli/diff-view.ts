import { diffStat, nameStatus } from '../core/diff-stat.js';
import type { DiffStyle, DiffTone } from '../core/diff-style.js';
import { sideBySide } from '../core/side-by-side.js';
import type { FileDiff } from '../core/text-diff.js';
import { paint, printable, type Colour } from './text.js';

/** What a terminal that does not tell its size gets. */
const DEFAULT_WIDTH = 80;

const COLOURS: Readonly<Record<DiffTone, Colour>> = {
  added: 'green',
  deleted: 'red',
  heading: 'bold',
  quiet: 'dim',
};

export interface Terminal {
  readonly colour: boolean;
  /** Columns; undefined when the output is no terminal. */
  readonly width: number | undefined;
}

function styleOf({ colour }: Terminal): DiffStyle {
  return {
    safe: printable,
    paint: (tone, text) => paint(colour, COLOURS[tone], text),
  };
}

function viewOf(terminal: Terminal) {
  return { width: terminal.width ?? DEFAULT_WIDTH, style: styleOf(terminal) };
}

export function renderSideBySide(files: readonly FileDiff[], terminal: Terminal): string {
  const view = viewOf(terminal);
  return text(files.flatMap((file, at) => [...(at > 0 ? [''] : []), ...sideBySide(file, view)]));
}

export function renderStat(files: readonly FileDiff[], terminal: Terminal): string {
  return text(diffStat(files, viewOf(terminal)));
}

export function renderNameStatus(files: readonly FileDiff[], terminal: Terminal): string {
  return text(nameStatus(files, styleOf(terminal)));
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

const LINE_TONES: readonly (readonly [RegExp, DiffTone])[] = [
  [/^(?:diff --git|old mode|new |deleted file|similarity|rename |index |--- |\+\+\+ )/u, 'heading'],
  [/^@@/u, 'quiet'],
  [/^\\/u, 'quiet'],
];

/** For reading: to a file or a pipe the patch goes as it is, or it would no longer apply. */
export function renderUnified(files: readonly FileDiff[], terminal: Terminal): string {
  return files.map((file) => unifiedOf(file, styleOf(terminal))).join('');
}

function unifiedOf(file: FileDiff, style: DiffStyle): string {
  if (file.unified === undefined) {
    return `${style.paint('heading', `${style.safe(file.path)}: too large to compare`)}\n`;
  }
  return patchOf(file.unified, style);
}

export function renderPatch(patch: string, terminal: Terminal): string {
  return patchOf(patch, styleOf(terminal));
}

function patchOf(patch: string, style: DiffStyle): string {
  let inHunk = false;
  const lines = patch.replace(/\n$/u, '').split('\n');
  return text(
    lines.map((line) => {
      inHunk = line.startsWith('@@') || (inHunk && !line.startsWith('diff --git'));
      return paintLine(line, inHunk, style);
    }),
  );
}

function paintLine(line: string, inHunk: boolean, style: DiffStyle): string {
  // On a line that did not change, its carriage return is no news.
  const ending = inHunk && line.startsWith(' ') ? line.replace(/\r$/u, '') : line;
  const shown = ending
    .split('\t')
    .map((part) => style.safe(part))
    .join('\t');
  if (inHunk && line.startsWith('+')) return style.paint('added', shown);
  if (inHunk && line.startsWith('-')) return style.paint('deleted', shown);
  const tone = LINE_TONES.find(([start]) => start.test(line))?.[1];
  return tone === undefined || (inHunk && line.startsWith(' ')) ? shown : style.paint(tone, shown);
}

/** Lines of the hunks; the headings before them begin with the same signs. */
export function countLines(diff: string): { additions: number; deletions: number } {
  const from = diff.search(/^@@/mu);
  const hunks = from === -1 ? [] : diff.slice(from).split('\n');
  const count = (sign: string): number => hunks.filter((line) => line.startsWith(sign)).length;
  return { additions: count('+'), deletions: count('-') };
}
