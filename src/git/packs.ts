import { statSync } from 'node:fs';
import { readdir, rm, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Hash } from '../core/model.js';
import type { StoreSizes } from '../core/store.js';
import { codeOf } from './files.js';
import type { Layout } from './layout.js';
import { summarise, type PackSummary } from './pack-lookup.js';

/** The packs of the store and what they weigh, kept in memory. */
export interface Packs {
  sizes(): StoreSizes;
  names(): string[];
  /** Whether a pack, given by its path, was there before: others may count on what it holds. */
  knows(path: string): boolean;
  /** Flushes new packs, their indexes and the folder, all at once. */
  flush(paths: readonly string[]): Promise<void>;
  /** The same, and counts them in. */
  admit(paths: readonly string[]): Promise<void>;
  /** Looks at the folder again. */
  recount(): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  /** The pack that has this object; it need not be flushed yet. */
  find(hash: Hash): string | undefined;
  /** Flushes a pack unless that was done here before; false when it has gone. */
  assure(name: string): Promise<boolean>;
  /**
   * Removes packs whose objects are in another one. Not flushed: what comes back after a power
   * cut is there twice, and that is all.
   */
  drop(names: readonly string[]): void;
  /** When all that was dropped is gone from the folder. */
  dropped(): Promise<void>;
  /**
   * Removes what dead writers left: unfinished files and the `.keep` over their packs. Only for the
   * holder of the writer's turn, and not during a repack.
   */
  sweep(): Promise<string[]>;
}

interface Pack {
  readonly summary: PackSummary;
  /** By us: what was merely found in the folder may still be in memory only. */
  readonly isFlushed: boolean;
}

const ENDINGS = ['.keep', '.rev', '.mtimes'];
/** Nobody takes that long between a pack and its index. */
const LEFT_MS = 60 * 60_000;
const UNFINISHED = /^(tmp_|\.tmp-)/u;

export function createPacks(layout: Layout, flush: (path: string) => Promise<void>): Packs {
  let known = new Map<string, Pack>();
  let sizes: StoreSizes = { bytes: 0, objects: 0, packs: 0 };
  let dropping: Promise<void> = Promise.resolve();
  const indexOf = (name: string): string => join(layout.packs, name.replace(/\.pack$/u, '.idx'));

  /** Throws for a pack that is not whole. */
  function counted(name: string, isFlushed: boolean): Pack {
    return { summary: summarise(join(layout.packs, name), indexOf(name)), isFlushed };
  }

  function sum(): void {
    let bytes = 0;
    let objects = 0;
    for (const { summary } of known.values()) {
      bytes += summary.bytes;
      objects += summary.objects;
    }
    sizes = { bytes, objects, packs: known.size };
  }

  async function recount(): Promise<void> {
    const atFirst = new Set(known.keys());
    const names = await readdir(layout.packs);
    // Whoever counts one in meanwhile is right about it.
    const added = [...known.keys()].filter((name) => !atFirst.has(name));
    const found = new Map<string, Pack>();
    // A pack without an index was not finished, or a repack that outlived its daemon is removing
    // it; either way its objects are elsewhere.
    for (const name of new Set([...names.filter((one) => one.endsWith('.pack')), ...added])) {
      try {
        found.set(name, counted(name, known.get(name)?.isFlushed ?? false));
      } catch (error) {
        gone(error);
      }
    }
    known = found;
    sum();
  }

  async function flushPacks(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await Promise.all([
      ...names.flatMap((name) => [flush(join(layout.packs, name)), flush(indexOf(name))]),
      flush(layout.packs),
    ]);
  }

  async function admit(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const flushing = flushPacks(names);
    // Read while the disk is at work; whether it failed is known when it is done.
    flushing.catch(() => undefined);
    for (const name of names) known.set(name, counted(name, false));
    await flushing;
    for (const name of names) {
      const pack = known.get(name);
      if (pack !== undefined) known.set(name, { ...pack, isFlushed: true });
    }
    sum();
  }

  function has({ summary }: Pack, id: Buffer): boolean {
    try {
      return summary.has(id);
    } catch (error) {
      // Repacked since the folder was counted.
      gone(error);
      return false;
    }
  }

  /** Index first: a pack without one is invisible, an index without its pack is an error. */
  async function discard(names: readonly string[]): Promise<void> {
    // A name comes from the content: the same pack may have been made anew meanwhile.
    for (const name of names.filter((one) => !known.has(one))) {
      for (const end of ['.idx', '.pack', ...ENDINGS]) {
        const path = join(layout.packs, name.replace(/\.pack$/u, end));
        // What stays is a second copy, and is rolled up like any other pack.
        await unlink(path).catch(() => undefined);
      }
    }
  }

  return {
    sizes: () => sizes,
    names: () => [...known.keys()],
    knows: (path) => known.has(basename(path)),
    flush: (paths) => flushPacks(paths.map((path) => basename(path))),
    admit: (paths) => admit(paths.map((path) => basename(path))),
    recount,
    async remove(names) {
      try {
        // Index first: a pack without one is invisible, an index without its pack is an error.
        for (const name of names) {
          await rm(indexOf(name), { force: true });
          await rm(join(layout.packs, name), { force: true });
          for (const end of ENDINGS) {
            await rm(join(layout.packs, name.replace(/\.pack$/u, end)), { force: true });
          }
        }
        await flush(layout.packs);
      } finally {
        // Also of what failed on the way: nobody may find what is not there.
        await recount();
      }
    },
    find(hash) {
      const id = Buffer.from(hash, 'hex');
      for (const [name, pack] of known) if (has(pack, id)) return name;
      return undefined;
    },
    async assure(name) {
      if (known.get(name)?.isFlushed === true) return true;
      try {
        await admit([name]);
        return true;
      } catch (error) {
        gone(error);
        return false;
      }
    },
    drop(names) {
      for (const name of names) known.delete(name);
      sum();
      // Behind everybody's back: on a busy disk each of these calls can take milliseconds.
      dropping = dropping.then(() => discard(names));
    },
    dropped: () => dropping,
    async sweep() {
      const removed: string[] = [];
      const names = await readdir(layout.packs);
      const indexes = new Set(names.filter((name) => name.endsWith('.idx')));
      for (const name of names.filter((one) => UNFINISHED.test(one))) {
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
      for (const name of names.filter((one) => one.endsWith('.pack'))) {
        const path = join(layout.packs, name);
        if (!indexes.has(basename(indexOf(name))) && isLeft(path)) removed.push(path);
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

/** Without an index: a child that outlived its daemon may be about to write that. */
function isLeft(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > LEFT_MS;
}

function gone(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error;
}
