import { statfsSync } from 'node:fs';
import { SmithyError } from '../core/errors.js';

/** Kept free: a disk filled to the last byte breaks more than a restore. */
const RESERVE = 1024 * 1024;

/**
 * Refuses before the first replace what cannot end well. Replaced files free their space only one
 * by one, so the whole amount is asked for.
 */
export function requireSpace(root: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(root);
  const free = bavail * bsize;
  if (bytes + RESERVE <= free) return;
  throw new SmithyError(
    'STORAGE_FULL',
    `The restore writes ${bytes} bytes, but only ${free} are free.`,
    {
      hint: 'Free some space, or restore fewer paths.',
      data: { needed: bytes + RESERVE, free },
    },
  );
}
