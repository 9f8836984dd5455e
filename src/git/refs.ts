import { closeSync, linkSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SmithyError } from '../core/errors.js';
import type { CommitId } from '../core/model.js';
import { KEPT, type BranchUpdate } from '../core/store.js';
import { diskFailure } from './failures.js';
import { codeOf, flushFile, readText } from './files.js';
import type { Layout } from './layout.js';
import { requireId } from './names.js';
import type { SpareFiles } from './spare-files.js';

const ID = /^[0-9a-f]{40}$/u;

/** The branches of one dialog: loose ones over packed ones, as git reads them. */
export async function readBranches(layout: Layout, dialog: string): Promise<Map<string, CommitId>> {
  const heads = layout.heads(dialog);
  const names = await branchFiles(heads).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    // The one of the whole project is made when something is first kept.
    if (dialog === KEPT) return [];
    throw noRepository(dialog);
  });
  const branches = readPacked(layout, dialog);
  for (const name of names) {
    const id = readText(join(heads, name))?.trim() ?? '';
    if (ID.test(id)) branches.set(name, id as CommitId);
  }
  return branches;
}

/** A name with a slash makes a folder: it is somebody's own, and packed ones are left out as well. */
export async function branchFiles(heads: string): Promise<string[]> {
  const entries = await readdir(heads, { withFileTypes: true });
  const files = entries.filter((one) => one.isFile() && !one.name.endsWith('.lock'));
  return files.map(({ name }) => name).sort();
}

/** Whatever a ref of the dialog names: also branches in folders and tags, which only people make. */
export async function readTips(layout: Layout, dialog: string): Promise<Set<CommitId>> {
  const refs = join(layout.gitDir(dialog), 'refs');
  const entries = await readdir(refs, { withFileTypes: true, recursive: true });
  const loose = entries
    .filter((one) => one.isFile() && !one.name.endsWith('.lock'))
    .map((one) => readText(join(one.parentPath, one.name))?.trim() ?? '');
  const packed = readText(join(layout.gitDir(dialog), 'packed-refs')) ?? '';
  const named = [...packed.matchAll(/^([0-9a-f]{40}) /gmu)].map(([, id = '']) => id);
  return new Set([...loose, ...named].filter((id) => ID.test(id)) as CommitId[]);
}

/** We never pack refs, but a person in `checkpoints/` may. */
function readPacked(layout: Layout, dialog: string): Map<string, CommitId> {
  const text = readText(join(layout.gitDir(dialog), 'packed-refs'));
  const found = (text ?? '').matchAll(/^([0-9a-f]{40}) refs\/heads\/([^/\s]+)$/gmu);
  return new Map([...found].map(([, id = '', name = '']) => [name, id as CommitId]));
}

function readBranch(layout: Layout, dialog: string, branch: string): CommitId | null {
  const loose = readText(join(layout.heads(dialog), branch));
  if (loose !== undefined && ID.test(loose.trim())) return loose.trim() as CommitId;
  return readPacked(layout, dialog).get(branch) ?? null;
}

/** A branch held against everybody else, git included, until it moves or is let go. */
export interface HeldBranch {
  /** Writes the new value beside the branch and flushes it; the branch itself stays. */
  prepare(to: CommitId): Promise<void>;
  /** Moves the branch; it lasts once its folder is flushed. */
  move(): void;
  /** Lets go without moving; nothing after a move. */
  release(): Promise<void>;
}

/** Locks of ours that the disk did not let us take away; whoever needs one of them next tries again. */
export type LeftLocks = Set<string>;

/**
 * Git's own protocol for one loose ref (`<ref>.lock`, created exclusively, renamed over the ref).
 * Done here and not by `update-ref` because the new value can then be flushed at the same time as
 * the objects, which halves the waiting, and because git does not flush the folder.
 */
