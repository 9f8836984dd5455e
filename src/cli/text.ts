import { displayWidth } from '../core/display-width.js';
import { quoteName } from '../core/quoted-name.js';
import { visible } from '../core/untrusted-text.js';

const COLOURS = {
  red: '31',
  green: '32',
  yellow: '33',
  dim: '2',
  bold: '1',
  alarm: '1;35',
} as const;
export type Colour = keyof typeof COLOURS;

export function paint(enabled: boolean, colour: Colour, text: string): string {
  return enabled ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
}

/** Names and messages come from disk and from other programs: nothing may steer the terminal. */
export function printable(text: string): string {
  return visible(text, '\n');
}

/** A path on one line, whatever characters are in it. */
export function shownPath(path: string): string {
  return printable(quoteName(path));
}

/** As one word for a shell, quoted where it has to be. */
export function shellWord(text: string): string {
  const word = printable(text);
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function skippedRow(
  { path, reason }: { readonly path: string; readonly reason: string },
  { colour }: { readonly colour: boolean },
): string {
  return paint(colour, 'yellow', `  skipped   ${shownPath(path)}: ${printable(reason)}`);
}

export function lineCounts(
  { additions, deletions }: { readonly additions: number; readonly deletions: number },
  { colour }: { readonly colour: boolean },
): string {
  return `${paint(colour, 'green', `+${additions}`)} ${paint(colour, 'red', `-${deletions}`)}`;
}

/** JSON for a terminal or a program: our way to escape is JSON's own, so it means the same. */
export function printableJson(value: unknown, indent = 0): string {
  return `${printable(JSON.stringify(value, null, indent))}\n`;
}

interface Aside {
  readonly colour: boolean;
  readonly aside: (text: string) => void;
}

/** Beside the answer: a script that reads it wants the answer alone. */
export function tellWarnings(
  { warnings = [] }: { readonly warnings?: readonly string[] | undefined },
  { colour, aside }: Aside,
): void {
  for (const text of warnings) aside(`${paint(colour, 'yellow', `! ${printable(text)}`)}\n`);
}

export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? ''}`;
}

export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400)
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

/** Two columns, the first as wide as it must be. */
export function columns(rows: readonly (readonly [string, string])[], indent = ''): string {
  const width = Math.max(0, ...rows.map(([left]) => widthOf(left)));
  return rows
    .map(([left, right]) => `${indent}${padded(left, width)}  ${right}`.trimEnd())
    .join('\n');
}

/** What takes room on a terminal: not our own colours, and some letters twice. */
export function widthOf(cell: string): number {
  // eslint-disable-next-line no-control-regex -- what `paint` writes
  return displayWidth(cell.replace(/\u001b\[[\d;]+m/gu, ''));
}

export function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}

/** "3 min ago", for labels; never for order. */
export function ago(milliseconds: number): string {
  return milliseconds < 1000 ? 'just now' : `${duration(milliseconds)} ago`;
}
