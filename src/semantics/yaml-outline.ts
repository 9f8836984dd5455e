import {
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Document,
  type Node,
  type Pair,
} from 'yaml';
import type { Outline } from '../core/outline.js';
import { lineFinder } from './content.js';
import { nameItems, type Entry } from './items.js';
import { BeyondLimit, DEEPEST_NESTING, MOST_DEPTH, MOST_PARTS } from './limits.js';

export interface YamlOutline extends Outline {
  readonly broken: boolean;
}

/** Lists of lists in one line; deeper ones need an indentation each, and their square fits into no file. */
const DASHES = new RegExp(`(?:[-?:][ \\t]+){${DEEPEST_NESTING}}`, 'u');

export function outlineYaml(text: string): YamlOutline {
  if (isTooDeep(text)) throw new BeyondLimit('is nested too deeply to be examined');
  const parsed = parseAllDocuments(text, {
    strict: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const documents: Document[] = Array.isArray(parsed) ? parsed : [];
  const reader = new Reader(text);
  documents.forEach((document, index) => {
    reader.document(document, documents.length === 1 ? undefined : index);
  });
  nameItems(reader.entries);
  return {
    what: 'yaml_path',
    parts: reader.entries,
    leads: commentLines(text),
    broken: documents.some(({ errors }) => errors.length > 0),
  };
}

/** Brackets in texts count too: whoever has so many open ones loses a name, not a change. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === OPEN_LIST || sign === OPEN_MAP) depth += 1;
    else if (sign === CLOSE_LIST || sign === CLOSE_MAP) depth = Math.max(0, depth - 1);
    if (depth > DEEPEST_NESTING) return true;
  }
  return DASHES.test(text);
}

const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where a node stands, as offsets: from its first character to after its last. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Longer anchors, tags and gaps leave the dash to the list. */
const FAR_FROM_DASH = 200;

class Reader {
  readonly entries: Entry[] = [];
  readonly #text: string;
  readonly #lineOf: (offset: number) => number;

  constructor(text: string) {
    this.#text = text;
    this.#lineOf = lineFinder(text);
  }

  document({ contents }: Document, index: number | undefined): void {
    const span = isNode(contents) ? spanOf(contents) : undefined;
    if (span === undefined) return;
    // A document has no line of its own: its first line is that of its first entry.
    const parent =
      index === undefined ? -1 : this.#add(String(index), { parent: -1, span, headless: true });
    this.#inside(contents, { parent, depth: 1 });
  }

  #inside(node: unknown, at: { readonly parent: number; readonly depth: number }): void {
    if (!isCollection(node) || at.depth > MOST_DEPTH) return;
    const { parent } = at;
    node.items.forEach((item, index) => {
      const pair = isMap(node) && isPair(item) ? item : undefined;
      const value = pair === undefined ? item : pair.value;
      const span = pair === undefined ? this.#spanOfItem(item) : spanOfPair(pair);
      if (span === undefined) return;
      const name = pair === undefined ? String(index) : this.#keyOf(pair);
      const added = this.#add(name, { parent, span, item: isSeq(node), value });
      this.#inside(value, { parent: added, depth: at.depth + 1 });
    });
  }

  /** From its dash, which may stand on a line above, with an anchor or a tag. */
  #spanOfItem(item: unknown): Span | undefined {
    const span = spanOf(item);
    if (span === undefined) return undefined;
    const before = this.#text.slice(Math.max(0, span.start - FAR_FROM_DASH), span.start);
    const dash = /-(?:\s+[&!]\S*)*\s*$/u.exec(before);
    return dash === null ? span : { ...span, start: span.start - before.length + dash.index };
  }

  #keyOf({ key }: Pair): string {
    if (isScalar(key)) return key.source ?? '';
    const span = spanOf(key);
    return span === undefined ? '' : this.#text.slice(span.start, span.end).trim();
  }

  #add(
    name: string,
    at: {
      readonly parent: number;
      readonly span: Span;
      readonly item?: boolean;
      readonly headless?: boolean;
      readonly value?: unknown;
    },
  ): number {
    if (this.entries.length >= MOST_PARTS) throw new BeyondLimit('has too many entries');
    const { parent, span, item = false, headless = false, value } = at;
    const first = this.#lineOf(span.start);
    this.entries.push({
      kind: 'entry',
      name,
      parent,
      item,
      first,
      head: headless ? 0 : first,
      last: this.#lastLine(span),
      ...(isScalar(value) && typeof value.value === 'string' ? { value: value.value } : {}),
    });
    return this.entries.length - 1;
  }

  /** The end of a block takes in the empty lines below it. */
  #lastLine({ start, end }: Span): number {
    let last = end - 1;
    while (last > start && /\s/u.test(this.#text.charAt(last))) last -= 1;
    return this.#lineOf(Math.max(last, start));
  }
}

function spanOf(node: unknown): Span | undefined {
  const range = isNode(node) ? (node as Node).range : undefined;
  return range ? { start: range[0], end: range[1] } : undefined;
}

function spanOfPair({ key, value }: Pair): Span | undefined {
  const keySpan = spanOf(key);
  const valueSpan = spanOf(value);
  const start = keySpan?.start ?? valueSpan?.start;
  const end = valueSpan?.end ?? keySpan?.end;
  return start === undefined || end === undefined ? undefined : { start, end };
}

function commentLines(text: string): Set<number> {
  const lines = new Set<number>();
  text.split('\n').forEach((line, index) => {
    if (/^\s*#/u.test(line)) lines.add(index + 1);
  });
  return lines;
}
