import { activeSession, type DialogFact, type DialogState } from '../core/dialogs.js';
import type { JournalFacts } from '../core/journal.js';
import type { LedgerEntry } from '../core/ledger.js';

/** What the lines of a dialog come to in its journal. */

/** A line that tells of one file which an edit of its dialog changed. */
export function isFileEdit(entry: LedgerEntry): boolean {
  return entry['told'] !== undefined && entry.dialog_id !== null;
}

export function fileEditOf(state: DialogState, entry: LedgerEntry, diff: string | null) {
  return {
    file: entry.files.at(-1) ?? '',
    diff,
    checkpoint: state.tip,
    message_index: state.messages === 0 ? null : state.messages - 1,
  };
}

export function factsOf(state: DialogState, entry: LedgerEntry): JournalFacts {
  const session = activeSession(state).name;
  const fact = entry['fact'] as DialogFact;
  return {
    seq: entry.seq,
    at: entry.ts,
    // A dialog's first entry may make the database; any later one must find it.
    ...(fact.what === 'created' ? { after: 0 } : {}),
    // No other fact reaches further back than to the session before.
    sessions: (fact.what === 'created' ? state.sessions : state.sessions.slice(-2)).map((row) => ({
      session_name: row.name,
      ref_name: `refs/heads/${row.name}`,
      status: row.status,
      created_at: row.createdAt,
      closed_at: row.closedAt,
      approved_commit: row.approvedCommit,
      checkpoints_count: row.checkpoints,
      branch_exists: true,
    })),
    branches: [
      {
        branch_type: 'main',
        ref_name: 'refs/heads/main',
        head_commit: state.approved,
        valid: true,
      },
      {
        branch_type: 'session',
        ref_name: `refs/heads/${session}`,
        head_commit: state.tip,
        valid: true,
      },
    ],
    ...(fact.what === 'message' ? { message: messageOf(entry, fact.index) } : {}),
  };
}

export function messageOf(entry: LedgerEntry, index: number) {
  const { content, checkpoint, message_id: id } = entry as unknown as Record<string, string | null>;
  return {
    index,
    message_id: id ?? null,
    content: content ?? '',
    checkpoint: checkpoint ?? '',
    session: entry.session ?? '',
  };
}
