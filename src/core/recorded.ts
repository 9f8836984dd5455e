import type { LedgerEntry } from './ledger.js';

/** A line of the log is for a glance; the ledger has them all. */
const MOST_NAMED = 10;

/** What the log says of lines that were written together: enough to find them and whose they are. */
export function describeRecorded(entries: readonly LedgerEntry[]): Record<string, unknown> {
  const all = {
    events: named(entries.map(({ id }) => id)),
    count: entries.length,
    actions: named(entries.map(({ action_type: type }) => type)),
    dialogs: named(entries.map(({ dialog_id: id }) => id)),
    edits: named(entries.map((entry) => (entry['edit'] as { id?: string } | undefined)?.id)),
    run_ids: named(entries.map(({ run_id: id }) => id)),
    tools: named(entries.map(({ author }) => toolOf(author))),
    bookmarks: named(entries.map(({ bookmark }) => bookmark)),
    snapshots: named(entries.map(({ snapshot_ref: snapshot }) => snapshot)),
  };
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => typeof value === 'number' || value.length > 0),
  );
}

function named(words: readonly (string | null | undefined)[]): string[] {
  const known = words.filter((word): word is string => typeof word === 'string');
  return [...new Set(known)].slice(0, MOST_NAMED);
}

/** `agent:ann 1.2`, without a version where none is known. */
function toolOf({ kind, name, version }: LedgerEntry['author']): string {
  return version === null ? `${kind}:${name}` : `${kind}:${name} ${version}`;
}
