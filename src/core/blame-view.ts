import type { AscribedRange } from './attribution.js';
import { displayWidth, fit, padDisplay } from './display-width.js';

export interface BlameView {
  /** Columns; undefined: as long as the lines are. */
  readonly width: number | undefined;
  /** Makes foreign text safe to print. */
  readonly safe: (text: string) => string;
  /** "3 min ago" of an ISO time. */
  readonly age: (at: string) => string;
  /** Adds nothing that takes a column. */
  readonly quiet: (text: string) => string;
}

/** Names of agents can be long; the code is what people came for. */
const MOST_WHO = 24;
/** What the columns before it must leave to the text. */
const MIN_TEXT = 10;
const TAB = '    ';

/** Every line of a file behind who wrote it, when, in which event, and its number. */
export function blameLines(
  texts: readonly string[],
  ranges: readonly AscribedRange[],
  view: BlameView,
): string[] {
  const heads = ranges.map((range) => ({ range, ...headOf(range, view) }));
  const widest = (pick: (head: (typeof heads)[number]) => string): number =>
    Math.max(0, ...heads.map((head) => displayWidth(pick(head))));
  const who = widest((head) => head.who);
  const age = widest((head) => head.age);
  const event = widest((head) => head.event);
  const number = String(texts.length).length;
  let at = 0;
  return texts.map((text, index) => {
    while ((heads[at]?.range.to ?? Infinity) < index + 1) at += 1;
    const head = heads[at] ?? { who: '', age: '', event: '' };
    const columns = [
      padDisplay(head.who, who),
      padDisplay(head.age, age),
      padDisplay(head.event, event),
      String(index + 1).padStart(number),
    ].join('  ');
    return `${view.quiet(columns)}  ${shown(text, displayWidth(columns) + 2, view)}`.trimEnd();
  });
}

function headOf({ by, at, event = '' }: AscribedRange, { safe, age }: BlameView) {
  return { who: fit(safe(by), MOST_WHO), age: at === undefined ? '' : age(at), event: safe(event) };
}

function shown(text: string, before: number, { width, safe }: BlameView): string {
  const line = text.replace(/\r$/u, '').split('\t').map(safe).join(TAB);
  return width === undefined ? line : fit(line, Math.max(MIN_TEXT, width - before));
}
