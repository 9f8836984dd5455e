import { existsSync } from 'node:fs';
import Database from 'libsql';

/** Held as long as this process lives and does not release it. */
export interface ProcessLock {
  release(): void;
}

/**
 * One process per path, by the kernel's own file lock: it ends with its holder, however that
 * dies, so there is no stale lock to judge and no process number to mistake. Node has no call for
 * it; SQLite's exclusive transaction on an empty database is one on every platform.
 */
export function tryLock(path: string): ProcessLock | undefined {
  const database = new Database(path, { timeout: 0 });
  try {
    // In memory: a journal file beside the lock would outlive a kill.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}

/** Whether somebody holds the lock; asks without taking it, so that nobody is kept from it. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = new Database(path, { timeout: 0, readonly: true });
  try {
    database.exec('SELECT count(*) FROM sqlite_master');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
}
