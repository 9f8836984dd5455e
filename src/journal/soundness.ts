import { readMeta } from './content.js';
import { metaSum, plus, rowSum, textOf } from './digest.js';
import { ATTACHED, CONTENT_TABLES, SCHEMA, STORED } from './schema.js';
import { packed, type Slot } from './slot.js';

/** SQLite's own tables and indexes have names of its own and, mostly, no text. */
const SCHEMA_ROWS = `SELECT CAST(name AS BLOB), CAST(sql AS BLOB) FROM ${ATTACHED}.sqlite_master
  WHERE sql IS NOT NULL AND name <> 'sqlite_sequence'`;
const STRUCTURE = `SELECT count(*) FROM pragma_integrity_check(1, '${ATTACHED}')
  WHERE integrity_check <> 'ok'`;
/** The next ids come from here: a changed number would give others than the ledger does. */
const SEQUENCES = `SELECT
  coalesce((SELECT CAST(seq AS INTEGER) FROM ${ATTACHED}.sqlite_sequence WHERE name = 'sessions'), 0)
    - (SELECT coalesce(max(id), 0) FROM ${ATTACHED}.sessions),
  coalesce((SELECT CAST(seq AS INTEGER) FROM ${ATTACHED}.sqlite_sequence
    WHERE name = 'dialog_file_edits'), 0)
    - (SELECT coalesce(max(id), 0) FROM ${ATTACHED}.dialog_file_edits)`;

/**
 * Why the attached journal is not what was written; undefined when it is. An emptied file opens
 * without a complaint as an empty database, so the tables are compared every time; `whole` also
 * reads every row.
 */
export function whyUnsound(slot: Slot, whole: boolean): string | undefined {
  if (!hasItsTables(slot)) return 'tables are missing or others';
  const meta = readMeta(slot);
  if (meta?.schema !== SCHEMA) return 'no count of entries, or another version';
  if (!whole) return undefined;
  if (slot.rows(STRUCTURE)[0]?.[0] !== 0) return 'the structure is broken';
  if (slot.rows(SEQUENCES)[0]?.some((difference) => difference !== 0) !== false) {
    return 'the sequence of ids is broken';
  }
  return contentSum(slot) === plus(meta.digest, -metaSum(meta.lastSeq))
    ? undefined
    : 'the content is not what was written';
}

function hasItsTables(slot: Slot): boolean {
  const rows = slot.rows(SCHEMA_ROWS);
  return (
    rows.length === STORED.size &&
    rows.every(([name, sql]) => STORED.get(textOf(name) ?? '') === textOf(sql))
  );
}

function contentSum(slot: Slot): number {
  let sum = 0;
  for (const table of CONTENT_TABLES) {
    for (const [row] of slot.each(packed(table))) sum = plus(sum, rowSum(table, row));
  }
  return sum;
}
