import type { CommitId } from './model.js';

/** Why a snapshot was made; `manual` ones are never thinned out behind anybody's back. Append-only. */
export type SnapshotReason =
  'manual' | 'import' | 'approve' | 'branch' | 'eval' | 'events' | 'minutes' | 'bytes';

/** What the machine and the caller say about where the work was done. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | null>>;
  readonly seeds: Readonly<Record<string, number | string | null>>;
  readonly tools: Readonly<Record<string, string>>;
}

/** What the line of a snapshot says of it; its id is the line's `snapshot_ref`. */
export interface SnapshotNote extends Surroundings {
  readonly commit: CommitId;
  readonly name: string | null;
  readonly reason: SnapshotReason;
  /** The newest line when it was made. */
  readonly base: number;
  readonly files: number;
  /** Tracked paths it could not take in. */
  readonly skipped?: readonly string[];
  /** Of an imported one: what it was where it came from. */
  readonly origin?: { readonly id: string; readonly ts: string; readonly base_event_id: string };
}

export interface Snapshot extends SnapshotNote {
  readonly id: string;
  readonly ts: string;
  /** Where it was last exported to. */
  readonly tar: string | null;
}

const DIGITS = 4;

export function snapshotId(number: number): string {
  return `snap-${String(number).padStart(DIGITS, '0')}`;
}

/** The number that an id stands for, leading zeros or not; undefined for any other word. */
export function readSnapshotId(id: string): number | undefined {
  const digits = /^snap-0*([1-9]\d{0,8})$/u.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
