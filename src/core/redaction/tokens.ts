import { ALNUM, letters, placesOf, runEnd, type Letters, type Span, type Tally } from './spans.js';

/** A token that its issuer made recognisable. */
interface Shape {
  readonly kind: string;
  readonly prefixes: readonly string[];
  /** What follows the prefix, and at least how much of it. */
  readonly of: Letters;
  readonly least: number;
  readonly most?: number;
  /** Characters before the prefix that belong to it. */
  readonly lead?: number;
  readonly isOne?: (token: string) => boolean;
}

const UPPER = letters(/[A-Z0-9]/u);
const HEX = letters(/[0-9a-f]/u);
const NAME = letters(/[\w-]/u);
const DOTTED = letters(/[\w.-]/u);
const AZURE = letters(/[\w.~-]/u);

/**
 * By what the issuers publish about their own tokens. A shape is here when nothing else looks like
 * it: git hashes, ULIDs, UUIDs and pieces of base64 must never be taken for one.
 */
const SHAPES: readonly Shape[] = [
  {
    ...{ kind: 'aws-key', prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'] },
    ...{ of: UPPER, least: 16, most: 16 },
  },
  {
    ...{ kind: 'github-token', prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'] },
    ...{ of: ALNUM, least: 36 },
  },
  { kind: 'github-token', prefixes: ['github_pat_'], of: NAME, least: 40 },
  {
    kind: 'gitlab-token',
    prefixes: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glagent-'],
    ...{ of: DOTTED, least: 20 },
  },
  {
    kind: 'slack-token',
    prefixes: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxe.', 'xapp-'],
    ...{ of: DOTTED, least: 16, isOne: hasDigit },
  },
  {
    ...{ kind: 'slack-webhook', prefixes: ['hooks.slack.com/services/'] },
    ...{ of: letters(/[A-Za-z0-9/]/u), least: 20 },
  },
  {
    kind: 'stripe-key',
    prefixes: ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'whsec_'],
    ...{ of: ALNUM, least: 16 },
  },
  { kind: 'anthropic-key', prefixes: ['sk-ant-'], of: NAME, least: 20 },
  {
    kind: 'openai-key',
    prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-admin-'],
    ...{ of: NAME, least: 20, isOne: hasDigit },
  },
  { kind: 'openai-key', prefixes: ['sk-'], of: ALNUM, least: 32, isOne: hasDigit },
  { kind: 'npm-token', prefixes: ['npm_'], of: ALNUM, least: 36 },
  { kind: 'google-key', prefixes: ['AIza'], of: NAME, least: 35 },
  { kind: 'google-key', prefixes: ['ya29.', 'GOCSPX-'], of: NAME, least: 20 },
  // An Entra client secret: three characters, a digit, these two, and 31 to 34 more.
  { kind: 'azure-secret', prefixes: ['Q~'], of: AZURE, least: 31, most: 34, lead: 4 },
  { kind: 'pypi-token', prefixes: ['pypi-'], of: NAME, least: 50 },
  { kind: 'huggingface-token', prefixes: ['hf_'], of: ALNUM, least: 30 },
  { kind: 'digitalocean-token', prefixes: ['dop_v1_', 'doo_v1_'], of: HEX, least: 64 },
  { kind: 'docker-token', prefixes: ['dckr_pat_'], of: NAME, least: 20 },
  { kind: 'shopify-token', prefixes: ['shpat_', 'shpss_', 'shpca_'], of: HEX, least: 32 },
  { kind: 'sendgrid-key', prefixes: ['SG.'], of: DOTTED, least: 60 },
  { kind: 'age-key', prefixes: ['AGE-SECRET-KEY-1'], of: UPPER, least: 50 },
  { kind: 'jwt', prefixes: ['eyJ'], of: DOTTED, least: 30, isOne: isJwt },
];

/** What one of them begins with. */
export const PREFIXES: readonly string[] = SHAPES.flatMap(({ prefixes }) => prefixes);

export function tokensIn(text: string, tally: Tally): Span[] {
  return SHAPES.flatMap((shape) =>
    shape.prefixes.flatMap((one) => found(text, { shape, prefix: one }, tally)),
  );
}

interface Search {
  readonly shape: Shape;
  readonly prefix: string;
}

function found(text: string, { shape, prefix }: Search, tally: Tally): Span[] {
  const { kind, of, least, most = Infinity, lead = 0, isOne } = shape;
  const spans: Span[] = [];
  /** No run is judged twice: what is too short or too plain as a whole is so from its middle, too. */
  let walked = 0;
  for (const at of placesOf(text, prefix, tally)) {
    const from = at - lead;
    if (at < walked || from < 0 || !isWord(text, from, at) || isGlued(text, from)) continue;
    const begin = at + prefix.length;
    walked = runEnd(text, begin, { of, tally });
    const to = withoutDots(text, begin, walked);
    if (to - begin < least || to - begin > most) continue;
    if (isOne === undefined || isOne(text.slice(from, to))) spans.push({ from, to, kind });
  }
  return spans;
}

/** A letter or digit right before it: then it is the inside of something else. */
function isGlued(text: string, at: number): boolean {
  return at > 0 && ALNUM(text.charCodeAt(at - 1));
}

function isWord(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (!ALNUM(text.charCodeAt(at))) return false;
  return true;
}

/** The end of a sentence is no part of it. */
function withoutDots(text: string, from: number, to: number): number {
  let end = to;
  while (end > from && text[end - 1] === '.') end -= 1;
  return end;
}

function hasDigit(token: string): boolean {
  return /\d/u.test(token);
}

/** A header and two more parts, wherever in the run it begins. */
function isJwt(run: string): boolean {
  const parts = run.split('.');
  return parts.some((part, at) => parts.length - at >= 3 && /(?:^|[_-])eyJ[\w-]{7}/u.test(part));
}
