import { SmithyError } from './errors.js';

const LONGEST = 100;

/** Words that already mean a state of the project, or will. */
const TAKEN = /^(worktree|main|head|now|latest|session_\d+|evt-.*|snap-.*|[0-9a-f]{40})$/iu;

/**
 * A name that can stand wherever a checkpoint can: `NAME:PATH` must be readable, and no id may
 * look like it.
 *
 * @throws SmithyError NAME_INVALID
 */
export function requireBookmarkName(name: string): string {
  const isPlain = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_./-]*$/u.test(name) && name.length <= LONGEST;
  if (isPlain && !TAKEN.test(name)) return name;
  const why = isPlain ? 'it already means something else' : 'of its characters or length';
  const shown = JSON.stringify(name.slice(0, LONGEST));
  throw new SmithyError('NAME_INVALID', `${shown} cannot be a bookmark: ${why}.`, {
    hint: `Use letters, digits, "_", "-", "." and "/", at most ${LONGEST}; for example before_refactor.`,
    data: { name },
  });
}
