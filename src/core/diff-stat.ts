import { shownName, shownRename, type DiffStyle, type DiffView } from './diff-style.js';
import { displayWidth, padDisplay } from './display-width.js';
import type { FileDiff } from './text-diff.js';

/** A name, a number and a few signs need this much. */
const MIN_NAME_AND_BAR = 22;
const MIN_BAR = 6;
/** Space, ` | `, and a space at each end of the number. */
const FRAME = 6;

interface Columns {
  readonly name: number;
  readonly number: number;
  readonly bar: number;
  /** The largest change: the whole bar when it does not fit. */
  readonly most: number;
}

interface Item {
  readonly file: FileDiff;
  readonly name: string;
}

/** One line per file with a bar of its size, then the totals; laid out as by `git diff --stat`. */
export function diffStat(files: readonly FileDiff[], { width, style }: DiffView): string[] {
  if (files.length === 0) return [];
  const items = files.map((file): Item => ({ file, name: shownRename(file, style) }));
  const columns = columnsOf(items, width);
  return [...items.map((item) => statLine(item, columns, style)), totals(files)];
}

function columnsOf(items: readonly Item[], width: number): Columns {
  const most = Math.max(...items.map(({ file }) => (file.is_binary ? 0 : changesOf(file))));
  const texts = items.flatMap(({ file }) => remarkOf(file) ?? []);
  const number = Math.max(String(most).length, texts.length > 0 ? 3 : 0);
  const remark = Math.max(0, ...texts.map((text) => text.length));
  const room = Math.max(width, MIN_NAME_AND_BAR + number);
  let bar = Math.max(most, remark - 4);
  let name = Math.max(...items.map((item) => displayWidth(item.name)));
  if (name + number + FRAME + bar > room) {
    const share = Math.floor((room * 3) / 8) - number - FRAME;
    if (bar > share) bar = Math.max(MIN_BAR, share);
    const left = room - number - FRAME - bar;
    if (name > left) name = left;
    else bar = room - number - FRAME - name;
  }
  return { name, number, bar, most };
}

function changesOf({ additions, deletions }: FileDiff): number {
  return additions + deletions;
}

/** What stands in place of a bar. */
function remarkOf(file: FileDiff): string | undefined {
  if (file.is_binary) {
    const { bytes_before: before = 0, bytes_after: after = 0, hunks } = file;
    // No hunks for want of a difference, not of text.
    return hunks === undefined ? `Bin ${before} -> ${after} bytes` : 'Bin';
  }
  return file.is_too_large ? 'Big' : undefined;
}

function statLine({ file, name }: Item, columns: Columns, style: DiffStyle): string {
  const shown = padDisplay(shortenLeft(name, columns.name), columns.name);
  const remark = remarkOf(file);
  if (remark !== undefined) {
    return ` ${shown} | ${' '.repeat(Math.max(0, columns.number - 3))}${remark}`;
  }
  const { plus, minus } = barOf(file, columns);
  const count = String(changesOf(file)).padStart(columns.number);
  const signs =
    (plus > 0 ? style.paint('added', '+'.repeat(plus)) : '') +
    (minus > 0 ? style.paint('deleted', '-'.repeat(minus)) : '');
  return ` ${shown} | ${count}${signs === '' ? '' : ` ${signs}`}`;
}

/** Both signs are seen when both happened, however small their share. */
function barOf(file: FileDiff, { bar, most }: Columns): { plus: number; minus: number } {
  const { additions, deletions } = file;
  if (most <= bar - 1 || most === 0) return { plus: additions, minus: deletions };
  const scale = (lines: number): number =>
    lines === 0 ? 0 : 1 + Math.floor((lines * (bar - 1)) / most);
  const least = additions > 0 && deletions > 0 ? 2 : 0;
  const total = Math.max(least, scale(changesOf(file)));
  if (additions < deletions) {
    const plus = scale(additions);
    return { plus, minus: total - plus };
  }
  const minus = scale(deletions);
  return { plus: total - minus, minus };
}

/** The end of a path says more than its beginning; cut at a folder when there is one. */
function shortenLeft(name: string, width: number): string {
  if (displayWidth(name) <= width) return name;
  const chars = Array.from(name);
  let from = 0;
  while (from < chars.length && displayWidth(chars.slice(from).join('')) > width - 3) from += 1;
  const rest = chars.slice(from).join('');
  const slash = rest.indexOf('/');
  return `...${slash === -1 ? rest : rest.slice(slash)}`;
}

function totals(files: readonly FileDiff[]): string {
  const sum = (pick: (file: FileDiff) => number): number =>
    files.reduce((total, file) => total + pick(file), 0);
  const added = sum(({ additions }) => additions);
  const removed = sum(({ deletions }) => deletions);
  const neither = added === 0 && removed === 0;
  const parts = [`${files.length} ${files.length === 1 ? 'file' : 'files'} changed`];
  if (added > 0 || neither) parts.push(`${added} insertion${added === 1 ? '' : 's'}(+)`);
  if (removed > 0 || neither) parts.push(`${removed} deletion${removed === 1 ? '' : 's'}(-)`);
  return ` ${parts.join(', ')}`;
}

const LETTERS = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const;

/** `A`, `M`, `D` or `R` with the share that was kept, a tab and the path; a rename has both paths. */
export function nameStatus(files: readonly FileDiff[], style: DiffStyle): string[] {
  return files.map((file) => {
    const { change, path, from, similarity } = file;
    const name = shownName(path, style);
    if (change !== 'renamed' || from === undefined) return `${LETTERS[change]}\t${name}`;
    const share = similarity === undefined ? '' : String(similarity).padStart(3, '0');
    return `R${share}\t${shownName(from, style)}\t${name}`;
  });
}
