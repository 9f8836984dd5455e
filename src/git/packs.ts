import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { StoreSizes } from '../core/store.js';
import { codeOf, flush as flushPath } from './files.js';
import type { Layout } from './layout.js';

/** The packs of the store and what they weigh, kept in memory. */
export interface Packs {
  sizes(): StoreSizes;
  names(): string[];
  /** Flushes new packs, their indexes and the folder, all at once, and counts them in. */
  admit(paths: readonly string[]): Promise<void>;
  /** Looks at the folder again. */
  recount(): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  /**
   * Removes what a dead child left: unfinished files and the `.keep` that fast-import holds over
   * its packs. Only while no fast-import lives; unfinished files only when nothing else writes.
   */
  sweep(isQuiet: boolean): Promise<string[]>;
}

/** An index starts with the number of objects up to each first byte; the last one is the total. */
const TOTAL_AT = 8 + 255 * 4;
const UNFINISHED = /^(tmp_|\.tmp-)/u;

export function createPacks(layout: Layout, flush = flushPath): Packs {
  const known = new Map<string, { bytes: number; objects: number }>();
  let sizes: StoreSizes = { bytes: 0, objects: 0, packs: 0 };
  const indexOf = (name: string): string => join(layout.packs, name.replace(/\.pack$/u, '.idx'));

  /** Throws for a pack that is not whole. */
  function count(name: string): void {
    const file = openSync(indexOf(name), 'r');
    try {
      const total = Buffer.alloc(4);
      readSync(file, total, 0, 4, TOTAL_AT);
      const bytes = fstatSync(file).size + statSync(join(layout.packs, name)).size;
      known.set(name, { bytes, objects: total.readUInt32BE() });
    } finally {
      closeSync(file);
    }
  }

  function sum(): void {
    let bytes = 0;
    let objects = 0;
    for (const pack of known.values()) {
      bytes += pack.bytes;
      objects += pack.objects;
    }
    sizes = { bytes, objects, packs: known.size };
  }

  async function recount(): Promise<void> {
    known.clear();
    const names = await readdir(layout.packs);
    const packs = names.filter((name) => name.endsWith('.pack'));
    // A pack without an index was not finished, or a repack that outlived its daemon is removing
    // it; either way its objects are elsewhere.
    for (const name of packs) {
      try {
        count(name);
      } catch (error) {
        gone(error);
      }
    }
    sum();
  }

  return {
    sizes: () => sizes,
    names: () => [...known.keys()],
    async admit(paths) {
      if (paths.length === 0) return;
      const names = paths.map((path) => basename(path));
      await Promise.all([
        ...names.flatMap((name) => [flush(join(layout.packs, name)), flush(indexOf(name))]),
        flush(layout.packs),
      ]);
      names.forEach(count);
      sum();
    },
    recount,
    async remove(names) {
      // Index first: a pack without one is invisible, an index without its pack is an error.
      for (const name of names) {
        await rm(indexOf(name), { force: true });
        await rm(join(layout.packs, name), { force: true });
        for (const end of ['.keep', '.rev', '.mtimes']) {
          await rm(join(layout.packs, name.replace(/\.pack$/u, end)), { force: true });
        }
      }
      await flush(layout.packs);
      await recount();
    },
    async sweep(isQuiet) {
      const removed: string[] = [];
      const names = await readdir(layout.packs);
      const indexes = new Set(names.filter((name) => name.endsWith('.idx')));
      for (const name of names.filter((one) => isQuiet && UNFINISHED.test(one))) {
        removed.push(join(layout.packs, name));
      }
      for (const name of names.filter((one) => one.endsWith('.keep'))) {
        const pack = name.replace(/\.keep$/u, '.pack');
        // Nobody may have flushed it, and a new child would take its objects for safe.
        if (indexes.has(basename(indexOf(pack))) && names.includes(pack)) {
          await Promise.all([flush(join(layout.packs, pack)), flush(indexOf(pack))]).catch(gone);
        }
        removed.push(join(layout.packs, name));
      }
      for (const name of await readdir(layout.engine)) {
        if (/^fast_import_crash_|\.lock$/u.test(name)) removed.push(join(layout.engine, name));
      }
      for (const path of removed) await rm(path, { force: true });
      await recount();
      return removed;
    },
  };
}

function gone(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error;
}
