/**
 * Glob patterns as git matches them: on bytes, `*` within one path part, `**` across parts where it
 * stands alone. Matching never explodes: only the last `*` and the last `**` are ever retried, which
 * is enough because an earlier one that stopped sooner leaves the later one strictly more choices.
 */
export interface Glob {
  /** `text` is a byte string (see `toBytes`), lower case when the glob was compiled to ignore case. */
  matches(text: string): boolean;
  /** Whether something below `folder` (a byte string that ends with `/`) could match. */
  reaches(folder: string): boolean;
  /** Slashes in every text that can match; infinite when `**` crosses folders. */
  readonly slashes: number;
  /** The byte every match starts or ends with; -1 when there is no such byte. */
  readonly first: number;
  readonly last: number;
  /** True once a match cost more than the budget: from then on the glob matches nothing. */
  exhausted(): boolean;
}

/**
 * Far above what any sane pattern needs on a path of 4096 bytes. A pattern that passes it was made to
 * waste time and is given up for good, so that a hostile ignore file costs its budget once.
 */
const STEP_BUDGET = 100_000;

const SLASH = 47;
const STAR_CODE = 42;
const BACKSLASH = 92;

// Tokens: a byte value, or one of these; classes are CLASS - index.
const ANY = -1;
const STAR = -2;
const GLOBSTAR = -3;
const GLOBSTAR_SLASH = -4;
const CLASS = -16;

const NON_ASCII = /[^\0-\x7f]/u;

