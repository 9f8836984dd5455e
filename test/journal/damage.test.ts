import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import type { Journal } from '../../src/core/journal.js';
import {
  bytes,
  DIALOG,
  dump,
  entry,
  history,
  type JournalPlace,
  journalPlace,
} from '../support/journal.js';

const LENGTH = 12;
let place: JournalPlace;
let journal: Journal;
let whole: string;

beforeEach(() => {
  place = journalPlace();
  journal = place.restart();
  for (const facts of history(LENGTH)) journal.project(DIALOG, facts);
  whole = dump(place.file());
});
afterEach(() => place.end());

/** Every way to lose the file that a running or a starting daemon has to notice. */
const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  deleted: (file) => rmSync(file),
  emptied: (file) => truncateSync(file, 0),
  'filled with zeros': (file) => writeFileSync(file, Buffer.alloc(statSync(file).size)),
  'filled with garbage': (file) => writeFileSync(file, Buffer.alloc(20_000, 'garbage ')),
  'cut in half': (file) => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096),
  'made a folder': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
};

describe.each(Object.entries(DAMAGES))('a journal that was %s', (_, damage) => {
  it('is the same again after a restart and a rebuild', () => {
    journal.close();
    damage(place.file());
    journal = place.restart();
    expect(journal.lastSeq(DIALOG)).toBe(0);
    journal.project(DIALOG, entry(LENGTH));
    expect(place.reports).toHaveLength(1);
    expect(() => journal.messages(DIALOG, { limit: 1 })).toThrow(/about to be rebuilt/u);
    journal.rebuild(DIALOG, history(LENGTH));
    expect(dump(place.file())).toBe(whole);
    expect(journal.needsRebuild(DIALOG)).toBe(false);
  });
});

describe.each(['deleted', 'emptied', 'made a folder'])('a journal %s in use', (how) => {
  it('asks for a rebuild at the next entry, and no writer fails', () => {
    DAMAGES[how]?.(place.file());
    journal.project(DIALOG, entry(LENGTH));
    expect(place.reports).toHaveLength(1);
    journal.rebuild(DIALOG, history(LENGTH));
    expect(dump(place.file())).toBe(whole);
  });
});

describe('a damaged journal', () => {
  it('is noticed at any flipped bit that matters, and no bit ends the daemon', () => {
    journal.close();
    const file = place.file();
    const good = bytes(file);
    const unnoticed: number[] = [];
    // A stride without common factor with the page size reaches all kinds of places.
    for (let offset = 0; offset < good.length; offset += 271) {
      const bad = Buffer.from(good);
      bad.writeUInt8(bad.readUInt8(offset) ^ (1 << (offset % 8)), offset);
      for (const name of readdirSync(place.folder())) {
        rmSync(`${place.folder()}/${name}`, { recursive: true });
      }
      writeFileSync(file, bad);
      journal = place.restart();
      if (journal.lastSeq(DIALOG) === LENGTH * 10) {
        journal.close();
        if (dump(file) !== whole) unnoticed.push(offset);
      }
    }
    expect(unnoticed).toEqual([]);
    expect(place.reports.length).toBeGreaterThan(20);
  });

  it('is noticed when one letter of a message changed', () => {
    journal.close();
    const at = bytes(place.file()).indexOf('bitte: 7');
    const file = openSync(place.file(), 'r+');
    writeSync(file, 'B', at);
    closeSync(file);
    journal = place.restart();
    expect(() => journal.messages(DIALOG, { limit: 1 })).toThrow(/about to be rebuilt/u);
    expect(place.reports).toEqual([`${DIALOG} damaged`]);
    journal.rebuild(DIALOG, history(LENGTH));
    expect(dump(place.file())).toBe(whole);
  });

  it('is kept aside, but only the last one', () => {
    for (let time = 0; time < 3; time++) {
      journal.close();
      writeFileSync(place.file(), `garbage ${time}`);
      writeFileSync(`${place.file()}-wal`, `more ${time}`);
      journal = place.restart();
      expect(journal.lastSeq(DIALOG)).toBe(0);
      journal.rebuild(DIALOG, history(LENGTH));
    }
    const kept = readdirSync(place.folder()).filter((name) => name.includes('damaged'));
    expect(kept.filter((name) => !name.endsWith('-wal'))).toEqual(['journal.sqlite.damaged-3']);
    expect(bytes(`${place.folder()}/journal.sqlite.damaged-3`).toString()).toBe('garbage 2');
  });

  it('never mixes into its successor through a write-ahead file left behind', () => {
    // As a killed daemon leaves it: the last entries only in the write-ahead file.
    copyFileSync(`${place.file()}-wal`, `${place.folder()}/saved`);
    journal.close();
    rmSync(place.file());
    renameSync(`${place.folder()}/saved`, `${place.file()}-wal`);
    journal = place.restart();
    journal.rebuild(DIALOG, history(2));
    expect(journal.lastSeq(DIALOG)).toBe(20);
    expect(place.restart().messages(DIALOG, { limit: 9 })).toHaveLength(2);
  });
});

