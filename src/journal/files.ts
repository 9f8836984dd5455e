import {
  existsSync,
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const FILE = 'journal.sqlite';
const ASIDE = `${FILE}.damaged-`;

/** Which file lies at a path now. A journal whose file was swapped under it must be opened anew. */
export interface FileIdentity {
  readonly key: string;
  readonly bytes: number;
  readonly plain: boolean;
}

export function journalPath(stateDir: string, dialog: string): string {
  // The id becomes a folder name: one that could leave `dialogs/` is a bug of the caller.
  if (!/^[0-9A-Za-z_-]{1,64}$/u.test(dialog)) throw new Error(`Not a dialog id: ${dialog}`);
  return join(stateDir, 'dialogs', dialog, FILE);
}

export function identify(path: string): FileIdentity | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return {
    key: `${stat.dev.toString()}:${stat.ino.toString()}`,
    bytes: Number(stat.size),
    plain: stat.isFile(),
  };
}

/** An empty file for SQLite to fill: `-wal` and `-shm` get the mode of the database. */
export function createFile(path: string): void {
  // Only the last folder: a state folder that somebody took away must not come back by itself.
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { mode: 0o700 });
  // The write-ahead file of a lost database would be replayed into the new one.
  removeCompanions(path);
  closeSync(openSync(path, 'wx', 0o600));
}

/** Readable by others is a leak, not an attack: closed without asking. */
export function makePrivate(path: string): void {
  if (process.platform !== 'win32') chmodSync(path, 0o600);
}

export function removeFile(path: string): void {
  rmSync(path, { force: true, recursive: true });
  removeCompanions(path);
}

/** Keeps the damaged file for whoever wants to look at it, but never more than the last one. */
export function setAside(path: string): void {
  const folder = dirname(path);
  const earlier = readdirSync(folder).filter((name) => name.startsWith(ASIDE));
  const numbers = earlier.map((name) => Number.parseInt(name.slice(ASIDE.length), 10) || 0);
  const target = join(folder, `${ASIDE}${Math.max(0, ...numbers) + 1}`);
  moveIfThere(path, target);
  moveIfThere(`${path}-wal`, `${target}-wal`);
  removeCompanions(path);
  for (const name of earlier) {
    if (name !== basename(target)) rmSync(join(folder, name), { force: true, recursive: true });
  }
}

function moveIfThere(from: string, to: string): void {
  if (lstatSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to);
}

function removeCompanions(path: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
}
