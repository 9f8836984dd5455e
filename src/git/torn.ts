import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, flush } from './files.js';
import type { Layout } from './layout.js';

/** Magic, version, fan-out; then 28 bytes per object and two checksums (git's pack index, version 2). */
const INDEX_HEAD = 8 + 256 * 4;
const INDEX_ENTRY = 20 + 4 + 4;
const CHECKSUM = 20;
const PACK_HEAD = 12;
/** Enough to look into what happened; git could not use them. */
const MOST_KEPT = 32;

/**
 * Sets packs aside that are not whole. A power cut leaves such files of writes that nobody was
 * told of, for everything acknowledged was flushed before; but git complains about them at every
 * command, and a new one of the same name would not replace them. They are moved, not deleted: a
 * disk that damages files may have done it to good ones.
 */
export async function setAsideTorn(layout: Layout): Promise<string[]> {
  const names = await readdir(layout.packs);
  const torn = names
    .filter((name) => name.endsWith('.idx'))
    .map((name) => name.slice(0, -'.idx'.length))
    .filter((stem) => names.includes(`${stem}.pack`) && !isWhole(join(layout.packs, stem)));
  if (torn.length === 0) return [];
  const aside = join(layout.store, 'torn');
  await mkdir(aside, { recursive: true, mode: 0o700 });
  const moved: string[] = [];
  for (const stem of torn) {
    // Index first: a pack without one is invisible.
    for (const end of ['.idx', '.pack', '.keep', '.rev'].filter((one) =>
      names.includes(stem + one),
    )) {
      await rename(join(layout.packs, stem + end), join(aside, stem + end));
      moved.push(join(layout.packs, stem + end));
    }
  }
  await flush(layout.packs);
  await dropOldest(aside);
  return moved;
}

/** By sizes and checksums at the ends, which a torn write does not have; the middle is not read. */
function isWhole(stem: string): boolean {
  const index = ends(`${stem}.idx`, INDEX_HEAD, 2 * CHECKSUM);
  const pack = ends(`${stem}.pack`, PACK_HEAD, CHECKSUM);
  // Gone meanwhile: a repack that outlived its daemon is at work, and knows what it does.
  if (index === 'gone' || pack === 'gone') return true;
  if (index === 'short' || pack === 'short') return false;
  const objects = index.head.readUInt32BE(INDEX_HEAD - 4);
  return (
    index.head.readUInt32BE(0) === 0xff744f63 &&
    index.size >= INDEX_HEAD + objects * INDEX_ENTRY + 2 * CHECKSUM &&
    pack.head.toString('latin1', 0, 4) === 'PACK' &&
    pack.head.readUInt32BE(8) === objects &&
    index.tail.subarray(0, CHECKSUM).equals(pack.tail)
  );
}

function ends(path: string, headBytes: number, tailBytes: number) {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'gone';
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    if (size < headBytes + tailBytes) return 'short';
    const head = Buffer.alloc(headBytes);
    const tail = Buffer.alloc(tailBytes);
    readSync(file, head, 0, headBytes, 0);
    readSync(file, tail, 0, tailBytes, size - tailBytes);
    return { size, head, tail };
  } finally {
    closeSync(file);
  }
}

async function dropOldest(folder: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name);
      return { path, at: (await stat(path)).mtimeMs };
    }),
  );
  const newestFirst = files.sort((a, b) => b.at - a.at);
  for (const { path } of newestFirst.slice(MOST_KEPT)) await rm(path, { force: true });
}
