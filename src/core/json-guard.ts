/**
 * Looks over JSON text before it is parsed. `JSON.parse` alone would take a million nested arrays,
 * keep the last of two equal keys without a word, and build whatever `__proto__` says.
 * The text need not be valid JSON: what this lets through, `JSON.parse` still judges.
 */
export interface JsonLimits {
  readonly depth: number;
  /** Values and keys together. */
  readonly elements: number;
}

const JSON_LIMITS: JsonLimits = { depth: 64, elements: 500_000 };

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

/** Says what is wrong with the text, or nothing. One pass, no recursion. */
export function findJsonProblem(text: string, limits = JSON_LIMITS): string | undefined {
  /** One entry per open bracket: the keys seen so far, or undefined inside an array. */
  const open: (Set<string> | undefined)[] = [];
  let elements = 0;
  let lastString = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      lastString = text.slice(at + 1, end);
      at = end;
    } else if (char === COLON) {
      const problem = keyProblem(lastString, open.at(-1));
      if (problem !== undefined) return problem;
    } else if (char === 0x5b || char === 0x7b) {
      open.push(char === 0x7b ? new Set() : undefined);
      elements++;
      if (open.length > limits.depth) return `nested deeper than ${limits.depth} levels`;
    } else if (char === 0x5d || char === 0x7d) {
      open.pop();
    } else if (char === COMMA) {
      elements++;
    }
    if (elements > limits.elements) return `more than ${limits.elements} elements`;
  }
  return undefined;
}

/** The index of the closing quote, or of the text's end when there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

function keyProblem(raw: string, seen: Set<string> | undefined): string | undefined {
  const key = raw.includes('\\') ? unescape(raw) : raw;
  if (key === '__proto__') return 'the key "__proto__" is not accepted';
  if (seen?.has(key) === true) return `the key ${JSON.stringify(key.slice(0, 100))} stands twice`;
  seen?.add(key);
  return undefined;
}

function unescape(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}
