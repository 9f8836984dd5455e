import type { Ledger } from '../core/ledger.js';
import type { Hash, Path } from '../core/model.js';
import type { FileMode, FileState } from '../core/watching.js';
import type { Claims } from './claims.js';
import type { DialogBook } from './dialog-book.js';
import { replay } from './replay.js';
import type { Saving } from './saving.js';

/**
 * The known state as it was when the daemon ended: the last checkpoint holds what could be
 * explained then, and the lines after it say what was explained since. Without a checkpoint it is
 * what the daemon saw first.
 */
export async function explainedSince(deps: {
  readonly ledger: Pick<Ledger, 'read'>;
  readonly book: DialogBook;
  readonly saving: Saving;
  readonly claims: Claims;
}): Promise<void> {
  const { ledger, book, saving, claims } = deps;
  const last = book.lastSaved;
  if (last === undefined) return;
  const later = new Map<Path, FileState | null>();
  const take = (change: {
    path: string;
    after: string | null;
    mode_after?: string | undefined;
  }) => {
    later.set(change.path as Path, toState(change.after, change.mode_after));
  };
  await replay(
    ledger,
    (entry) => {
      if (entry['noted'] !== true) entry.changes.forEach(take);
    },
    last.seq,
  );
  claims.restart(await saving.pending(book.get(last.dialog)), later);
}

export function toState(hash: string | null, mode: string | undefined): FileState | null {
  return hash === null ? null : { hash: hash as Hash, mode: (mode ?? '100644') as FileMode };
}
