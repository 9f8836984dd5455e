/** Where in a text something is, and what it is. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** In lower case with dashes. */
  readonly kind: string;
}

/** How many characters were looked at: the proof that hostile texts cost what long ones cost. */
export interface Tally {
  steps: number;
}

/** A set of ASCII characters, asked by code. */
export type Letters = (code: number) => boolean;

export function letters(pattern: RegExp): Letters {
  const known = Array.from({ length: 128 }, (_, code) => pattern.test(String.fromCharCode(code)));
  return (code) => known[code] === true;
}

export const ALNUM = letters(/[A-Za-z0-9]/u);
/** Whatever tokens are made of. */
export const WORD = letters(/[\w.~+/=-]/u);

/** The end of the run of such characters that begins at `from`. */
export function runEnd(text: string, from: number, { of, tally }: Run): number {
  let at = from;
  while (at < text.length && of(text.charCodeAt(at))) at += 1;
  tally.steps += at - from + 1;
  return at;
}

export interface Run {
  readonly of: Letters;
  readonly tally: Tally;
}

/** Every place where `part` begins, one search through the text in all. */
export function* placesOf(text: string, part: string, tally: Tally): Generator<number> {
  tally.steps += text.length;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) yield at;
}

/** What overlaps becomes one, of the kind that was named first. */
export function merged(spans: readonly Span[]): Span[] {
  const order = spans.map((span, rank) => ({ ...span, rank }));
  order.sort((a, b) => a.from - b.from || a.rank - b.rank);
  const out: (Span & { rank: number })[] = [];
  for (const span of order) {
    const last = out.at(-1);
    if (last === undefined || span.from >= last.to) {
      out.push(span);
      continue;
    }
    const first = last.rank <= span.rank ? last : span;
    const to = Math.max(last.to, span.to);
    out[out.length - 1] = { from: last.from, to, kind: first.kind, rank: first.rank };
  }
  return out.map(({ from, to, kind }) => ({ from, to, kind }));
}
