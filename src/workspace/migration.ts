import type { DialogFact } from '../core/dialogs.js';
import type { CommitId, DialogId } from '../core/model.js';
import { readOldIndex, type OldIndex } from '../core/old-index.js';
import type { Log, SmallFile } from '../core/ports.js';
import type { AdoptedDialog, CheckpointStore } from '../core/store.js';
import type { DialogBook } from './dialog-book.js';

export interface MigrationDeps {
  readonly book: DialogBook;
  readonly store: CheckpointStore;
  readonly index: SmallFile;
  /** Where the index of the older program is kept when ours takes its place. */
  readonly oldIndex: SmallFile;
  readonly log: Log;
}

/**
 * Takes over dialogs of programs that knew no sessions. The ledger line is what makes it happen:
 * before it everything can be done again, after it nothing is. What cannot be taken over stays
 * where it is; the answer says so, one sentence each.
 */
export async function migrate(deps: MigrationDeps): Promise<string[]> {
  const { book, store, log } = deps;
  const found = await store.oldDialogs();
  const known = new Set<string>(book.list().map(({ id }) => id));
  // Deleted by somebody who was then cut off.
  for (const id of found.filter((one) => book.wasKnown(one) && !known.has(one))) {
    await store.dropOld(id).catch(() => undefined);
  }
  const old = keepIndex(deps);
  const waiting = found.filter((id) => !book.wasKnown(id));
  const before = book.current;
  const problems: string[] = [];
  // The one that was current comes last, and so is again.
  for (const id of waiting.toSorted(
    (a, b) => Number(a === old.current) - Number(b === old.current),
  )) {
    try {
      await take(deps, id as DialogId, old);
      log.write('info', 'took over an old dialog', { dialog: id });
    } catch (error) {
      const { message } = error instanceof Error ? error : { message: String(error) };
      problems.push(`Dialog ${id} of an older version is left as it is: ${message}`);
      log.write('warn', 'an old dialog is left as it is', { dialog: id, error: message });
    }
  }
  // Whoever works with us already goes on where they were.
  if (before !== null && book.current !== before) {
    await book.record(before, [{ fact: { what: 'used' } }]);
  }
  return problems;
}

async function take({ book, store }: MigrationDeps, id: DialogId, old: OldIndex): Promise<void> {
  const adopted = await store.adopt(id);
  const fact = beginning(adopted, old.entries.get(id));
  await book.record(id, [{ fact, line: { session: 'session_1', branch: 'main' } }]);
}

function beginning(
  { main, commits }: AdoptedDialog,
  entry: ReturnType<OldIndex['entries']['get']>,
): DialogFact {
  const named = commits.find((commit) => commit === entry?.initial_checkpoint);
  const initial: CommitId = named ?? commits[0] ?? main;
  return {
    what: 'created',
    title: entry?.title ?? 'Dialog of an older version',
    initial,
    earlier: {
      commits: commits.filter((commit) => commit !== initial),
      main,
      createdAt: entry?.created_at,
    },
  };
}

/** Titles and dates are nowhere else, and our own index is about to replace this one. */
function keepIndex({ book, index, oldIndex }: MigrationDeps): OldIndex {
  const kept = oldIndex.read();
  if (kept !== undefined) return readOldIndex(kept);
  const present = index.read();
  const old = readOldIndex(present);
  const hasOthers = [...old.entries.keys()].some((id) => !book.wasKnown(id));
  if (hasOthers) oldIndex.write(present);
  return old;
}
