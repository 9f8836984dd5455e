import Database from 'libsql';
import { metaSum } from './digest.js';
import { ATTACHED, COLUMNS, type ContentTable, CREATE, SCHEMA } from './schema.js';
import { writers, type Writers } from './statements.js';

/** Another program may hold the file; the daemon answers nobody while it waits. */
const BUSY_MS = 200;
/** Of the write-ahead file, in pages of 4 KiB: SQLite's own thousand were 4 MB for each dialog. */
const MOST_PAGES = 256;

/**
 * One connection that holds one journal at a time.
 *
 * libsql (0.5.29) has no way to end a prepared statement, and its `close()` keeps file and locks
 * as long as a statement lives, which is until the garbage collector comes by. So a connection is
 * kept for good on an empty database in memory, with its statements prepared once, and the
 * journals are attached and detached: SQLite prepares the statements anew by itself, and a
 * detached file is closed at once.
 */
export class Slot {
  readonly #connection = new Database(':memory:', { timeout: BUSY_MS });
  readonly #attach = this.#connection.prepare(`ATTACH ? AS ${ATTACHED}`);
  readonly #detach = this.#connection.prepare(`DETACH ${ATTACHED}`);
  #writers: Writers | undefined;
  #attached = false;
  readonly #readers = new Map<string, Database.Statement>();

  constructor() {
    this.#connection.exec(`PRAGMA wal_autocheckpoint = ${MOST_PAGES}`);
  }

  attach(path: string): void {
    this.#attach.run(path);
    this.#attached = true;
    // A power cut may cost the last entries, a killed process none: they are in the ledger.
    this.#connection.exec(
      `PRAGMA ${ATTACHED}.journal_mode = WAL; PRAGMA ${ATTACHED}.synchronous = NORMAL`,
    );
  }

  /** Makes the tables in an attached empty file. */
  create(): void {
    this.transact(() => {
      this.#connection.exec(CREATE);
      this.#connection.exec(`INSERT INTO ${ATTACHED}.meta VALUES (0, ${SCHEMA}, ${metaSum(0)})`);
    });
    this.flush();
  }

  /** Moves the write-ahead file into the database and gives its space back. */
  flush(): void {
    this.rows(`PRAGMA ${ATTACHED}.wal_checkpoint(TRUNCATE)`);
  }

  /** False when SQLite does not let go of the file: the connection is then of no more use. */
  detach(): boolean {
    if (!this.#attached) return true;
    try {
      this.#detach.run();
      this.#attached = false;
      return true;
    } catch {
      this.close();
      return false;
    }
  }

  /** The statements that write; only for a journal whose tables were found to be right. */
  get write(): Writers {
    this.#writers ??= writers(this.#connection);
    return this.#writers;
  }

  /**
   * Rows as arrays. Text must be selected as `CAST(... AS BLOB)`: libsql ends the process at text
   * that is no UTF-8, which one damaged byte makes, and cuts text at a NUL.
   */
  rows(sql: string, ...values: readonly (string | number)[]): unknown[][] {
    return this.#reader(sql).all(...values) as unknown[][];
  }

  /** The same, row by row, for what may be larger than memory likes. */
  each(sql: string): Iterable<unknown[]> {
    return this.#reader(sql).iterate() as Iterable<unknown[]>;
  }

  /** One row of a content table by its key, as `packed`. */
  packedRow(table: ContentTable, key: string | number): unknown {
    return this.rows(`${packed(table)} WHERE ${COLUMNS[table][0]} = ?`, key)[0]?.[0];
  }

  transact(action: () => void): void {
    this.#connection.exec('BEGIN IMMEDIATE');
    try {
      action();
      this.#connection.exec('COMMIT');
    } catch (error) {
      // SQLite may have rolled back on its own, as it does when the disk is full.
      if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    this.#connection.close();
  }

  #reader(sql: string): Database.Statement {
    let statement = this.#readers.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql).raw();
      this.#readers.set(sql, statement);
    }
    return statement;
  }
}

/**
 * Selects each row of a content table as one value: every column with its type and length before
 * it. The length keeps neighbours apart; the type is there because one flipped bit makes a blob of
 * a text without changing a letter. One value per row is twice as fast as seven.
 */
export function packed(table: ContentTable): string {
  const columns = COLUMNS[table].map(
    (column) =>
      `typeof(${column}) || coalesce(length(CAST(${column} AS BLOB)) || ':' || ${column}, '')`,
  );
  return `SELECT CAST(${columns.join(' || ')} AS BLOB) FROM ${ATTACHED}.${table}`;
}
