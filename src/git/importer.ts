import { rm } from 'node:fs/promises';
import type { NewBlob } from '../core/store.js';
import { sendBlob } from './blobs.js';
import { startImport } from './import-child.js';
import type { Layout } from './layout.js';
import type { Git } from './run.js';

/** Contents too large to be held, streamed through a `git fast-import` of their own. */
export interface Importer {
  /** Answers packs that are not flushed yet. */
  blobs(blobs: readonly (NewBlob & { readonly path?: string })[]): Promise<readonly string[]>;
}

export function createImporter(git: Git, layout: Layout): Importer {
  return {
    async blobs(blobs) {
      if (blobs.length === 0) return [];
      const child = await startImport(git, layout);
      try {
        for (const blob of blobs) await sendBlob(child, blob, blob.path);
      } catch (error) {
        // It finishes what it has; nobody refers to that.
        const packs = await child.finish().catch(() => []);
        for (const path of packs) {
          for (const end of ['.idx', '.pack']) {
            await rm(path.replace(/\.pack$/u, end), { force: true });
          }
        }
        throw error;
      }
      return child.finish();
    },
  };
}
