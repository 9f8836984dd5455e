import type { DoubtReason } from './watching.js';

/**
 * The kernel drops events when its queue is full, and libuv drops the record that says so. A full
 * queue is read in one go, so a read this large is taken for an overflow. Half, because events of
 * folders no longer watched fill the queue without being counted.
 */
export function looksLikeOverflow(eventsInOneRead: number, queueLimit: number): boolean {
  return eventsInOneRead >= queueLimit / 2;
}

export interface Beat {
  /** How long the timer was set for. */
  readonly expectedMs: number;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

// Far above any pause of a healthy process on a loaded machine.
const STALL_MS = 5_000;

/** What a late or odd heartbeat says: the process stood still, or the whole machine slept. */
export function judgeBeat(beat: Beat): DoubtReason | undefined {
  if (beat.monotonicMs - beat.expectedMs > STALL_MS) return 'stall';
  // The monotonic clock stands still while a machine sleeps; also catches a wall clock set anew,
  // after which stamps no longer order.
  if (Math.abs(beat.wallMs - beat.monotonicMs) > STALL_MS) return 'sleep';
  return undefined;
}

export interface ScanPolicy {
  readonly healthyMs: number;
  readonly degradedMs: number;
}

/**
 * When to scan next. A scan never costs more than a fixed share of the time: 1/300 when events
 * arrive and scans only back them up, 1/20 when scans are all there is.
 */
export function nextScanIn(policy: ScanPolicy, lastScanMs: number, degraded: boolean): number {
  return degraded
    ? Math.max(policy.degradedMs, lastScanMs * 20)
    : Math.max(policy.healthyMs, lastScanMs * 300);
}

export const REMEDIES: Readonly<Partial<Record<DoubtReason, string>>> = {
  watch_limit:
    'Raise fs.inotify.max_user_watches (sysctl) or ulimit -n, or exclude large folders; until then changes are found by scanning.',
  files_limit:
    'Raise ulimit -n (or fs.file-max) for the daemon and start it again, or close some of its clients; until then changes are found by scanning.',
  no_events:
    'This file system does not tell of changes made elsewhere, so every answer scans first; a local disk is faster.',
  watch_failed: 'See the daemon log for the folder; until then changes are found by scanning.',
};
