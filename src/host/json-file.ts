import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { SmallFile } from '../core/ports.js';
import { readSmallFile, replaceFile } from './small-files.js';

/** A JSON file of our own, replaced as a whole. What cannot be read counts as absent. */
export function openJsonFile(path: string, indent = 2): SmallFile {
  return {
    isThere: () => existsSync(path),
    read() {
      try {
        const text = readSmallFile(path);
        return text === undefined ? undefined : (JSON.parse(text) as unknown);
      } catch {
        return undefined;
      }
    },
    write(content) {
      // Only the last folder: a state folder that somebody removed must not come back by itself.
      if (!existsSync(dirname(path))) mkdirSync(dirname(path), { mode: 0o700 });
      replaceFile(path, `${JSON.stringify(content, null, indent)}\n`);
    },
    remove: () => rmSync(path, { force: true }),
  };
}

export interface SummedFile extends SmallFile {
  /** Undefined when it is what was written, or is not there. */
  whyDamaged(): string | undefined;
}

interface Summed {
  readonly crc: string;
  readonly content: unknown;
}

/** The same for what nothing else tells of: with a sum, so that a changed byte is noticed. */
export function openSummedFile(path: string): SummedFile {
  // Lists of thousands of files, for nobody to read.
  const file = openJsonFile(path, 0);
  return {
    ...file,
    read() {
      const found = file.read();
      // Those of earlier daemons have no sum.
      return isSummed(found) ? found.content : found;
    },
    write: (content) => file.write({ crc: sumOf(content), content } satisfies Summed),
    whyDamaged() {
      if (!file.isThere()) return undefined;
      const found = file.read();
      if (found === undefined) return 'it is no JSON';
      if (!isSummed(found)) return Array.isArray(found) ? undefined : 'it has no sum';
      return found.crc === sumOf(found.content) ? undefined : 'its sum does not fit';
    },
  };
}

function isSummed(found: unknown): found is Summed {
  return typeof found === 'object' && found !== null && 'crc' in found && 'content' in found;
}

function sumOf(content: unknown): string {
  return crc32(JSON.stringify(content)).toString(16).padStart(8, '0');
}
