import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Layout } from './layout.js';
import { decodePack, type PackEntry } from './pack-file.js';
import type { Packs } from './packs.js';
import { writeSmallPack } from './small-pack.js';
import type { SpareFiles } from './spare-files.js';

export interface BlobPacksDeps {
  readonly layout: Layout;
  readonly spares: Pick<SpareFiles, 'take'>;
  readonly packs: Packs;
  /** Flushes a new pack and counts it in. */
  readonly admit: (paths: readonly string[]) => Promise<void>;
  /** A repack is under way: it must leave the packs written meanwhile alone. */
  readonly isRepacking: () => boolean;
}

/** Small packs written in process. Only for the holder of the writer's turn. */
export interface BlobPacks {
  add(entries: readonly PackEntry[]): Promise<void>;
  /** Rolls packs up when enough of a kind are there; says how many went away. Never throws. */
  roll(): Promise<number>;
  /** From here on the packs so far are like any other: for git to repack, or gone. */
  forget(): void;
}

/**
 * Measured for one blob of 2 KB and for twenty, flushed, on a busy two-core machine: a pack with
 * its index 0.9 and 1.6 ms, loose objects 2.1 and 20 ms, a flushed log with loose objects beside
 * it 2.0 and 15 ms: making many files is what costs.
 *
 * Every group of callers leaves a pack, hundreds in a second. So eight of a kind become one of
 * the next kind: three kinds with at most seven each unless git repacks, and one pack for git to repack
 * later out of 512. Every byte is written up to three times more, without starting a process.
 */
const FACTOR = 8;
const KINDS = 3;
/** Larger ones are not rolled up again, so that nobody waits for more than eight of this. */
const LARGE_BYTES = 512 * 1024;

export function createBlobPacks(deps: BlobPacksDeps): BlobPacks {
  const { layout, spares, packs, admit, isRepacking } = deps;
  /** Names without their ending, by how often they were rolled up. */
  let kinds: string[][] = [];
  const pathOf = (name: string, end: string): string => join(layout.packs, `${name}${end}`);

  async function put(entries: readonly PackEntry[], kind: number): Promise<void> {
    const place = { folder: layout.packs, spares, packs, isHeld: isRepacking() };
    const { path, bytes } = await writeSmallPack(entries, place);
    await admit([path]);
    const name = basename(path, '.pack');
    if (kind >= KINDS || bytes >= LARGE_BYTES) return;
    const alike = (kinds[kind] ??= []);
    if (!alike.includes(name)) alike.push(name);
  }

  async function rollKind(kind: number): Promise<number> {
    const alike = kinds[kind] ?? [];
    if (alike.length < FACTOR) return 0;
    // Whatever goes wrong, they are not tried again: git's repack finds them where they are.
    const names = alike.splice(0, FACTOR);
    const entries = new Map<string, PackEntry>();
    for (const name of names) {
      const found = decodePack(
        readFileSync(pathOf(name, '.pack')),
        readFileSync(pathOf(name, '.idx')),
      );
      if (found === undefined) return 0;
      for (const entry of found) entries.set(entry.hash, entry);
    }
    await put([...entries.values()], kind + 1);
    packs.drop(names.map((name) => `${name}.pack`));
    return names.length;
  }

  return {
    add: (entries) => put(entries, 0),
    async roll() {
      // Git would miss what it has seen, and a prune begin again with all writers waiting.
      if (isRepacking()) return 0;
      let gone = 0;
      try {
        for (let kind = 0; kind < KINDS; kind++) gone += await rollKind(kind);
      } catch {
        // A full disk, or a failed flush that stops the next writer by itself: nothing is lost.
      }
      return gone;
    },
    forget: () => (kinds = []),
  };
}
