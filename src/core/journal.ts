/** One row of `sessions`, whole: what is given replaces what was there. */
export interface JournalSession {
  readonly session_name: string;
  readonly ref_name: string;
  readonly status: 'active' | 'merged' | 'abandoned';
  readonly created_at: string;
  readonly closed_at: string | null;
  readonly approved_commit: string | null;
  readonly checkpoints_count: number;
  readonly branch_exists: boolean;
}

/** One row of `dialog_branches`: there is one `main` and one `session`, the active one. */
export interface JournalBranch {
  readonly branch_type: 'main' | 'session';
  readonly ref_name: string;
  readonly head_commit: string | null;
  readonly valid: boolean;
}

export interface JournalFileEdit {
  readonly file: string;
  /** Unified, as text; null where there is none to show. Stored compressed. */
  readonly diff: string | null;
  readonly checkpoint: string | null;
  /** Index of the message that led to the edit. */
  readonly message_index: number | null;
}

/** What a caller said, and the checkpoint taken just before. */
export interface NewJournalMessage {
  readonly index: number;
  /** The caller's own name for it. The first message with an id keeps it; a second is not stored. */
  readonly message_id: string | null;
  readonly content: string;
  readonly checkpoint: string;
  readonly session: string;
}

export interface JournalMessage extends NewJournalMessage {
  readonly at: string;
}

/** What one ledger entry means for the journal of its dialog. */
export interface JournalFacts {
  /** Position of the entry in the ledger. */
  readonly seq: number;
  readonly at: string;
  /**
   * Position of the dialog's entry before this one, 0 for its first: a journal that has not come
   * so far asks for a rebuild instead of leaving a hole. Left out, only an empty journal asks.
   */
  readonly after?: number;
  readonly sessions?: readonly JournalSession[];
  readonly branches?: readonly JournalBranch[];
  readonly message?: NewJournalMessage;
  readonly fileEdits?: readonly JournalFileEdit[];
}

/**
 * Why a journal must be fed again from the ledger: its file is gone; entries were left out; it was
 * no longer as written and has been set aside; a write did not succeed (full disk, locked file).
 */
export type RebuildReason = 'missing' | 'gap' | 'damaged' | 'failed';

/**
 * The queryable side of each dialog: sessions, branches, messages and file edits in a database
 * that other programs can open. Only a projection: the ledger is the truth, and whatever happens
 * to the database, `rebuild` with the dialog's entries makes the same one again.
 */
export interface Journal {
  /**
   * Takes in one entry, all of it or nothing, within milliseconds and before the next question.
   * Entries at or below `lastSeq` are skipped, and so is everything while a rebuild is due. Never
   * throws: a failure is reported once per rebuild.
   */
  project(dialog: string, facts: JournalFacts): void;
  /** The last entry taken in; 0 when there is none or a rebuild is due. */
  lastSeq(dialog: string): number;
  /**
   * The last `limit` messages with an index below `before`, oldest first.
   *
   * @throws SmithyError BUSY while a rebuild is due or another program locks the file.
   */
  messages(
    dialog: string,
    page: { readonly limit: number; readonly before?: number },
  ): JournalMessage[];
  /** @throws SmithyError BUSY, as `messages`. */
  findMessage(dialog: string, messageId: string): JournalMessage | undefined;
  /** True from the report of a rebuild until it is done. */
  needsRebuild(dialog: string): boolean;
  /**
   * Replaces the database by one made of `entries`, in ledger order. A failure or a crash on the
   * way leaves none, so it is due again. Entries projected while they were being read were skipped:
   * compare `lastSeq` with the ledger afterwards.
   *
   * @throws SmithyError STORAGE_IO or STORAGE_FULL; one thrown by `entries` rises as it is.
   */
  rebuild(dialog: string, entries: Iterable<JournalFacts>): void;
  /**
   * Why the database is not what all of the dialog's `entries` make, in ledger order; undefined when
   * it is. A damaged one is set aside on the way, as by any other look at it.
   */
  whyDifferent(dialog: string, entries: Iterable<JournalFacts>): string | undefined;
  /** Closes the dialog's database and forgets about it. Deleting the files is the caller's. */
  forget(dialog: string): void;
  close(): void;
}
