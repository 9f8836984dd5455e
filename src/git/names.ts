import { SmithyError } from '../core/errors.js';
import { isProtected } from '../core/paths.js';
import { KEPT } from '../core/store.js';

/** A branch of a dialog: one part, nothing that git or a shell reads in its own way. */
export function requireBranch(name: string): string {
  if (
    /^[A-Za-z0-9][\w.-]{0,99}$/u.test(name) &&
    !name.includes('..') &&
    !/\.(lock)?$/u.test(name)
  ) {
    return name;
  }
  throw new SmithyError('NAME_INVALID', `${JSON.stringify(name)} cannot be a branch.`, {
    hint: 'Use letters, digits, "_", "-" and "."; for example session_2.',
    data: { name },
  });
}

/** The name of a dialog is the name of a folder. */
export function requireDialog(dialog: string): string {
  if (dialog === KEPT || /^[A-Za-z0-9][\w-]{0,63}$/u.test(dialog)) return dialog;
  throw new SmithyError('DIALOG_NOT_FOUND', `${JSON.stringify(dialog)} is no dialog.`, {
    hint: '`smithyd dialog list` shows them.',
    data: { id: dialog },
  });
}

/** An id may come from a caller; before it stands in a command it must be one. */
export function requireId<Id extends string>(id: Id): Id {
  if (/^[0-9a-f]{40}$/u.test(id)) return id;
  throw new SmithyError('CHECKPOINT_NOT_FOUND', `${JSON.stringify(id)} is no checkpoint.`, {
    hint: 'Use the full id as `smithyd log` shows it.',
    data: { id },
  });
}

// Only a path that could be wrong pays for the exact look: a first checkpoint has a hundred thousand.
const PERHAPS_WRONG = /^\/|\/\/|\/$|\0|(^|\/)\.|[^ -~]|git~1/iu;

/** The last guard before a path becomes part of a tree. */
export function requireTreePath(path: string): string {
  if (path !== '' && !PERHAPS_WRONG.test(path)) return path;
  const parts = path.split('/');
  const bad = parts.find(
    (part) => part === '' || part === '.' || part === '..' || isProtected(part),
  );
  if (bad === undefined && !path.includes('\0')) return path;
  throw new SmithyError('PATH_PROTECTED', `${JSON.stringify(path)} cannot be in a checkpoint.`, {
    hint: 'Name a file of the project itself.',
    data: { path },
  });
}
