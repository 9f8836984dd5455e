import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SmallFile } from '../core/ports.js';
import { readSmallFile, replaceFile } from './small-files.js';

/** A JSON file of our own, replaced as a whole. What cannot be read counts as absent. */
export function openJsonFile(path: string): SmallFile {
  return {
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
      replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
    },
    remove: () => rmSync(path, { force: true }),
  };
}
