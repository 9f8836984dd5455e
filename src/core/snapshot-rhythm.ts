import type { LedgerEntry } from './ledger.js';
import type { SnapshotReason } from './snapshots.js';

/** As in the settings. */
export interface Rhythm {
  readonly everyEvents: number;
  readonly everyActiveMinutes: number;
  readonly everyPatchBytes: number;
}

/** A longer pause between two changes is no editing. */
const LONGEST_PAUSE_MS = 5 * 60_000;
const MINUTE_MS = 60_000;

/** By the lines alone. */
export interface Tally {
  readonly events: number;
  readonly activeMs: number;
  readonly lastChange?: number;
  readonly boundary?: SnapshotReason;
}

export const NOTHING_YET: Tally = { events: 0, activeMs: 0 };

/** What has happened since the newest snapshot, and whether that is worth another one. */
export class SinceSnapshot {
  #tally = NOTHING_YET;
  /** What had happened when it was found to be worth none. */
  #skipped = NOTHING_YET;
  #patchBytes = 0;

  get tally(): Tally {
    return this.#tally;
  }

  take(tally: Tally): void {
    this.#tally = tally;
    this.#skipped = NOTHING_YET;
    this.#patchBytes = 0;
  }

  /** Lines that tell of accepted changes since. */
  get events(): number {
    return this.#tally.events;
  }

  /** In the order of the ledger. */
  fold(entry: LedgerEntry): void {
    const { lastChange: last } = this.#tally;
    if (entry.action_type === 'snapshot_create') {
      this.take(last === undefined ? NOTHING_YET : { ...NOTHING_YET, lastChange: last });
    }
    const boundary = boundaryOf(entry);
    if (boundary !== undefined) {
      this.#tally = { ...this.#tally, boundary };
      this.#skipped = { events: this.#skipped.events, activeMs: this.#skipped.activeMs };
    }
    if (entry.changes.length === 0 || entry['noted'] === true) return;
    const { events, activeMs } = this.#tally;
    const lastChange = Date.parse(entry.ts);
    const pause = lastChange - (last ?? lastChange);
    const isActive = pause > 0 && pause <= LONGEST_PAUSE_MS;
    this.#tally = {
      ...this.#tally,
      events: events + 1,
      activeMs: isActive ? activeMs + pause : activeMs,
      lastChange,
    };
  }

  /** A patch of this many bytes came to be. */
  patched(bytes: number): void {
    this.#patchBytes += bytes;
  }

  due({ everyEvents, everyActiveMinutes, everyPatchBytes }: Rhythm): SnapshotReason | undefined {
    const { boundary, events, activeMs } = this.#tally;
    if (boundary !== undefined && this.#skipped.boundary === undefined) return boundary;
    if (events - this.#skipped.events >= everyEvents) return 'events';
    if (activeMs - this.#skipped.activeMs >= everyActiveMinutes * MINUTE_MS) return 'minutes';
    return this.#patchBytes > everyPatchBytes ? 'bytes' : undefined;
  }

  /** There would be nothing new in one: as if it had been made. */
  skip(): void {
    this.#skipped = this.#tally;
    this.#patchBytes = 0;
  }
}

/** Where a chapter of the work ends. */
function boundaryOf(entry: LedgerEntry): SnapshotReason | undefined {
  if (entry.action_type === 'eval_run') return 'eval';
  const fact = entry['fact'] as { readonly what: string } | undefined;
  if (fact?.what === 'approved') return 'approve';
  return fact?.what === 'rewound' ? 'branch' : undefined;
}
