import { SmithyError } from '../core/errors.js';
import { systemCode } from '../core/system-errors.js';

/** The file is not what was written to it. */
export class Damage extends Error {
  override readonly name = 'Damage';
}

/**
 * What SQLite says about a file that is no longer as written. A plain SQLITE_ERROR is among them:
 * our statements are fixed, so they fail only when the tables they name are not there.
 */
const DAMAGE = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_ERROR', 'SQLITE_IOERR_SHORT_READ'];

export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return (
    error instanceof Damage || DAMAGE.some((word) => code === word || code.startsWith(`${word}_`))
  );
}

/** What the caller of a read or of a rebuild gets to see. */
export function toSmithyError(error: unknown, dialog: string): SmithyError {
  if (error instanceof SmithyError) return error;
  const code = codeOf(error);
  const details = { data: { dialog_id: dialog }, cause: error };
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new SmithyError('BUSY', `Another program holds the journal of dialog ${dialog}.`, {
      hint: 'Close the program that has journal.sqlite open, then try again.',
      ...details,
    });
  }
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') {
    return new SmithyError('STORAGE_FULL', `No space for the journal of dialog ${dialog}.`, {
      hint: 'Free some space; the journal is then rebuilt from the ledger.',
      ...details,
    });
  }
  return new SmithyError('STORAGE_IO', `The journal of dialog ${dialog} cannot be used.`, {
    hint: 'The ledger has everything in it. Look at the daemon log for the cause.',
    ...details,
  });
}

export function rebuildDue(dialog: string): SmithyError {
  return new SmithyError('BUSY', `The journal of dialog ${dialog} is about to be rebuilt.`, {
    hint: 'Try again in a moment.',
    data: { dialog_id: dialog },
  });
}

function codeOf(error: unknown): string {
  return systemCode(error) ?? '';
}
