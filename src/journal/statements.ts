import type Database from 'libsql';
import { ATTACHED } from './schema.js';

type Value = string | number | Buffer | null;
/** Runs the statement; answers how many rows it changed. */
type Writer = (values: Readonly<Record<string, Value>>) => number;

const SESSION = [
  'ref_name',
  'status',
  'created_at',
  'closed_at',
  'approved_commit',
  'checkpoints_count',
  'branch_exists',
];

/** Not an upsert for sessions: that takes a new id for every update and leaves holes. */
const SQL = {
  updateSession: `UPDATE ${ATTACHED}.sessions
    SET ${SESSION.map((column) => `${column} = :${column}`).join(', ')}
    WHERE session_name = :session_name`,
  insertSession: `INSERT INTO ${ATTACHED}.sessions (session_name, ${SESSION.join(', ')})
    VALUES (:session_name, ${SESSION.map((column) => `:${column}`).join(', ')})`,
  putBranch: `INSERT INTO ${ATTACHED}.dialog_branches (branch_type, ref_name, head_commit, valid)
    VALUES (:branch_type, :ref_name, :head_commit, :valid)
    ON CONFLICT (branch_type) DO UPDATE
    SET ref_name = excluded.ref_name, head_commit = excluded.head_commit, valid = excluded.valid`,
  addMessage: `INSERT INTO ${ATTACHED}.messages
    (message_index, message_id, content, checkpoint, session, created_at)
    VALUES (:index, :message_id, :content, :checkpoint, :session, :at)
    ON CONFLICT DO NOTHING`,
  addFileEdit: `INSERT INTO ${ATTACHED}.dialog_file_edits
    (dialog_id, file, diff, checkpoint, created_at, message_index)
    VALUES (:dialog_id, :file, :diff, :checkpoint, :at, :message_index)`,
  setMeta: `UPDATE ${ATTACHED}.meta SET last_seq = :last_seq, digest = :digest`,
} as const;

export type Writers = Readonly<Record<keyof typeof SQL, Writer>>;

export function writers(connection: Database.Database): Writers {
  return {
    updateSession: writer(connection, SQL.updateSession),
    insertSession: writer(connection, SQL.insertSession),
    putBranch: writer(connection, SQL.putBranch),
    addMessage: writer(connection, SQL.addMessage),
    addFileEdit: writer(connection, SQL.addFileEdit),
    setMeta: writer(connection, SQL.setMeta),
  };
}

function writer(connection: Database.Database, sql: string): Writer {
  const statement = connection.prepare(sql);
  return (values) => statement.run(values).changes;
}
