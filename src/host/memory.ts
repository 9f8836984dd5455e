import type { Clock } from '../core/ports.js';

/** Asking the kernel opens a file, which costs more than all the rest of a `status`. */
const SAMPLE_MS = 250;

/** Resident memory of this process, as a rule at most a quarter of a second old. */
export function memorySampler(clock: Clock): () => number {
  let bytes = 0;
  let sampledAt = -Infinity;
  return () => {
    const now = clock.monotonic();
    if (now - sampledAt >= SAMPLE_MS) {
      bytes = sample() ?? bytes;
      sampledAt = now;
    }
    return bytes;
  };
}

function sample(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    // No descriptor left for it: a status must say so, and an old number does no harm.
    return undefined;
  }
}
