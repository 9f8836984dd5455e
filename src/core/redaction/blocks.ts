import { letters, placesOf, runEnd, WORD, type Span, type Tally } from './spans.js';

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const LONGEST_LABEL = 60;
/** Less than this between the lines is a word about keys and no key. */
const SHORTEST_KEY = 32;

/** Private keys in their armour; one that lost its last line reaches as far as it looks like a key. */
export function keysIn(text: string, tally: Tally): Span[] {
  const spans: Span[] = [];
  let reached = 0;
  /** The next closing line; it only ever moves on, so many openings cost one search. */
  let end = 0;
  for (const at of placesOf(text, BEGIN, tally)) {
    if (at < reached) continue;
    const label = /^([A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----/u.exec(
      text.slice(at + BEGIN.length, at + BEGIN.length + LONGEST_LABEL),
    )?.[1];
    if (label === undefined) continue;
    const body = at + BEGIN.length + label.length + 5;
    if (end !== -1 && end < body) {
      const next = text.indexOf(END, body);
      tally.steps += (next === -1 ? text.length : next) - body;
      end = next;
    }
    const armoured = armourEnd(text, body, tally);
    const isClosed = end !== -1 && text.startsWith(label, end + END.length);
    const to = isClosed ? end + END.length + label.length + 5 : armoured;
    if ((isClosed ? end : to) - body < SHORTEST_KEY) continue;
    reached = Math.min(to, text.length);
    spans.push({ from: at, to: reached, kind: 'private-key' });
  }
  return spans;
}

const ARMOUR = letters(/[A-Za-z0-9+/=]/u);
const BETWEEN = letters(/[\s\\]/u);

/** Lines of base64, with real or written line breaks between them. */
function armourEnd(text: string, from: number, tally: Tally): number {
  let reached = from;
  for (;;) {
    const begin = runEnd(text, reached, { of: BETWEEN, tally });
    const to = runEnd(text, begin, { of: ARMOUR, tally });
    // A shorter run is the next sentence, or the last line, whose beginning nobody can tell.
    if (to - begin < 16) return reached;
    reached = to;
  }
}

const AUTHORITY = letters(/[^\s/?#"'<>`\\]/u);
const LONGEST_AUTHORITY = 2048;

/** `user:password@` in addresses; the name of the user stays. */
export function loginsIn(text: string, tally: Tally): Span[] {
  const spans: Span[] = [];
  for (const at of placesOf(text, '://', tally)) {
    const begin = at + 3;
    let to = begin;
    const most = Math.min(text.length, begin + LONGEST_AUTHORITY);
    while (to < most && (AUTHORITY(text.charCodeAt(to)) || text.charCodeAt(to) > 127)) to += 1;
    tally.steps += to - begin;
    const authority = text.slice(begin, to);
    const host = authority.lastIndexOf('@');
    if (host === -1) continue;
    const colon = authority.slice(0, host).indexOf(':');
    const from = begin + colon + 1;
    const secret = text.slice(from, begin + host);
    const isOne = colon === -1 ? /^(?=.*\d)[\w.~-]{20,}$/u.test(secret) : !isPlaceholder(secret);
    if (isOne) spans.push({ from, to: begin + host, kind: 'url-password' });
  }
  return spans;
}

/** What stands for a secret and is none: a variable, a template, stars. */
export function isPlaceholder(value: string): boolean {
  return (
    value === '' ||
    /^(?:\$[A-Z_{(]|\{\{|<|%\()/u.test(value) ||
    /^(.)\1*$/u.test(value) ||
    /^(?:your|example|changeme|placeholder|undefined|required|optional)(?![a-z0-9])/iu.test(value)
  );
}

const SCHEMES = /^(?:bearer|basic|token|apikey|negotiate|digest|bot)[ \t]{1,4}/iu;
const BEARER = /\b(?:bearer|authorization)\b/giu;

/** `Authorization: Bearer …`, and `Bearer …` on its own. */
export function bearersIn(text: string, tally: Tally): Span[] {
  tally.steps += text.length;
  const spans: Span[] = [];
  let walked = 0;
  for (const { 0: word, index } of text.matchAll(BEARER)) {
    if (index < walked) continue;
    const near = text.slice(index + word.length, index + word.length + 40);
    const isHeader = word.length > 'bearer'.length;
    const sign = (isHeader ? /^["']?\s{0,4}[:=]\s{0,4}["']?/u : /^[ \t]{1,4}/u).exec(near)?.[0];
    if (sign === undefined) continue;
    const scheme = isHeader ? (SCHEMES.exec(near.slice(sign.length))?.[0] ?? '') : '';
    const from = index + word.length + sign.length + scheme.length;
    const to = runEnd(text, from, { of: WORD, tally });
    walked = to;
    const value = text.slice(from, to);
    const least = scheme === '' ? 16 : 8;
    const isOne = value.length >= least && (scheme !== '' || isMixed(value));
    if (isOne) spans.push({ from, to, kind: 'authorization' });
  }
  return spans;
}

/** Letters and digits: words of a sentence have no digits, counts no letters. */
export function isMixed(value: string): boolean {
  return /[a-z]/iu.test(value) && /\d/u.test(value);
}
