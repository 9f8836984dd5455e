import { deflateSync } from 'node:zlib';
import type { JournalFacts, JournalFileEdit, JournalMessage } from '../core/journal.js';
import { metaSum, plus, rowSum, textOf } from './digest.js';
import { ATTACHED, type ContentTable } from './schema.js';
import type { Slot } from './slot.js';

const META = `SELECT CAST(last_seq AS INTEGER), CAST(schema AS INTEGER), CAST(digest AS INTEGER)
  FROM ${ATTACHED}.meta`;
const LAST_EDIT = `SELECT max(id) FROM ${ATTACHED}.dialog_file_edits`;
const MESSAGES = `SELECT CAST(message_index AS INTEGER), CAST(message_id AS BLOB),
  CAST(content AS BLOB), CAST(checkpoint AS BLOB), CAST(session AS BLOB), CAST(created_at AS BLOB)
  FROM ${ATTACHED}.messages`;

export interface Meta {
  readonly lastSeq: number;
  readonly schema: number;
  readonly digest: number;
}

/** Undefined when the one row is not there as it was written. */
export function readMeta(slot: Slot): Meta | undefined {
  const rows = slot.rows(META);
  const [lastSeq, schema, digest] = rows[0] ?? [];
  if (rows.length !== 1 || !isCount(lastSeq) || !isCount(schema) || !isCount(digest)) {
    return undefined;
  }
  return { lastSeq, schema, digest };
}

/** Takes in one entry, inside a transaction, and answers what `meta` says after it. */
export function take(
  slot: Slot,
  before: Meta,
  entry: { dialog: string; facts: JournalFacts },
): Meta {
  const { dialog, facts } = entry;
  let digest = plus(before.digest, metaSum(facts.seq) - metaSum(before.lastSeq));

  /** A write to the row with this key, and the difference it makes to the digest. */
  function put(row: { table: ContentTable; key: string | number }, write: () => void): void {
    const old = rowSum(row.table, slot.packedRow(row.table, row.key));
    write();
    digest = plus(digest, rowSum(row.table, slot.packedRow(row.table, row.key)) - old);
  }

  for (const session of facts.sessions ?? []) {
    const values = { ...session, branch_exists: Number(session.branch_exists) };
    put({ table: 'sessions', key: session.session_name }, () => {
      if (slot.write.updateSession(values) === 0) slot.write.insertSession(values);
    });
  }
  for (const branch of facts.branches ?? []) {
    put({ table: 'dialog_branches', key: branch.branch_type }, () =>
      slot.write.putBranch({ ...branch, valid: Number(branch.valid) }),
    );
  }
  const { message } = facts;
  if (message !== undefined) {
    put({ table: 'messages', key: message.index }, () =>
      slot.write.addMessage({ ...message, at: facts.at }),
    );
  }
  for (const edit of facts.fileEdits ?? []) {
    slot.write.addFileEdit({ ...stored(edit), dialog_id: dialog, at: facts.at });
    const id = Number(slot.rows(LAST_EDIT)[0]?.[0]);
    digest = plus(digest, rowSum('dialog_file_edits', slot.packedRow('dialog_file_edits', id)));
  }
  slot.write.setMeta({ last_seq: facts.seq, digest });
  return { ...before, lastSeq: facts.seq, digest };
}

export function readMessages(
  slot: Slot,
  page: { readonly limit: number; readonly before?: number },
): JournalMessage[] {
  const { limit, before = Number.MAX_SAFE_INTEGER } = page;
  const newest = slot.rows(
    `${MESSAGES} WHERE message_index < ? ORDER BY message_index DESC LIMIT ?`,
    before,
    Math.max(0, limit),
  );
  return newest.map(toMessage).reverse();
}

export function readMessage(slot: Slot, messageId: string): JournalMessage | undefined {
  return slot.rows(`${MESSAGES} WHERE message_id = ?`, messageId).map(toMessage)[0];
}

function toMessage(row: readonly unknown[]): JournalMessage {
  const [index, id, content, checkpoint, session, at] = row;
  return {
    index: Number(index),
    message_id: textOf(id),
    content: textOf(content) ?? '',
    checkpoint: textOf(checkpoint) ?? '',
    session: textOf(session) ?? '',
    at: textOf(at) ?? '',
  };
}

function stored(edit: JournalFileEdit) {
  const { file, checkpoint, message_index } = edit;
  return {
    file,
    checkpoint,
    message_index,
    diff: edit.diff === null ? null : deflateSync(edit.diff),
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
