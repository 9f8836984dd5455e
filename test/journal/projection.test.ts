import { existsSync, rmSync, statSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  DIALOG,
  diff,
  dump,
  entry,
  history,
  type JournalPlace,
  journalPlace,
  query,
} from '../support/journal.js';

let place: JournalPlace;
beforeEach(() => {
  place = journalPlace();
});
afterEach(() => place.end());

function columns(table: string): string[] {
  return query(
    place.file(),
    `SELECT name || ' ' || type || coalesce(' = ' || dflt_value, '') || iif(pk, ' key', '')
     FROM pragma_table_info('${table}', 'j')`,
  ).map(([column]) => String(column));
}

describe('the tables of a dialog', () => {
  beforeEach(() => place.restart().project(DIALOG, entry(0)));

  it('have the columns that other programs were promised', () => {
    expect(columns('sessions')).toEqual([
      'id INTEGER key',
      'session_name TEXT',
      'ref_name TEXT',
      'status TEXT',
      'created_at TEXT',
      'closed_at TEXT',
      'approved_commit TEXT',
      'checkpoints_count INTEGER',
      'branch_exists BOOLEAN = 1',
    ]);
    expect(columns('dialog_branches')).toEqual([
      'branch_type TEXT key',
      'ref_name TEXT',
      'head_commit TEXT',
      'valid BOOLEAN',
    ]);
    expect(columns('dialog_file_edits')).toEqual([
      'id INTEGER key',
      'dialog_id TEXT',
      'file TEXT',
      'diff TEXT',
      'checkpoint TEXT',
      'created_at TEXT',
      'message_index INTEGER',
    ]);
  });

  it('find edits by dialog and time, and keep session names unique', () => {
    const indexed = (index: string) =>
      query(place.file(), `SELECT name FROM pragma_index_info('${index}', 'j')`).flat();
    expect(indexed('dialog_file_edits_by_time')).toEqual(['dialog_id', 'created_at']);
    expect(indexed('sqlite_autoindex_sessions_1')).toEqual(['session_name']);
  });

  it('are closed to everybody else on the machine', () => {
    for (const suffix of ['', '-wal', '-shm']) {
      expect(statSync(place.file() + suffix).mode & 0o777).toBe(0o600);
    }
  });
});

describe('entries of one moment', () => {
  const LONG_MS = 600_000;

  it('are written together, and before any question is answered', () => {
    for (const facts of history(6)) place.restart().project(DIALOG, facts);
    const stepwise = dump(place.file());
    rmSync(place.folder(), { recursive: true });
    const journal = place.restart(LONG_MS);
    for (const facts of history(6)) journal.project(DIALOG, facts);
    expect(existsSync(place.file())).toBe(false);
    expect(journal.lastSeq(DIALOG)).toBe(60);
    expect(dump(place.file())).toBe(stepwise);
  });

  it('are written by the end of the daemon at the latest', () => {
    const journal = place.restart(LONG_MS);
    for (const facts of history(3)) journal.project(DIALOG, facts);
    journal.close();
    expect(place.restart().lastSeq(DIALOG)).toBe(30);
  });

  it('are written before they fill the memory', () => {
    const journal = place.restart(LONG_MS);
    for (const facts of history(300)) journal.project(DIALOG, facts);
    expect(query(place.file(), 'SELECT last_seq FROM j.meta')).toEqual([[2560]]);
  });

  it('are taken in up to the first that does not follow', () => {
    const journal = place.restart(LONG_MS);
    for (const facts of [entry(0), entry(1), entry(3)]) journal.project(DIALOG, facts);
    expect(journal.needsRebuild(DIALOG)).toBe(true);
    expect(place.reports).toEqual([`${DIALOG} gap`]);
    expect(query(place.file(), 'SELECT last_seq FROM j.meta')).toEqual([[20]]);
  });
});

