import { assignmentsIn, KEY } from './assignments.js';
import { bearersIn, keysIn, loginsIn } from './blocks.js';
import { encodedIn } from './encodings.js';
import { personalIn, type Personal } from './personal.js';
import { merged, type Span, type Tally } from './spans.js';
import { PREFIXES, tokensIn } from './tokens.js';

/** Where a pattern is found, in time that grows with the text alone. */
export type Finding = (pattern: string) => (text: string) => Iterable<readonly [number, number]>;

export interface Policy {
  readonly personal?: readonly Personal[];
  /** What a project wants taken out besides. */
  readonly own?: readonly ReturnType<Finding>[];
}

export interface Redacted {
  readonly text: string;
  /** What was taken out, each kind once; empty: nothing. */
  readonly kinds: readonly string[];
  /** Characters that were looked at. */
  readonly steps: number;
}

export type Redactor = (text: string, numbers?: Numbers) => Redacted;

/** Secrets that have a number already: the same one has the same, within a text or a line. */
export type Numbers = Map<string, number>;

/** Shorter than any secret that can be told from a word. */
const SHORTEST = 8;
/** Signs of no width: in the middle of a token they hide it from us and from no reader. */
const UNSEEN =
  /\u00AD|\u034F|\u061C|[\u115F\u1160]|\u17B4|\u17B5|[\u180B-\u180F]|[\u200B-\u200F]|[\u202A-\u202E]|[\u2060-\u206F]|[\uFE00-\uFE0F]|\uFEFF/u;
/** Without any of these there is nothing to be found; most texts have none. */
const SUSPICIOUS = [
  new RegExp(PREFIXES.map((prefix) => prefix.replaceAll('.', '\\.')).join('|'), 'u'),
  new RegExp(`${KEY.source}|bearer|authorization`, 'iu'),
  /:\/\/|-----BEGIN /u,
];

/**
 * Takes secrets out of texts. What is left in their place tells the kind and a number that counts within
 * the text; nothing is derived from the secret, so nobody can try guesses against it.
 */
export function createRedactor({ personal = [], own = [] }: Policy = {}): Redactor {
  return (text, numbers = new Map()) => {
    const tally = { steps: 0 };
    const seen = withoutUnseen(text);
    const found = [
      ...secretsIn(seen.text, tally),
      ...encodedIn(seen.text, secretsIn, tally),
      ...personalIn(seen.text, personal, tally),
      ...own.flatMap((find) => ownIn(seen.text, find)),
    ];
    const spans = found.filter(({ from, to }) => to > from);
    const news = spans.length === 0 ? spans : merged(withoutOurs(seen.text, spans));
    if (news.length === 0) return { text, kinds: [], steps: tally.steps };
    const replaced = replace(text, news.map(seen.where), numbers);
    return { ...replaced, steps: tally.steps };
  };
}

/** The kinds that are most telling come first: where two overlap, theirs is the name. */
function secretsIn(text: string, tally: Tally): Span[] {
  tally.steps += text.length;
  if (text.length < SHORTEST || !SUSPICIOUS.some((pattern) => pattern.test(text))) return [];
  return [
    ...keysIn(text, tally),
    ...tokensIn(text, tally),
    ...loginsIn(text, tally),
    ...bearersIn(text, tally),
    ...assignmentsIn(text, tally),
  ];
}

/** A pattern that fails on a text could have found anything in it. */
function ownIn(text: string, find: ReturnType<Finding>): Span[] {
  try {
    return [...find(text)].map(([from, to]) => ({ from, to, kind: 'own' }));
  } catch {
    return [{ from: 0, to: text.length, kind: 'own' }];
  }
}

const OURS = /\[redacted:[a-z-]{1,30}:\d{1,7}\]/gu;

/** What was taken out before is not taken out again; both lists are walked once. */
function withoutOurs(text: string, spans: readonly Span[]): Span[] {
  if (!text.includes('[redacted:')) return [...spans];
  const ours = [...text.matchAll(OURS)].map(({ 0: one, index }) => [index, index + one.length]);
  let at = 0;
  return spans
    .toSorted((a, b) => a.from - b.from)
    .filter(({ from, to }) => {
      while ((ours[at]?.[1] ?? Infinity) <= from) at += 1;
      if ((ours[at]?.[0] ?? Infinity) < from) return false;
      let left = to - from;
      for (let next = at; (ours[next]?.[0] ?? Infinity) < to; next += 1) {
        const [begin = 0, end = 0] = ours[next] ?? [];
        left -= Math.min(end, to) - begin;
      }
      return left === to - from || left >= SHORTEST;
    });
}

function replace(text: string, spans: readonly Span[], numbers: Numbers) {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, kind } of spans) {
    const secret = text.slice(from, to);
    const number = numbers.get(secret) ?? numbers.size + 1;
    numbers.set(secret, number);
    parts.push(text.slice(at, from), `[redacted:${kind}:${number}]`);
    at = to;
  }
  const kinds = [...new Set(spans.map(({ kind }) => kind))];
  return { text: [...parts, text.slice(at)].join(''), kinds };
}

function withoutUnseen(text: string) {
  if (!UNSEEN.test(text)) return { text, where: (span: Span) => span };
  const places: number[] = [];
  const seen: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (UNSEEN.test(sign)) continue;
    places.push(at);
    seen.push(sign);
  }
  const place = (at: number): number => places[at] ?? text.length;
  return {
    text: seen.join(''),
    where: ({ from, to, kind }: Span): Span => {
      return { from: place(from), to: place(to - 1) + 1, kind };
    },
  };
}
