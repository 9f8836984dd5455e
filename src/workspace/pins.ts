import type { DialogFact } from '../core/dialogs.js';
import type { Stretch } from '../core/folding.js';
import type { Ledger, LedgerEntry } from '../core/ledger.js';
import type { EditId, Hash } from '../core/model.js';
import type { Claims, KnownAt } from './claims.js';
import type { EditBook, EditNote } from './edit-book.js';
import type { FoldBook } from './fold-book.js';
import type { Watcher } from '../core/watching.js';
import { replay } from './replay.js';

/** What lines alone do not tell. */
export interface Holding {
  /** Their lines hold nothing. */
  readonly folded: () => readonly Stretch[];
  /** What may have to be put back at any time. */
  readonly expected: () => readonly Hash[];
  /** What an edit did may still be taken back, whatever becomes of its dialog. */
  readonly isUnsettled: (edit: EditId) => boolean;
}

export function holdingOf(books: {
  readonly folds: Pick<FoldBook, 'list'>;
  readonly claims: Pick<Claims, 'expectations'>;
  readonly editBook: Pick<EditBook, 'isUnsettled' | 'hasOpenProject'>;
  readonly watcher: Pick<Watcher, 'entries'>;
}): Holding {
  const { folds, claims, editBook, watcher } = books;
  // A project edit may change any file next, and goes back to what that holds now: its dialog may
  // have been the only one to have it.
  const onDisk = () => (editBook.hasOpenProject() ? [...watcher.entries()] : []);
  return {
    folded: () => folds.list(),
    expected: () => [...claims.expectations(), ...onDisk().map(({ hash }) => hash)],
    isUnsettled: (edit) => editBook.isUnsettled(edit),
  };
}

/**
 * Contents that the ledger speaks of and that no branch need reach; those of a deleted dialog,
 * but for its unsettled edits, and of folded lines go. Who asks again has only the new lines read: writers wait for that.
 */
export function createPins(
  ledger: Pick<Ledger, 'read'>,
  { folded, expected, isUnsettled }: Holding,
): () => Promise<Set<Hash>> {
  const pins = new Map<string | null, Set<Hash>>();
  const unsettled = new Set<Hash>();
  const isFolded = createMembership(folded());
  let reached = 0;
  const take = (entry: LedgerEntry): void => {
    reached = entry.seq;
    const { dialog_id: dialog } = entry;
    if ((entry['fact'] as DialogFact | undefined)?.what === 'deleted') pins.delete(dialog);
    const hashes = isFolded(entry.seq) ? foldedBlobs(entry) : blobsOf(entry);
    if (hashes.length === 0) return;
    const known = pins.get(dialog) ?? new Set();
    pins.set(dialog, known);
    const edit = (entry['edit'] as EditNote | undefined)?.id;
    const held = edit !== undefined && isUnsettled(edit) ? unsettled : known;
    for (const hash of hashes) held.add(hash as Hash);
  };
  return async () => {
    await replay(ledger, take, reached);
    const all = [unsettled, ...pins.values()].flatMap((hashes) => [...hashes]);
    return new Set([...all, ...expected()]);
  };
}

/** For numbers that only grow. */
function createMembership(stretches: readonly Stretch[]): (seq: number) => boolean {
  const left = [...stretches].sort((a, b) => b.after - a.after);
  return (seq) => {
    while ((left.at(-1)?.before ?? Infinity) <= seq) left.pop();
    return (left.at(-1)?.after ?? Infinity) < seq;
  };
}

/** A checkpoint that is in the middle of a run stays, with what it says that paths should hold. */
function foldedBlobs(entry: LedgerEntry): string[] {
  return entry['fact'] === undefined ? [] : knownBlobs(entry);
}

function blobsOf(entry: LedgerEntry): string[] {
  // What a fold comes to is what two checkpoints hold; if they go with their dialogs, it goes too.
  const changes = entry['folded'] === undefined ? entry.changes : [];
  const found = changes.flatMap(({ before, after }) => [before, after]);
  const note = entry['edit'] as EditNote | undefined;
  const before = (note === undefined ? [] : statesIn(note)).map(([, state]) => state?.hash);
  const saved = (entry['saved'] as { hash: string }[] | undefined) ?? [];
  const all = [...found, ...before, ...saved.map(({ hash }) => hash), ...knownBlobs(entry)];
  return all.filter((hash) => typeof hash === 'string');
}

function knownBlobs(entry: LedgerEntry): string[] {
  const known = (entry['known'] as readonly KnownAt[] | undefined) ?? [];
  return known.flatMap(([, state]) => (state === null ? [] : [state.hash]));
}

function statesIn(note: EditNote): KnownAt[] {
  if (note.what !== 'started') return [...(note.gaveBack ?? [])];
  const touched = (note.touched ?? []).flatMap(([, states]) => states);
  return [...note.before, ...(note.begun ?? []), ...touched];
}
