import { SmithyError } from '../core/errors.js';
import type { Watcher } from '../core/watching.js';

/** Waits until everything that ended before is known; refuses to go on without that certainty. */
export async function settled(watcher: Watcher): Promise<void> {
  const { fresh } = await watcher.settle();
  if (fresh) return;
  throw new SmithyError('BUSY', 'It is not certain that every change has been seen.', {
    hint: 'See `smithyd status` for the reason; call again in a moment.',
    data: { retry_after_ms: 1000 },
  });
}
