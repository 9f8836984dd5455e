import { quoteName } from './quoted-name.js';
import type { FileDiff } from './text-diff.js';

export type DiffTone = 'added' | 'deleted' | 'heading' | 'quiet';

/** What the place where a diff is shown decides: which characters are harmless, and the colours. */
export interface DiffStyle {
  /** Makes foreign text safe to print; the result may be longer. */
  safe(text: string): string;
  /** Adds nothing that takes a column. */
  paint(tone: DiffTone, text: string): string;
}

export interface DiffView {
  readonly width: number;
  readonly style: DiffStyle;
}

/** Unicode names as they are; what could break a line or a terminal is escaped. */
export function shownName(name: string, style: DiffStyle): string {
  return style.safe(quoteName(name));
}

/** `old => new` of a rename, the folders that both have in common written once. */
export function shownRename({ path, from = path }: FileDiff, style: DiffStyle): string {
  if (from === path) return shownName(path, style);
  const shownPlain = (name: string): boolean => quoteName(name) === name;
  if (!shownPlain(from) || !shownPlain(path)) {
    return `${shownName(from, style)} => ${shownName(path, style)}`;
  }
  const head = commonHead(from, path);
  const tail = commonTail(from.slice(head), path.slice(head), head);
  const middle = (name: string): string =>
    style.safe(name.slice(head, Math.max(head, name.length - tail)));
  if (head + tail === 0) return `${middle(from)} => ${middle(path)}`;
  const [before, after] = [path.slice(0, head), path.slice(path.length - tail)].map((part) =>
    style.safe(part),
  );
  return `${before ?? ''}{${middle(from)} => ${middle(path)}}${after ?? ''}`;
}

/** Characters up to and with the last slash before the first difference. */
function commonHead(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  return left.lastIndexOf('/', at - 1) + 1;
}

/** The same from the end; the slash that ends the head may begin the tail too. */
function commonTail(left: string, right: string, head: number): number {
  const [a, b] = head > 0 ? [`/${left}`, `/${right}`] : [left, right];
  let tail = 0;
  let slash = 0;
  while (tail < a.length && tail < b.length && a.at(-1 - tail) === b.at(-1 - tail)) {
    tail += 1;
    if (a.at(-tail) === '/') slash = tail;
  }
  return slash;
}
