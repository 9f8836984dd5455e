import type { Log } from '../core/ports.js';
import type { CheckpointStore } from '../core/store.js';

/** Each checkpoint leaves a small pack; from about this many on, git slows down noticeably. */
const MANY_PACKS = 64;

/** Rolls small packs up in the background, one run at a time; checkpoints go on meanwhile. */
export function createTidying(store: CheckpointStore, log: Log): () => void {
  let isRunning = false;
  return () => {
    if (isRunning || store.sizes().packs < MANY_PACKS) return;
    isRunning = true;
    store
      .maintain()
      .then((packs) => log.write('info', 'rolled up small packs', { ...packs }))
      // Full disk, or the daemon stops: nothing is lost, the next checkpoint tries again.
      .catch((error: unknown) =>
        log.write('warn', 'repacking did not end', { error: String(error) }),
      )
      .finally(() => (isRunning = false));
  };
}
