import { SmithyError } from './errors.js';
import type { Path } from './model.js';

/** The daemon's own folder inside the project. */
export const STATE_FOLDER = '.agentsmithy';

/** Git refuses trees with these; a checkpoint must never carry one. Compared without case. */
const PROTECTED = new Set(['.git', STATE_FOLDER]);

/**
 * Turns a caller's path into a `Path`, or refuses it by name. Purely textual: whether a parent is
 * a symlink is the adapter's question.
 */
export function toPath(given: string, root: string): Path {
  if (given.includes('\0')) throw outside(given, 'it contains a NUL character');
  const relative = stripRoot(given, root);
  const parts = relative.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw outside(given, 'it climbs out with ".."');
  if (parts.length === 0) throw outside(given, 'it names the root itself');
  const guarded = parts.find((part) => isProtected(part));
  if (guarded !== undefined) {
    throw new SmithyError('PATH_PROTECTED', `${given} is inside ${guarded}, which is off limits.`, {
      hint: 'Name a file of the project itself.',
      data: { path: given },
    });
  }
  return parts.join('/') as Path;
}

/** True for `.git`, our own state folder and the spellings file systems fold into them. */
export function isProtected(part: string): boolean {
  // HFS+ drops zero-width characters, NTFS trailing dots and spaces: git calls both `.git`.
  const folded = part
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu, '')
    .replace(/[. ]+$/u, '')
    .toLowerCase();
  return PROTECTED.has(folded) || folded === 'git~1';
}

function stripRoot(given: string, root: string): string {
  if (!given.startsWith('/')) return given;
  const prefix = root === '/' ? '/' : `${root}/`;
  if (given.startsWith(prefix)) return given.slice(prefix.length);
  throw outside(given, 'it is absolute and elsewhere');
}

function outside(given: string, why: string): SmithyError {
  return new SmithyError(
    'PATH_OUTSIDE_ROOT',
    `${given} is not a path inside the project: ${why}.`,
    {
      hint: 'Use a path relative to the project root.',
      data: { path: given },
    },
  );
}
