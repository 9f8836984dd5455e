import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hash } from '../core/model.js';
import { requireId } from './names.js';
import type { Git } from './run.js';
import { outcome, transfer, type TransferDeps } from './transfer.js';

/**
 * Copies blobs out of the user's repository. Only its objects are read, through our own git
 * folder: its configuration, hooks and refs play no part, and nothing is written there. Objects
 * are copied and not borrowed, because a garbage collection over there must not hurt us.
 */
export async function seed(deps: TransferDeps, gitDir: string, hashes: readonly Hash[]) {
  const objects = join(gitDir, 'objects');
  const isThere = await stat(objects).then(
    (one) => one.isDirectory(),
    () => false,
  );
  const found = isThere ? await present(deps.git, objects, hashes) : new Set<Hash>();
  if (found.size === 0) return { found, packs: [] };
  return { found, packs: [await transfer(deps, { objects, names: found })] };
}

/** Those of the hashes that are blobs over there. */
async function present(git: Git, objects: string, hashes: readonly Hash[]): Promise<Set<Hash>> {
  const found = new Set<Hash>();
  if (hashes.length === 0) return found;
  const child = git.start(['cat-file', '--batch-check=%(objectname) %(objecttype)', '--buffer'], {
    objects,
  });
  const output = outcome(child, 'cat-file');
  child.stdin.end(hashes.map((hash) => `${requireId(hash)}\n`).join(''));
  for (const line of (await output).split('\n')) {
    if (line.endsWith(' blob')) found.add(line.slice(0, 40) as Hash);
  }
  return found;
}
