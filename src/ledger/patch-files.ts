import { access, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { patchPath, type PatchFiles } from '../core/ledger.js';
import { codeOf, makeFolder } from './files.js';

/** However small, each takes a block of the disk; an older one can be made at any time. */
const MOST_KEPT = 200;
const MOST_BYTES = 8 * 1024 * 1024;

interface Kept {
  readonly name: string;
  readonly bytes: number;
}

const PREFIX = 'diff-'.length;
const SUFFIX = '.patch'.length;
const PATCH = /^diff-evt-\d+\.patch$/u;

/**
 * Not flushed: they are made again from the contents. Under its own name only when it is whole, so
 * that nobody reads half of one.
 */
export function createPatchFiles(state: string): PatchFiles {
  const folder = join(state, 'ledger', 'diffs');
  const part = join(folder, 'patch.part');
  /** The oldest first; undefined until the first is written. */
  let kept: Kept[] | undefined;

  async function write(bytes: Uint8Array): Promise<void> {
    await writeFile(part, bytes, { mode: 0o600, flag: 'w' });
  }

  async function namesThere(): Promise<string[]> {
    const names = await readdir(folder).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      return [];
    });
    return names.filter((name) => PATCH.test(name)).sort(byNumber);
  }

  async function found(): Promise<Kept[]> {
    const names = await namesThere();
    return Promise.all(
      names.map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })),
    );
  }

  async function keepFew(newest: Kept): Promise<void> {
    kept ??= await found();
    kept = [...kept.filter(({ name }) => name !== newest.name), newest];
    let room = MOST_BYTES;
    const first = kept.findLastIndex(({ bytes }) => (room -= bytes) < 0) + 1;
    // The newest stays, however large.
    const gone = Math.min(kept.length - 1, Math.max(first, kept.length - MOST_KEPT));
    for (const { name } of kept.splice(0, gone)) await rm(join(folder, name), { force: true });
  }

  return {
    has: (id) =>
      access(join(state, patchPath(id))).then(
        () => true,
        () => false,
      ),

    list: async () => (await namesThere()).map((name) => name.slice(PREFIX, -SUFFIX)),

    read: (id) =>
      readFile(join(state, patchPath(id))).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
        return undefined;
      }),

    async remove(id) {
      const path = join(state, patchPath(id));
      await rm(path, { force: true });
      kept = kept?.filter(({ name }) => name !== basename(path));
    },

    async write(id, bytes) {
      try {
        await write(bytes);
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error;
        await makeFolder(folder);
        await write(bytes);
      }
      const path = join(state, patchPath(id));
      await rename(part, path);
      await keepFew({ name: basename(path), bytes: bytes.length });
    },
  };
}

/** The numbers have leading zeros up to six digits only. */
function byNumber(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}