/** One character per byte of the UTF-8 form: git's `?` is a byte, not a character. */
export function toBytes(text: string): string {
  return NON_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** Lower case of A-Z only, as git folds. */
export function foldAscii(text: string): string {
  return /[A-Z]/u.test(text) ? text.replace(/[A-Z]+/gu, (run) => run.toLowerCase()) : text;
}

/** Compiles a byte string. Undefined when git would never match it (unclosed class, lone `\`). */
export function compileGlob(pattern: string, ignoreCase: boolean): Glob | undefined {
  const parsed = parse(pattern, ignoreCase);
  if (parsed === undefined) return undefined;
  const { tokens, classes } = parsed;
  let spent = false;

  const accepts = (token: number, byte: number): boolean => {
    if (token >= 0) return token === byte;
    if (byte === SLASH) return false;
    return token === ANY || classes[CLASS - token]?.[byte] === 1;
  };

  const run = (text: string): boolean => {
    const end = text.length;
    let token = 0;
    let at = 0;
    let star = -1;
    let starAt = 0;
    let deep = -1;
    let deepAt = 0;
    for (let steps = 0; steps < STEP_BUDGET; steps += 1) {
      const want = tokens[token];
      if (want === undefined) {
        if (at === end) return true;
      } else if (want === STAR) {
        token += 1;
        star = token;
        starAt = at;
        continue;
      } else if (want === GLOBSTAR || want === GLOBSTAR_SLASH) {
        token += 1;
        star = -1;
        deep = token;
        deepAt = at;
        continue;
      } else if (at < end && accepts(want, text.charCodeAt(at))) {
        token += 1;
        at += 1;
        continue;
      }
      if (star >= 0 && starAt < end && text.charCodeAt(starAt) !== SLASH) {
        starAt += 1;
        at = starAt;
        token = star;
        continue;
      }
      if (deep < 0) return false;
      deepAt = nextDeep(tokens[deep - 1] === GLOBSTAR_SLASH, text, deepAt);
      if (deepAt < 0) return false;
      star = -1;
      at = deepAt;
      token = deep;
    }
    spent = true;
    return false;
  };

  return {
    slashes: countSlashes(tokens),
    first: Math.max(-1, tokens[0] ?? -1),
    last: Math.max(-1, tokens.at(-1) ?? -1),
    exhausted: () => spent,
    matches: (text) => !spent && run(text),
    reaches: (folder) => survives(tokens, folder, accepts),
  };
}

/** The next place a `**` may end: anywhere, or only behind a slash when a slash follows it. */
function nextDeep(behindSlash: boolean, text: string, from: number): number {
  if (!behindSlash) return from < text.length ? from + 1 : -1;
  const slash = text.indexOf('/', from);
  return slash < 0 ? -1 : slash + 1;
}

function countSlashes(tokens: readonly number[]): number {
  if (tokens.some((token) => token === GLOBSTAR || token === GLOBSTAR_SLASH)) return Infinity;
  return tokens.filter((token) => token === SLASH).length;
}

/** Runs all alternatives at once and asks whether one is still waiting for more text. */
function survives(
  tokens: readonly number[],
  folder: string,
  accepts: (token: number, byte: number) => boolean,
): boolean {
  let live = new Set<number>();
  const add = (into: Set<number>, token: number): void => {
    into.add(token);
    const kind = tokens[token];
    if (kind === STAR || kind === GLOBSTAR || kind === GLOBSTAR_SLASH) add(into, token + 1);
  };
  const stays = (kind: number, byte: number): boolean =>
    kind === GLOBSTAR || kind === GLOBSTAR_SLASH || (kind === STAR && byte !== SLASH);
  add(live, 0);
  for (let at = 0; at < folder.length; at += 1) {
    const byte = folder.charCodeAt(at);
    const next = new Set<number>();
    for (const token of live) {
      const kind = tokens[token];
      if (kind === undefined) continue;
      if (stays(kind, byte)) next.add(token);
      const moves = kind === GLOBSTAR_SLASH ? byte === SLASH : kind >= ANY || kind <= CLASS;
      if (moves && (kind === GLOBSTAR_SLASH || accepts(kind, byte))) add(next, token + 1);
    }
    live = next;
  }
  return [...live].some((token) => token < tokens.length);
}

interface Parsed {
  readonly tokens: readonly number[];
  readonly classes: readonly Uint8Array[];
}

function parse(pattern: string, ignoreCase: boolean): Parsed | undefined {
  const tokens: number[] = [];
  const classes: Uint8Array[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const byte = pattern.charCodeAt(at);
    if (byte === STAR_CODE) {
      const star = parseStars(pattern, at);
      tokens.push(star.token);
      at = star.last;
    } else if (byte === BACKSLASH) {
      at += 1;
      if (at === pattern.length) return undefined;
      // An escaped capital is not folded but the text is: with ignoreCase git never matches it.
      tokens.push(pattern.charCodeAt(at));
    } else if (pattern[at] === '[') {
      const found = parseClass(pattern, at, ignoreCase);
      if (found === undefined) return undefined;
      tokens.push(CLASS - classes.length);
      classes.push(found.members);
      at = found.last;
    } else if (pattern[at] === '?') {
      tokens.push(ANY);
    } else {
      tokens.push(ignoreCase ? lower(byte) : byte);
    }
  }
  return { tokens, classes };
}

function parseStars(pattern: string, from: number): { token: number; last: number } {
  let after = from;
  while (pattern[after] === '*') after += 1;
  const alone = from === 0 || pattern[from - 1] === '/';
  if (after - from === 1 || !alone) return { token: STAR, last: after - 1 };
  if (pattern[after] === '/') return { token: GLOBSTAR_SLASH, last: after };
  const crosses = after === pattern.length || pattern.startsWith('\\/', after);
  return { token: crosses ? GLOBSTAR : STAR, last: after - 1 };
}

/** git's own ASCII tables, not the C library's: vertical tab and form feed are no space. */
const POSIX = new Map(
  Object.entries({
    alnum: /[0-9A-Za-z]/u,
    alpha: /[A-Za-z]/u,
    blank: /[ \t]/u,
    // eslint-disable-next-line no-control-regex -- control characters are what the class names
    cntrl: /[\0-\x1f\x7f]/u,
    digit: /[0-9]/u,
    graph: /[!-~]/u,
    lower: /[a-z]/u,
    print: /[ -~]/u,
    punct: /[!-/:-@[-`{-~]/u,
    space: /[ \t\n\r]/u,
    upper: /[A-Z]/u,
    xdigit: /[0-9A-Fa-f]/u,
  }),
);

interface ClassMembers {
  readonly members: Uint8Array;
  /** Index of the closing bracket. */
  readonly last: number;
}

function parseClass(pattern: string, open: number, ignoreCase: boolean): ClassMembers | undefined {
  const members = new Uint8Array(256);
  const addRange = (from: number, to: number): void => {
    for (let byte = from; byte <= to; byte += 1) {
      members[byte] = 1;
      // The text is folded: a range of capitals still counts for its small letters, but a single
      // capital member does not. That is git's behaviour, odd as it is.
      if (ignoreCase) members[lower(byte)] = 1;
    }
  };
  let at = open + 1;
  const negated = pattern[at] === '!' || pattern[at] === '^';
  if (negated) at += 1;
  let previous = 0;
  // The first member is taken whatever it is: that makes `[]a]` a class with a bracket in it.
  do {
    const member = readMember(pattern, at, previous);
    if (member === undefined) return undefined;
    if (member.posix !== undefined) addPosix(members, member.posix, ignoreCase);
    else if (member.from === member.to && !member.range) members[member.from] = 1;
    else addRange(member.from, member.to);
    previous = member.range || member.posix !== undefined ? 0 : member.from;
    at = member.last + 1;
  } while (pattern[at] !== ']');
  if (negated) members.forEach((member, byte) => (members[byte] = member === 1 ? 0 : 1));
  return { members, last: at };
}

interface Member {
  readonly from: number;
  readonly to: number;
  readonly range: boolean;
  readonly posix?: RegExp;
  readonly last: number;
}

function readMember(pattern: string, at: number, previous: number): Member | undefined {
  const next = pattern[at + 1];
  if (pattern[at] === '-' && previous !== 0 && next !== undefined && next !== ']') {
    const to = readByte(pattern, at + 1);
    return to === undefined ? undefined : { ...to, from: previous, range: true };
  }
  if (pattern[at] === '[' && next === ':') {
    const close = pattern.indexOf(']', at + 2);
    if (close < 0) return undefined;
    // Without `:]` at its end it is a plain bracket.
    if (close > at + 2 && pattern[close - 1] === ':') {
      const posix = POSIX.get(pattern.slice(at + 2, close - 1));
      return posix === undefined ? undefined : { from: 0, to: 0, range: false, posix, last: close };
    }
  }
  const byte = readByte(pattern, at);
  return byte === undefined ? undefined : { ...byte, from: byte.to, range: false };
}

function readByte(pattern: string, at: number): { to: number; last: number } | undefined {
  const last = pattern[at] === '\\' ? at + 1 : at;
  return last < pattern.length ? { to: pattern.charCodeAt(last), last } : undefined;
}

function addPosix(members: Uint8Array, posix: RegExp, ignoreCase: boolean): void {
  for (let byte = 0; byte < 128; byte += 1) {
    if (!posix.test(String.fromCharCode(byte))) continue;
    members[byte] = 1;
    // Only [:upper:] needs it: every other class with capitals holds the small letters too.
    if (ignoreCase) members[lower(byte)] = 1;
  }
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}
