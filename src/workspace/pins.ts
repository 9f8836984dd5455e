import type { DialogFact } from '../core/dialogs.js';
import type { Ledger, LedgerEntry } from '../core/ledger.js';
import type { Hash } from '../core/model.js';
import type { KnownAt } from './claims.js';
import type { EditNote } from './edit-book.js';
import { replay } from './replay.js';

/**
 * Contents that the ledger speaks of and that no branch need reach; those of a deleted dialog go.
 * Who asks again has only the new lines read: writers wait for that.
 */
export function createPins(ledger: Pick<Ledger, 'read'>): () => Promise<Set<Hash>> {
  const pins = new Map<string | null, Set<Hash>>();
  let reached = 0;
  const take = (entry: LedgerEntry): void => {
    reached = entry.seq;
    const { dialog_id: dialog } = entry;
    if ((entry['fact'] as DialogFact | undefined)?.what === 'deleted') pins.delete(dialog);
    const hashes = blobsOf(entry);
    if (hashes.length === 0) return;
    const known = pins.get(dialog) ?? new Set();
    pins.set(dialog, known);
    for (const hash of hashes) known.add(hash as Hash);
  };
  return async () => {
    await replay(ledger, take, reached);
    return new Set([...pins.values()].flatMap((hashes) => [...hashes]));
  };
}

function blobsOf(entry: LedgerEntry): string[] {
  const found = entry.changes.flatMap(({ before, after }) => [before, after]);
  const note = entry['edit'] as EditNote | undefined;
  const before = (note === undefined ? [] : statesIn(note)).map(([, state]) => state?.hash);
  const saved = (entry['saved'] as { hash: string }[] | undefined) ?? [];
  const all = [...found, ...before, ...saved.map(({ hash }) => hash)];
  return all.filter((hash) => typeof hash === 'string');
}

function statesIn(note: EditNote): KnownAt[] {
  if (note.what !== 'started') return [...(note.gaveBack ?? [])];
  const touched = (note.touched ?? []).flatMap(([, states]) => states);
  return [...note.before, ...(note.begun ?? []), ...touched];
}