describe('a journal whose write-ahead file was lost', () => {
  it('says how far it still reaches, and catches up from there', () => {
    const other = journalPlace();
    try {
      const killed = other.restart();
      killed.rebuild(DIALOG, history(5));
      for (const facts of history(LENGTH)) killed.project(DIALOG, facts);
      // The files as a kill leaves them, without the write-ahead file.
      journal.close();
      copyFileSync(other.file(), place.file());
    } finally {
      other.end();
    }
    journal = place.restart();
    expect(journal.lastSeq(DIALOG)).toBe(50);
    for (const facts of history(LENGTH)) journal.project(DIALOG, facts);
    expect(dump(place.file())).toBe(whole);
    expect(place.reports).toEqual([]);
  });
});

describe('a journal that another program has locked', () => {
  it('is not waited for long, and is rebuilt later without loss', () => {
    const other = new Database(place.file());
    other.exec('BEGIN IMMEDIATE');
    journal.project(DIALOG, entry(LENGTH));
    other.exec('ROLLBACK');
    other.close();
    expect(place.reports).toEqual([`${DIALOG} failed`]);
    expect(readdirSync(place.folder()).join()).not.toContain('damaged');
    journal.rebuild(DIALOG, history(LENGTH));
    expect(dump(place.file())).toBe(whole);
  });

  it('is due again when the rebuild itself breaks off', () => {
    function* broken() {
      yield* history(3);
      throw new Error('the ledger cannot be read');
    }
    expect(() => journal.rebuild(DIALOG, broken())).toThrow(/cannot be used/u);
    expect(journal.needsRebuild(DIALOG)).toBe(true);
    expect(place.restart().lastSeq(DIALOG)).toBe(0);
  });
});

describe('many dialogs', () => {
  const names = Array.from({ length: 30 }, (_, number) => `dialog_${number + 10}`);

  it('have at most eight databases open, and none of them loses an entry', () => {
    for (const facts of history(3)) for (const name of names) journal.project(name, facts);
    if (process.platform === 'linux') expect(openDatabases().size).toBe(8);
    for (const name of names) expect(journal.lastSeq(name)).toBe(30);
    journal.close();
    if (process.platform === 'linux') expect(openDatabases().size).toBe(0);
    expect(new Set(names.map((name) => dump(place.file(name)).length)).size).toBe(1);
    expect(place.reports).toEqual([]);
  });

  it('can be deleted once forgotten', () => {
    journal.forget(DIALOG);
    if (process.platform === 'linux') expect(openDatabases().size).toBe(0);
    rmSync(place.folder(), { recursive: true });
    expect(journal.lastSeq(DIALOG)).toBe(0);
    expect(journal.needsRebuild(DIALOG)).toBe(false);
  });
});

function openDatabases(): Set<string> {
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return '';
    }
  });
  return new Set(
    links.filter((path) => path.startsWith(place.stateDir) && path.endsWith('.sqlite')),
  );
}
