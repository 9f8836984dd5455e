import { letters, runEnd, type Span, type Tally } from './spans.js';

/** Finds what is plain in a text. */
export type Finder = (text: string, tally: Tally) => readonly Span[];

const BASE64 = letters(/[\w+/-]/u);
/** Nothing that counts as a secret is shorter when it is encoded. */
const RUN = /(?<![\w+/-])[\w+/-]{20}/gu;
const HEX = letters(/[0-9A-Fa-f]/u);
const SHORTEST_ESCAPED = 10;
/** Programs break base64 into lines of 60 to 76; shorter lines are lines. */
const SHORTEST_LINE = 60;

/** Runs of base64, hex and escapes that hold a secret once decoded; each goes as a whole. */
export function encodedIn(text: string, find: Finder, tally: Tally): Span[] {
  return [...base64In(text, find, tally), ...escapesIn(text, find, tally)];
}

function base64In(text: string, find: Finder, tally: Tally): Span[] {
  const spans: Span[] = [];
  tally.steps += text.length;
  let walked = 0;
  for (const { index } of text.matchAll(RUN)) {
    if (index < walked) continue;
    const to = linesEnd(text, index, tally);
    walked = to;
    const run = text.slice(index, to).replace(/\s+/gu, '');
    const [kind] = decoded(run).flatMap((plain) => {
      tally.steps += run.length;
      return find(plain, tally).map((one) => one.kind);
    });
    if (kind === undefined) continue;
    const padded = runEnd(text, to, { of: (code) => code === 0x3d, tally });
    spans.push({ from: index, to: padded, kind });
  }
  return spans;
}

function linesEnd(text: string, from: number, tally: Tally): number {
  let begin = from;
  for (;;) {
    const to = runEnd(text, begin, { of: BASE64, tally });
    const next = text.startsWith('\r\n', to) ? to + 2 : text[to] === '\n' ? to + 1 : undefined;
    const isLong = to - begin >= SHORTEST_LINE && to - begin <= 80;
    if (next === undefined || !isLong || !BASE64(text.charCodeAt(next))) return to;
    begin = next;
  }
}

/** As base64 and, where it can be, as hex; only what is text. */
function decoded(run: string): string[] {
  const texts: string[] = [];
  if (isText(Buffer.from(run.slice(0, 64), 'base64'))) {
    const all = Buffer.from(run, 'base64');
    if (isText(all)) texts.push(all.toString('latin1'));
  }
  const isHex = run.length % 2 === 0 && HEX(run.charCodeAt(0)) && /^[0-9A-Fa-f]+$/u.test(run);
  if (isHex) {
    const all = Buffer.from(run, 'hex');
    if (isText(all)) texts.push(all.toString('latin1'));
  }
  return texts;
}

/** Pictures and hashes have control characters within a few bytes. */
function isText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

const ESCAPE = /(?:%|\\u00|\\x)([0-9a-f]{2})/giu;

/** Escapes of addresses, JSON and C. */
function escapesIn(text: string, find: Finder, tally: Tally): Span[] {
  if (!/[%\\]/u.test(text)) return [];
  tally.steps += text.length;
  const spans: Span[] = [];
  for (const { 0: run, index } of text.matchAll(/[^\s"'`<>]+/gu)) {
    if (run.length < SHORTEST_ESCAPED) continue;
    const plain = run.replace(ESCAPE, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    if (plain === run) continue;
    const found = find(plain, tally);
    // What shows without decoding is taken out more sparingly.
    const [first] = found.length > find(run, tally).length ? found : [];
    if (first !== undefined) spans.push({ from: index, to: index + run.length, kind: first.kind });
  }
  return spans;
}
