import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { Journal, JournalFacts, RebuildReason } from '../../src/core/journal.js';
import { createJournal } from '../../src/journal/journal.js';

export const DIALOG = '01K3ZZZZZZZZZZZZZZZZZZZZZZ';
const TABLES = ['sessions', 'dialog_branches', 'dialog_file_edits', 'messages', 'meta'];

export interface JournalPlace {
  readonly stateDir: string;
  /** What was reported, as `dialog why`. */
  readonly reports: string[];
  /** A new daemon on the same files: the one before is closed. Gathers nothing unless told to. */
  restart(gatherMs?: number): Journal;
  file(dialog?: string): string;
  folder(dialog?: string): string;
  end(): void;
}

export function journalPlace(): JournalPlace {
  const stateDir = mkdtempSync(join(tmpdir(), 'smithyd-journal-'));
  // Made with the first dialog; what is taken away does not come back by itself.
  mkdirSync(join(stateDir, 'dialogs'));
  const reports: string[] = [];
  let running: Journal | undefined;
  const folder = (dialog = DIALOG) => join(stateDir, 'dialogs', dialog);
  return {
    stateDir,
    reports,
    restart(gatherMs = 0) {
      running?.close();
      running = createJournal({
        stateDir,
        gatherMs,
        log: { write: () => undefined },
        needsRebuild: (dialog: string, why: RebuildReason) => reports.push(`${dialog} ${why}`),
      });
      return running;
    },
    folder,
    file: (dialog) => join(folder(dialog), 'journal.sqlite'),
    end() {
      running?.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

/** The life of a dialog: messages, edits, and every third entry the approval of a session. */
export function history(length: number): JournalFacts[] {
  return Array.from({ length }, (_, number) => entry(number));
}

export function entry(number: number): JournalFacts {
  const session = `session_${Math.floor(number / 3) + 1}`;
  const approved = number % 3 === 2;
  return {
    seq: 10 * number + 10,
    after: 10 * number,
    at: new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString(),
    sessions: [
      {
        session_name: session,
        ref_name: `refs/heads/${session}`,
        status: approved ? 'merged' : 'active',
        created_at: '2026-01-01T00:00:00.000Z',
        closed_at: approved ? '2026-01-02T00:00:00.000Z' : null,
        approved_commit: approved ? 'b'.repeat(40) : null,
        checkpoints_count: (number % 3) + 1,
        branch_exists: true,
      },
    ],
    branches: [
      {
        branch_type: approved ? 'main' : 'session',
        ref_name: `refs/heads/${approved ? 'main' : session}`,
        head_commit: number.toString(16).padStart(40, '0'),
        valid: true,
      },
    ],
    message: {
      index: number,
      message_id: number % 2 === 0 ? `message-${number}` : null,
      content: `Größer, bitte: ${number}\u0000${'🙂'.repeat(number)}`,
      checkpoint: number.toString(16).padStart(40, 'a'),
      session,
    },
    fileEdits: [
      { file: `src/${number}.ts`, diff: diff(number), checkpoint: null, message_index: number },
      { file: 'logo.png', diff: null, checkpoint: 'c'.repeat(40), message_index: number },
    ],
  };
}

export function diff(number: number): string {
  return '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new é\n'.repeat(number + 1);
}

/** Rows in bytes: libsql ends the process at text that is no UTF-8. */
export function query(file: string, sql: string): unknown[][] {
  const connection = new Database(':memory:');
  connection.prepare('ATTACH ? AS j').run(file);
  try {
    return connection.prepare(sql).raw().all() as unknown[][];
  } finally {
    connection.exec('DETACH j');
    connection.close();
  }
}

/** Everything a journal says, ids included. */
export function dump(file: string): string {
  const lines = [...TABLES, 'sqlite_sequence'].flatMap((table) => {
    const columns = query(file, `SELECT name FROM pragma_table_info('${table}', 'j')`);
    const list = columns
      .map(([name]) => `typeof(${String(name)}) || hex(${String(name)})`)
      .join(`, `);
    return query(file, `SELECT ${list} FROM j.${table} ORDER BY 1`).map(
      (row) => `${table} ${row.join('|')}`,
    );
  });
  return lines.join('\n');
}

export function bytes(file: string): Buffer {
  return readFileSync(file);
}
