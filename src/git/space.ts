import { statfsSync } from 'node:fs';
import { SmithyError } from '../core/errors.js';
import type { FileChange } from '../core/store.js';
import { full } from './failures.js';

export interface SpaceDeps {
  readonly folder: string;
  readonly limitBytes: () => number;
  readonly usedBytes: () => number;
}

/** Left free for everybody else, and for the ledger line that follows. */
const RESERVE_BYTES = 16 * 1024 * 1024;

/** A pack, its index, a lock and the ledger's next file, with room for others. */
const RESERVE_INODES = 32;

/** Refuses before a byte is written, never in the middle. */
export function createSpace({ folder, limitBytes, usedBytes }: SpaceDeps) {
  function requireFree(incoming: number): void {
    // Answered from memory: not worth the trip to another thread and back before every write.
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    const free = bavail * bsize;
    if (free < incoming + RESERVE_BYTES) throw full({ op: 'store.write', free, incoming });
    // Some file systems make them as they go and tell of none.
    if (files > 0 && ffree < RESERVE_INODES) {
      throw full({ op: 'store.write', free_inodes: ffree, limit: 'inodes' });
    }
  }

  return {
    requireFree,
    require(incoming: number): void {
      const limit = limitBytes();
      const bytes = usedBytes();
      if (bytes + incoming > limit) {
        throw new SmithyError('LIMIT_EXCEEDED', 'The hidden store has reached its limit.', {
          hint: 'Delete old dialogs, or raise the setting store.limitBytes.',
          data: {
            limit: 'store.limitBytes',
            value: limit,
            setting: 'store.limitBytes',
            bytes,
            incoming,
          },
        });
      }
      requireFree(incoming);
    },
  };
}

/** What changes will add at most. */
export function bytesOf(changes: readonly FileChange[]): number {
  return changes.reduce((sum, one) => sum + ('size' in one ? one.size : 0), 0);
}
