import { SmithyError } from '../errors.js';

const LONGEST = 50;
const PLAIN = /^[a-z][a-z0-9_]*$/u;
/** A date, a time of day, or seconds since 1970: the mark has its time already. */
const TIMESTAMP = /\d{8,}|(19|20)\d{2}_?\d{2}_?\d{2}|\d{1,2}_\d{2}_\d{2}/u;

/** Made by themselves, and moved each time: there is one of each. */
export const PINNED: readonly string[] = ['session_start', 'pre_commit'];

/** @throws SmithyError NAME_INVALID with a name that would do. */
export function requireMarkName(name: string): string {
  const why = problemOf(name);
  if (why === undefined) return name;
  const better = suggestion(name);
  const example = better === undefined ? 'for example before_refactor' : `for example ${better}`;
  throw new SmithyError(
    'NAME_INVALID',
    `${JSON.stringify(name.slice(0, 100))} cannot be a mark: ${why}.`,
    {
      hint: `Use lowercase letters, digits and "_", at most ${LONGEST}, and no time; ${example}.`,
      data: { name: name.slice(0, 200), ...(better === undefined ? {} : { suggestion: better }) },
    },
  );
}

function problemOf(name: string): string | undefined {
  if (name.length > LONGEST) return `it has more than ${LONGEST} characters`;
  if (!PLAIN.test(name)) return 'of its characters';
  if (TIMESTAMP.test(name)) return 'it holds a time';
  if (/^session_\d+$/u.test(name) || name === 'main' || name === 'worktree') {
    return 'it already means something else';
  }
  return undefined;
}

function suggestion(name: string): string | undefined {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '_')
    .replace(new RegExp(TIMESTAMP, 'gu'), '')
    .replace(/^[0-9_]+|_+$/gu, '')
    .replace(/_{2,}/gu, '_')
    .slice(0, LONGEST)
    .replace(/_+$/u, '');
  return problemOf(plain) === undefined ? plain : undefined;
}
