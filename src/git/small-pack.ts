import { closeSync, fchmodSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { encodePack, unseenName, type PackEntry } from './pack-file.js';
import type { Packs } from './packs.js';
import type { SpareFile, SpareFiles } from './spare-files.js';

export interface SmallPack {
  readonly path: string;
  /** The very pack was there before. */
  readonly isOld: boolean;
  readonly bytes: number;
}

export interface SmallPackPlace {
  readonly folder: string;
  readonly spares: Pick<SpareFiles, 'take'>;
  readonly packs: Pick<Packs, 'knows'>;
  /** A repack that is under way leaves it alone. */
  readonly isHeld: boolean;
}

/**
 * A pack from memory, not flushed yet. It is whole before its index makes it visible, to readers and
 * after a kill.
 */
export async function writeSmallPack(
  entries: readonly PackEntry[],
  { folder, spares, packs, isHeld }: SmallPackPlace,
): Promise<SmallPack> {
  const { name, pack, index } = encodePack(entries);
  const bytes = pack.length;
  const own = join(folder, `${name}.pack`);
  const isKnown = packs.knows(own);
  // Replaced by one that is not flushed yet it would be less than it was.
  if (isKnown && !isHeld) return { path: own, bytes, isOld: true };
  const stem = join(folder, isKnown ? unseenName() : name);
  const pathOf = (end: string): string => `${stem}${end}`;
  const taken = await Promise.allSettled([spares.take(), spares.take()]);
  const files = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    for (const one of taken) if (one.status === 'rejected') throw one.reason;
    const [forPack, forIndex] = files as [SpareFile, SpareFile];
    fill(forPack, pack);
    fill(forIndex, index);
    if (isHeld) writeFileSync(pathOf('.keep'), '');
    renameSync(forPack.path, pathOf('.pack'));
    renameSync(forIndex.path, pathOf('.idx'));
  } catch (error) {
    for (const path of [...files.map((one) => one.path), pathOf('.keep')]) {
      rmSync(path, { force: true });
    }
    throw error;
  } finally {
    for (const { file } of files) closeSync(file);
  }
  return { path: pathOf('.pack'), bytes, isOld: false };
}

/** A copy in memory: the disk has no part in it before the flush. */
function fill({ file }: SpareFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
  fchmodSync(file, 0o400);
}
