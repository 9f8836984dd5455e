import { readSnapshotId, type Snapshot } from './snapshots.js';

/** As in the settings. */
export interface SnapshotRule {
  readonly keepLast: number;
  readonly keepEvery: number;
}

/** Why a snapshot stays; the first that fits. */
export const KEPT_FOR = ['bookmarked', 'in_use', 'newest', 'every', 'asked_for'] as const;
type KeptFor = (typeof KEPT_FOR)[number];

export interface Held {
  readonly isBookmarked: (snapshot: Snapshot) => boolean;
  /** Somebody reads it now. */
  readonly isInUse: (snapshot: Snapshot) => boolean;
  /** Nobody asked for this: what a person made by hand is not taken away behind their back. */
  readonly isUnattended: boolean;
}

export interface Thinning {
  /** Oldest first. */
  readonly go: readonly Snapshot[];
  readonly stay: Readonly<Record<KeptFor, number>>;
}

/**
 * Which snapshots go. "Every tenth" is told by a snapshot's own number, so that what stays today
 * stays tomorrow; by its place in the list each run would take nine tenths of what the last one left.
 */
export function thin(snapshots: readonly Snapshot[], rule: SnapshotRule, held: Held): Thinning {
  const go: Snapshot[] = [];
  const stay = { bookmarked: 0, in_use: 0, newest: 0, every: 0, asked_for: 0 };
  const firstNewest = snapshots.length - rule.keepLast;
  snapshots.forEach((snapshot, at) => {
    const why = keptFor(snapshot, { ...rule, ...held, isNewest: at >= firstNewest });
    if (why === undefined) go.push(snapshot);
    else stay[why] += 1;
  });
  return { go, stay };
}

function keptFor(
  snapshot: Snapshot,
  { isBookmarked, isInUse, isUnattended, isNewest, keepEvery }: Held & SnapshotRule & Place,
): KeptFor | undefined {
  if (isBookmarked(snapshot)) return 'bookmarked';
  if (isInUse(snapshot)) return 'in_use';
  if (isNewest) return 'newest';
  if ((readSnapshotId(snapshot.id) ?? 0) % keepEvery === 0) return 'every';
  const isByHand = snapshot.reason === 'manual' || snapshot.reason === 'import';
  return isUnattended && isByHand ? 'asked_for' : undefined;
}

interface Place {
  readonly isNewest: boolean;
}

/** Each line about it costs as much as the next; one a day is soon enough for most projects. */
const WORTH_THINNING = 10;

export function isWorthThinning({ go }: Thinning): boolean {
  return go.length >= WORTH_THINNING;
}

/** What is known of the store between two prunes. */
export interface StoreLook {
  readonly bytes: number;
  readonly limitBytes: number;
  /** Snapshots that went and still take space. */
  readonly thinned: number;
  /** Runs that were folded and still take space. */
  readonly folded: number;
  /** What the last prune left; undefined before the first. */
  readonly bytesThen: number | undefined;
  /** Since the last one of this daemon; Infinity before that. */
  readonly sinceMs: number;
}

/** A snapshot's own share is its changed trees, some KB: less is not worth writing the store anew. */
const MANY_THINNED = 50;
/** From here on whatever can go should. */
const NEARLY_FULL = 0.8;
/** A prune that found nothing finds something when there is more. */
const GROWN = 1.05;
const SHORTEST_PAUSE_MS = 60 * 60_000;

/** Whether giving space back is worth it now: it reads and writes the whole store. */
export function isWorthPruning(look: StoreLook): boolean {
  const { bytes, limitBytes, thinned, folded, bytesThen, sinceMs } = look;
  if (sinceMs < SHORTEST_PAUSE_MS) return false;
  // Somebody wants the space of a fold, or it would not have been made.
  if (thinned >= MANY_THINNED || folded > 0) return true;
  if (bytes < limitBytes * NEARLY_FULL) return false;
  return thinned > 0 || bytesThen === undefined || bytes >= bytesThen * GROWN;
}

const GB = 1024 ** 3;

/** What to tell when the store is nearly full though nothing more can go by itself. */
export function fullness(bytes: number, limitBytes: number): string | undefined {
  if (bytes < limitBytes * NEARLY_FULL) return undefined;
  const share = limitBytes === 0 ? 100 : Math.floor((100 * bytes) / limitBytes);
  const limit = (limitBytes / GB).toFixed(1);
  return (
    `The store is at ${share} % of store.limitBytes (${limit} GiB). ` +
    'Delete dialogs that are no longer needed (`smithyd dialog rm`), let go of old contents ' +
    '(`smithyd gc --fold 30`), or raise the limit.'
  );
}
