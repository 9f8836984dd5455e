import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { patchPath, type PatchFiles } from '../core/ledger.js';
import { codeOf } from './files.js';

/**
 * Not flushed: they are made again from the contents. Under its own name only when it is whole, so
 * that nobody reads half of one.
 */
export function createPatchFiles(state: string): PatchFiles {
  const folder = join(state, 'ledger', 'diffs');
  const part = join(folder, 'patch.part');

  async function write(bytes: Uint8Array): Promise<void> {
    await writeFile(part, bytes, { mode: 0o600, flag: 'w' });
  }

  return {
    has: (id) =>
      access(join(state, patchPath(id))).then(
        () => true,
        () => false,
      ),

    async write(id, bytes) {
      try {
        await write(bytes);
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error;
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await write(bytes);
      }
      await rename(part, join(state, patchPath(id)));
    },
  };
}
