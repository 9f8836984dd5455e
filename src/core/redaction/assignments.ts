import { isMixed, isPlaceholder } from './blocks.js';
import { letters, runEnd, type Span, type Tally } from './spans.js';

/** What names a secret. `sig` only in an address, where it signs for everything that address allows. */
export const KEY =
  /passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|auth[_-]?key|encryption[_-]?key|credential|(?<=[?&])sig(?==)/giu;
/** Last words of such a name that say that its value is no secret. */
const ABOUT = new Set(
  'url uri name id path file type kind count length limit size usage policy field label hint prompt budget window expiry expires ttl at by for'.split(
    ' ',
  ),
);
const REST = letters(/[\w.-]/u);
const LONGEST_REST = 40;
/** With the backslashes of a JSON text inside another. */
const SIGN = /^\\{0,3}["'`]?\]?[ \t]{0,4}(?:=>|:=|={1,3}|:)[ \t]{0,4}\\{0,3}/u;
const FLAG = /^[ \t]{1,4}/u;
const BARE = letters(/[^\s"'`,;&()<>{}|\\]/u);
const SHORTEST = 8;
/** Of a bare value so much is judged; what is found reaches to its end. Names follow names in hostile texts. */
const MOST_JUDGED = 256;

interface Given {
  readonly key: string;
  readonly value: string;
  readonly quote: string;
  /** As shells, addresses and files of variables write it: nothing around the sign. */
  readonly isTight: boolean;
}

/** `password=…`, `"api_key": "…"`, `--token …`; the value goes, its name stays. */
export function assignmentsIn(text: string, tally: Tally): Span[] {
  tally.steps += text.length;
  const spans: Span[] = [];
  let reached = 0;
  for (const { 0: key, index } of text.matchAll(KEY)) {
    if (index < reached) continue;
    const end = nameEnd(text, index + key.length, tally);
    if (end === undefined) continue;
    const near = text.slice(end, end + 16);
    const isFlag = /(?:^|[\s"'])--[\w-]{0,40}$/u.test(text.slice(Math.max(0, index - 44), index));
    const sign = SIGN.exec(near)?.[0] ?? (isFlag ? FLAG.exec(near)?.[0] : undefined);
    if (sign === undefined) continue;
    const begin = end + sign.length;
    const quote = /^["'`]/u.exec(text.slice(begin, begin + 1))?.[0] ?? '';
    const from = begin + quote.length;
    const isTight = isFlag || !/[\s:]/u.test(sign);
    const ends = quote === '' ? bareEnds(text, from, tally) : quotedEnds(text, from, tally);
    const value = text.slice(from, ends.judged);
    if (!isSecret({ key, value, quote, isTight })) continue;
    reached = ends.whole();
    spans.push({ from, to: reached, kind: kindOf(key) });
  }
  return spans;
}

/** Where the name ends that the word is in; undefined when it is another word, or no name of a secret. */
function nameEnd(text: string, from: number, tally: Tally): number | undefined {
  const whole = text.slice(from, from + LONGEST_REST);
  const rest = whole.slice(0, runEnd(whole, 0, { of: REST, tally })).replace(/[.-]+$/u, '');
  const isUpper = /[A-Z]/u.test(text[from - 1] ?? '');
  const isGlued = isUpper ? /^(?!S(?![A-Z]))[A-Z]/u : /^(?!s(?![a-z]))[a-z]/u;
  if (isGlued.test(rest)) return undefined;
  const words = rest.split(/[_.-]|(?<=[a-z0-9])(?=[A-Z])/u);
  return ABOUT.has((words.at(-1) ?? '').toLowerCase()) ? undefined : from + rest.length;
}

interface Ends {
  readonly judged: number;
  readonly whole: () => number;
}

function bareEnds(text: string, from: number, tally: Tally): Ends {
  const walk = (begin: number, most: number): number => {
    let at = begin;
    while (at < most && (BARE(text.charCodeAt(at)) || text.charCodeAt(at) > 127)) at += 1;
    tally.steps += at - begin;
    return at;
  };
  const near = walk(from, Math.min(text.length, from + MOST_JUDGED));
  const isCut = near === from + MOST_JUDGED;
  const judged = isCut ? near : trimmed(text, from, near);
  return { judged, whole: () => (isCut ? walk(near, text.length) : judged) };
}

/** The end of a sentence is no part of it. */
function trimmed(text: string, from: number, to: number): number {
  let end = to;
  while (end > from && /[.:!?\]]/u.test(text[end - 1] ?? '')) end -= 1;
  return end;
}

/** To the same quote, on the same line; one that never ends is a value up to where the line does. */
function quotedEnds(text: string, from: number, tally: Tally): Ends {
  const quote = text[from - 1];
  const isNested = text[from - 2] === '\\';
  let at = from;
  while (at < text.length && text[at] !== quote && text[at] !== '\n') {
    if (text[at] === '\\' && isNested) break;
    at += text[at] === '\\' ? 2 : 1;
  }
  tally.steps += at - from;
  const judged = Math.min(at, text.length);
  return { judged, whole: () => judged };
}

function isSecret({ key, value, quote, isTight }: Given): boolean {
  if (value.length < SHORTEST || isPlaceholder(value)) return false;
  const isPassword = /^pass|^pwd/iu.test(key);
  if (/^pwd$/iu.test(key) && /^[/~.]/u.test(value)) return false;
  if (/^\d+$/u.test(value)) return isPassword;
  if (quote !== '') return /\s/u.test(value) ? isPassword && value.length <= 200 : true;
  // Code: a path of names, or a call.
  if (/^[A-Za-z_$][\w$]*(?:[.:][A-Za-z_$][\w$]*)+$/u.test(value)) return false;
  return isTight || isMixed(value);
}

function kindOf(key: string): string {
  if (/^pass|^pwd/iu.test(key)) return 'password';
  if (/^token$/iu.test(key)) return 'token';
  return /key$/iu.test(key) ? 'key' : 'secret';
}
