import { closeSync, open, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encodePack, type PackEntry } from './pack-file.js';

export interface SmallPack {
  readonly path: string;
  readonly bytes: number;
}

/**
 * A pack from memory, not flushed yet. It is whole before its index makes it visible, to readers and
 * after a kill. A held one is left alone by a repack that is under way.
 */
export async function writeSmallPack(
  folder: string,
  entries: readonly PackEntry[],
  isHeld: boolean,
): Promise<SmallPack> {
  const { name, pack, index } = encodePack(entries);
  const pathOf = (end: string): string => join(folder, `${name}${end}`);
  const made = [join(folder, `tmp_pack_${name}`), join(folder, `tmp_idx_${name}`)] as const;
  try {
    const files = await Promise.allSettled([make(made[0], pack), make(made[1], index)]);
    for (const file of files) if (file.status === 'rejected') throw file.reason;
    if (isHeld) writeFileSync(pathOf('.keep'), '');
    renameSync(made[0], pathOf('.pack'));
    renameSync(made[1], pathOf('.idx'));
  } catch (error) {
    for (const path of [...made, pathOf('.keep')]) rmSync(path, { force: true });
    throw error;
  }
  return { path: pathOf('.pack'), bytes: pack.length };
}

const openFile = promisify(open);

/**
 * Only making it waits in the thread pool: that takes the disk up to a millisecond, in which the
 * daemon has others to answer. Filling it is a copy in memory.
 */
async function make(path: string, bytes: Uint8Array): Promise<void> {
  const file = await openFile(path, 'w', 0o444);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
  } finally {
    closeSync(file);
  }
}