describe('taking in entries', () => {
  it('keeps one row per session and branch, and the newest word on each', () => {
    const journal = place.restart();
    for (const facts of history(4)) journal.project(DIALOG, facts);
    expect(query(place.file(), 'SELECT id, session_name, status FROM j.sessions')).toEqual([
      [1, 'session_1', 'merged'],
      [2, 'session_2', 'active'],
    ]);
    expect(
      query(place.file(), 'SELECT branch_type, ref_name, valid FROM j.dialog_branches ORDER BY 1'),
    ).toEqual([
      ['main', 'refs/heads/main', 1],
      ['session', 'refs/heads/session_2', 1],
    ]);
  });

  it('changes nothing when the same entries come again', () => {
    const journal = place.restart();
    for (const facts of history(5)) journal.project(DIALOG, facts);
    const once = dump(place.file());
    for (const facts of history(5)) journal.project(DIALOG, facts);
    expect(dump(place.file())).toBe(once);
    expect(journal.lastSeq(DIALOG)).toBe(50);
  });

  it('goes on where the daemon before stopped', () => {
    for (const facts of history(6)) place.restart().project(DIALOG, facts);
    const stepwise = dump(place.file());
    place.restart().rebuild(DIALOG, history(6));
    expect(dump(place.file())).toBe(stepwise);
    expect(place.reports).toEqual([]);
  });

  it('stores diffs compressed, and the text comes back as it was', () => {
    const journal = place.restart();
    for (const facts of history(30)) journal.project(DIALOG, facts);
    const [row] = query(
      place.file(),
      "SELECT diff, length(diff) FROM j.dialog_file_edits WHERE file = 'src/29.ts'",
    );
    expect(inflateSync(row?.[0] as Buffer).toString()).toBe(diff(29));
    expect(Number(row?.[1])).toBeLessThan(diff(29).length / 10);
  });

  it('asks for a rebuild, once, instead of leaving a hole', () => {
    const journal = place.restart();
    journal.project(DIALOG, entry(0));
    journal.project(DIALOG, entry(2));
    journal.project(DIALOG, entry(3));
    expect(place.reports).toEqual([`${DIALOG} gap`]);
    expect(journal.lastSeq(DIALOG)).toBe(0);
    journal.rebuild(DIALOG, history(4));
    journal.project(DIALOG, entry(4));
    expect(journal.needsRebuild(DIALOG)).toBe(false);
    expect(journal.lastSeq(DIALOG)).toBe(50);
  });

  it('asks for a rebuild when the entry that starts a dialog was never seen', () => {
    const journal = place.restart();
    const { after: _, ...unchained } = entry(0);
    journal.project(DIALOG, unchained);
    expect(place.reports).toEqual([`${DIALOG} missing`]);
    expect(existsSync(place.file())).toBe(false);
  });

  it('refuses an id that would leave the folder of dialogs, without a word to the writer', () => {
    const journal = place.restart();
    journal.project('../../elsewhere', entry(0));
    expect(place.reports).toEqual(['../../elsewhere failed']);
  });
});

describe('messages', () => {
  it('come in pages from the newest back, each oldest first, exactly as they were said', () => {
    const journal = place.restart();
    journal.rebuild(DIALOG, history(7));
    const indexes = (page: { limit: number; before?: number }) =>
      journal.messages(DIALOG, page).map(({ index }) => index);
    expect(indexes({ limit: 3 })).toEqual([4, 5, 6]);
    expect(indexes({ limit: 3, before: 4 })).toEqual([1, 2, 3]);
    expect(indexes({ limit: 3, before: 1 })).toEqual([0]);
    expect(indexes({ limit: 0 })).toEqual([]);
    const { message, at } = entry(6);
    expect(journal.messages(DIALOG, { limit: 1 })).toEqual([{ ...message, at }]);
  });

  it('are found by the id their caller gave them', () => {
    const journal = place.restart();
    journal.rebuild(DIALOG, history(7));
    expect(journal.findMessage(DIALOG, 'message-4')?.index).toBe(4);
    expect(journal.findMessage(DIALOG, 'message-5')).toBeUndefined();
  });

  it('keep their id: a second message with it does not take its place', () => {
    const journal = place.restart();
    journal.rebuild(DIALOG, history(3));
    const again = { ...entry(3), message: { ...entry(2).message, index: 3, content: 'other' } };
    journal.project(DIALOG, again as ReturnType<typeof entry>);
    expect(journal.lastSeq(DIALOG)).toBe(40);
    expect(journal.findMessage(DIALOG, 'message-2')).toEqual({
      ...entry(2).message,
      at: entry(2).at,
    });
    expect(place.restart().lastSeq(DIALOG)).toBe(40);
  });
});