export async function holdBranch(
  layout: Layout,
  dialog: string,
  where: {
    readonly branch: string;
    readonly expected: CommitId | null;
    readonly left: LeftLocks;
    readonly spares: Pick<SpareFiles, 'take'>;
  },
): Promise<HeldBranch> {
  const { branch, expected, left, spares } = where;
  const path = join(layout.heads(dialog), branch);
  const lock = `${path}.lock`;
  if (left.has(lock)) await removeLock(lock, left);
  let file: number | undefined = await openLock(lock, { dialog, spares });
  const close = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  const release = async (): Promise<void> => {
    if (file === undefined) return;
    close();
    // Its caller failed already, or will be told by the next one.
    await removeLock(lock, left).catch(() => undefined);
  };
  try {
    const actual = readBranch(layout, dialog, branch);
    if (actual !== expected) throw moved(branch, expected, actual);
  } catch (error) {
    await release();
    throw error;
  }
  return {
    async prepare(to) {
      if (file === undefined) throw new Error('the branch is not held');
      const bytes = Buffer.from(`${to}\n`);
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
      await flushFile(file);
    },
    move() {
      renameSync(lock, path);
      close();
    },
    release,
  };
}

async function removeLock(lock: string, left: LeftLocks): Promise<void> {
  left.add(lock);
  await rm(lock, { force: true }).catch((error: unknown) => {
    throw diskFailure('unlock', error);
  });
  left.delete(lock);
}

async function openLock(
  lock: string,
  { dialog, spares }: { readonly dialog: string; readonly spares: Pick<SpareFiles, 'take'> },
): Promise<number> {
  try {
    const { path, file } = await spares.take();
    try {
      // As exclusive as making it under this name.
      linkSync(path, lock);
      return file;
    } catch (error) {
      closeSync(file);
      if (codeOf(error) === 'EEXIST') throw error;
      // Not every file system has a second name for a file.
      return openSync(lock, 'wx', 0o600);
    } finally {
      removeSpare(path);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw noRepository(dialog);
    if (codeOf(error) !== 'EEXIST') throw diskFailure('lock', error);
    throw new SmithyError('BUSY', `${lock} is held by another process.`, {
      hint: 'Try again in a moment; a lock that nobody holds goes away when the daemon restarts.',
      data: { lock, retry_after_ms: 100 },
    });
  }
}

/** What stays of it is an empty name that the next start removes; the lock counts. */
function removeSpare(path: string): void {
  try {
    // `rm` looks at it twice before.
    unlinkSync(path);
  } catch {
    // As above.
  }
}

export function moved(
  branch: string,
  expected: CommitId | null,
  actual: CommitId | null,
): SmithyError {
  const place = (id: CommitId | null): string => (id === null ? 'nowhere' : `at ${id}`);
  return new SmithyError('BUSY', `${branch} is ${place(actual)}, not ${place(expected)}.`, {
    hint: 'Somebody else moved it: look again and repeat.',
    data: { branch, expected, actual, retry_after_ms: 0 },
  });
}

export function noRepository(dialog: string): SmithyError {
  return new SmithyError('DIALOG_NOT_FOUND', `Dialog ${dialog} has no checkpoints.`, {
    hint: '`smithyd dialog list` shows the dialogs of this project.',
    data: { id: dialog },
  });
}

/**
 * Takes away what is no branch although its file is there: a flipped bit, a text by hand. We read it
 * as none, git refuses to move it, and where it belongs is known to whoever moves it now.
 */
export async function removeBroken(
  layout: Layout,
  dialog: string,
  names: readonly string[],
): Promise<void> {
  for (const name of names) {
    const path = join(layout.heads(dialog), name);
    const text = readText(path);
    if (text !== undefined && !ID.test(text.trim())) await rm(path);
  }
}

/** All updates as one transaction of `update-ref --stdin -z`. */
export function toTransaction(updates: readonly BranchUpdate[]): string {
  const none = '0'.repeat(40);
  const lines = updates.map(({ name, to, expected }) =>
    to === null
      ? `delete refs/heads/${name}\0${expected ?? none}\0`
      : `update refs/heads/${name}\0${requireId(to)}\0${expected ?? none}\0`,
  );
  return ['start\0', ...lines, 'prepare\0', 'commit\0'].join('');
}

/** Locks in our own repositories; only while no child of ours lives. */
export async function removeLocks(layout: Layout, dialog: string): Promise<string[]> {
  const heads = layout.heads(dialog);
  const removed: string[] = [];
  for (const folder of [layout.gitDir(dialog), heads]) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((one) => one.endsWith('.lock'))) {
      await rm(join(folder, name), { force: true });
      removed.push(join(folder, name));
    }
  }
  // An empty ref is what a power cut leaves of one that was never flushed.
  for (const name of await branchFiles(heads).catch(() => [])) {
    const path = join(heads, name);
    if ((await stat(path)).size > 0) continue;
    await rm(path);
    removed.push(path);
  }
  return removed;
}
