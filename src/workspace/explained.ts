import type { Ledger, LedgerEntry } from '../core/ledger.js';
import type { Hash, Path } from '../core/model.js';
import type { FileMode, FileState } from '../core/watching.js';
import type { Claims, KnownAt } from './claims.js';
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
  await replay(
    ledger,
    (entry) => {
      for (const [path, state] of explainedBy(entry)) later.set(path, state);
    },
    // With its own line, which tells what was in the hands of edits.
    last.seq - 1,
  );
  claims.restart(await saving.pending(book.get(last.dialog)), later);
}

/** What a line makes known: its changes, unless they were only noted, and what it says outright. */
export function explainedBy(entry: LedgerEntry): KnownAt[] {
  const changes = entry['noted'] === true ? [] : entry.changes;
  return [
    ...changes.map(({ path, after, mode_after: mode }): KnownAt => {
      return [path as Path, toState(after, mode)];
    }),
    ...((entry['known'] as readonly KnownAt[] | undefined) ?? []),
  ];
}

export function toState(hash: string | null, mode: string | undefined): FileState | null {
  return hash === null ? null : { hash: hash as Hash, mode: (mode ?? '100644') as FileMode };
}
