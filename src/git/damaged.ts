import { createHash } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Hash } from '../core/model.js';
import type { DamagedFile } from '../core/ports.js';
import { KEPT } from '../core/store.js';
import { codeOf } from './files.js';
import { ownDialogs, type Layout } from './layout.js';
import { branchFiles } from './refs.js';

export interface DamagedDeps {
  readonly layout: Layout;
  readonly has: (hashes: readonly Hash[]) => Promise<ReadonlySet<Hash>>;
  readonly signal: AbortSignal;
}

const SUM_BYTES = 20;
const CHUNK = 1024 * 1024;
/** Each of these ends with the SHA-1 of all that is before. */
const SUMMED = /\.(pack|idx|rev)$/u;
const REF = /^[0-9a-f]{40}\n$/u;

/** Files that are not what was written, by their own sums: git names objects, people have files. */
export async function damagedFiles(
  deps: DamagedDeps,
): Promise<{ files: number; damaged: DamagedFile[] }> {
  const state = dirname(deps.layout.store);
  const found: DamagedFile[] = [];
  let files = 0;
  const take = (path: string, detail: string | undefined): void => {
    files += 1;
    if (detail !== undefined) found.push({ file: relative(state, path), detail });
  };
  for (const name of await readdir(deps.layout.packs).catch(noneIfAbsent)) {
    const path = join(deps.layout.packs, name);
    if (SUMMED.test(name)) take(path, await whyPackDiffers(path, deps.signal));
  }
  for (const dialog of [KEPT, ...(await ownDialogs(deps.layout))]) {
    const heads = deps.layout.heads(dialog);
    for (const name of await branchFiles(heads).catch(noneIfAbsent)) {
      take(join(heads, name), await whyRefIsWrong(deps, heads, name));
    }
  }
  return { files, damaged: found };
}

async function whyPackDiffers(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const isWhole = await endsWithItsSum(path, signal);
    return isWhole ? undefined : 'its content is not what was written';
  } catch (error) {
    signal.throwIfAborted();
    // Rolled up into another one meanwhile.
    return codeOf(error) === 'ENOENT' ? undefined : String(error);
  }
}

async function endsWithItsSum(path: string, signal: AbortSignal): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const sum = createHash('sha1');
    const buffer = Buffer.allocUnsafe(CHUNK);
    const end = size - SUM_BYTES;
    for (let at = 0; at < end;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, end - at), at);
      if (bytesRead === 0) return false;
      sum.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    const expected = Buffer.alloc(SUM_BYTES);
    if (end < 0 || (await file.read(expected, 0, SUM_BYTES, end)).bytesRead < SUM_BYTES) {
      return false;
    }
    return sum.digest().equals(expected);
  } finally {
    await file.close();
  }
}

async function whyRefIsWrong(
  { has }: DamagedDeps,
  heads: string,
  name: string,
): Promise<string | undefined> {
  const text = await readFile(join(heads, name), 'latin1').catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  });
  if (text === undefined) return undefined;
  if (!REF.test(text)) return 'it names no commit';
  const id = text.trim() as Hash;
  return (await has([id])).has(id) ? undefined : `it names ${id.slice(0, 8)}, which is not there`;
}

function noneIfAbsent(error: unknown): string[] {
  if (codeOf(error) !== 'ENOENT') throw error;
  return [];
}
