import { SmithyError } from './errors.js';
import { idBegunBy } from './resolve-id.js';

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
  throw invalid(name, isPlain ? 'it already means something else' : 'of its characters or length');
}

/**
 * A name comes before an id, so it must not be one that was told: `log` prints the beginning.
 *
 * @throws SmithyError NAME_INVALID
 */
export function requireNoId(name: string, ids: Iterable<string>): void {
  const id = idBegunBy(name, ids);
  if (id !== undefined) throw invalid(name, `it is how the checkpoint ${id} begins`);
}

function invalid(name: string, why: string): SmithyError {
  const shown = JSON.stringify(name.slice(0, LONGEST));
  return new SmithyError('NAME_INVALID', `${shown} cannot be a bookmark: ${why}.`, {
    hint: `Use letters, digits, "_", "-", "." and "/", at most ${LONGEST}; for example before_refactor.`,
    data: { name },
  });
}
