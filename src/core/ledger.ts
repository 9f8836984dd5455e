import { z } from 'zod';
import { SmithyError } from './errors.js';

/** What an event can be about. Append-only. */
const SEED_TYPES = [
  'edit_insert',
  'edit_delete',
  'edit_replace',
  'file_create',
  'file_delete',
  'file_move',
  'file_rename',
  'checkpoint',
  'rewind',
  'branch',
  'snapshot_create',
  'eval_run',
  'meta_note',
] as const;

/** What only the daemon itself writes: the life of dialogs, sessions and edits. Append-only. */
const OWN_TYPES = [
  'dialog',
  'user',
  'session',
  'restore',
  'save',
  'edit_started',
  'edit_finished',
  'edit_aborted',
  'edit_incomplete',
  'mode_change',
  'mark',
  'recovered',
  'milestone',
  'baseline',
] as const;

export const ActionType = z.enum([...SEED_TYPES, ...OWN_TYPES]);
export type ActionType = z.output<typeof ActionType>;

const nullable = z.string().nullable().default(null);
const blobId = z
  .string()
  .regex(/^[0-9a-f]{40}$/u)
  .nullable();

const Author = z.looseObject({
  name: z.string(),
  version: nullable,
  kind: z.string(),
});

const Change = z.looseObject({
  path: z.string(),
  before: blobId,
  after: blobId,
  mode_before: z.string().optional(),
  mode_after: z.string().optional(),
});

/**
 * One event as the caller gives it. The ledger adds `id`, `seq` and `prev`; fields it does not
 * know are kept as they are, so that a newer daemon's lines survive an older one.
 */
export const NewEvent = z.looseObject({
  ts: z.iso.datetime(),
  author: Author,
  action_type: ActionType,
  branch: nullable,
  run_id: nullable,
  parent_event_id: nullable,
  files: z.array(z.string()).default([]),
  diff_path: nullable,
  affected_lines: z.array(z.unknown()).default([]),
  semantic_block: z.looseObject({ kind: z.string(), id: z.string() }).nullable().default(null),
  rationale: nullable,
  artifacts: z.array(z.unknown()).default([]),
  snapshot_ref: nullable,
  bookmark: nullable,
  dialog_id: nullable,
  session: nullable,
  changes: z.array(Change).default([]),
});
export type NewEvent = z.input<typeof NewEvent>;

/** One event as it stands in the ledger. `action_type` may be a word of a newer daemon. */
export type LedgerEntry = z.output<typeof NewEvent> & {
  readonly seq: number;
  /** `evt-` and the sequence number with at least six digits. */
  readonly id: string;
  /** SHA-256 of the line before, as 64 hex digits: the chain. */
  readonly prev: string;
};

export function eventId(seq: number): string {
  return `evt-${String(seq).padStart(6, '0')}`;
}

/** The sequence number that an id stands for, leading zeros or not; undefined for any other word. */
export function readEventId(id: string): number | undefined {
  const digits = /^evt-0*([1-9]\d{0,14})$/u.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function eventNotFound(id: string): SmithyError {
  return new SmithyError('EVENT_NOT_FOUND', `There is no event ${id.slice(0, 100)}.`, {
    hint: 'Events are named as in evt-000012; see `smithyd history`.',
    data: { id },
  });
}

/** An event at its place in the ledger. */
export function placed(event: z.output<typeof NewEvent>, seq: number, prev: string): LedgerEntry {
  const id = eventId(seq);
  const branch = event.branch ?? event.session;
  const diff_path = event.diff_path ?? (hasPatch(event) ? patchPath(id) : null);
  return { ...event, branch, diff_path, seq, id, prev };
}

/** Where the patch of an event is, below the state folder. */
export function patchPath(id: string): string {
  return `ledger/diffs/diff-${id}.patch`;
}

/** What was only noted has not been accepted, and its contents need not be in the store; those of a fold are. */
function hasPatch({ changes, ...rest }: z.output<typeof NewEvent>): boolean {
  return changes.length > 0 && (rest['noted'] !== true || rest['folded'] !== undefined);
}

/** Something in the file that is not as it was written. Everything around it stays readable. */
export interface LedgerDamage {
  readonly kind: 'bad_line' | 'chain_break' | 'duplicate_seq' | 'missing_seq' | 'bad_file';
  /** Below the ledger's folder. */
  readonly file: string;
  /** Counted from the beginning of that file, as is `offset`; 0: all of it. */
  readonly line: number;
  readonly offset: number;
  readonly detail: string;
}

/** What opening found. All zero and empty on an ordinary day. */
export interface RecoveryReport {
  readonly created: boolean;
  /** Bytes of an unfinished write, cut off and kept in `quarantined`. */
  readonly cutBytes: number;
  readonly quarantined: string | null;
  /** At most the first hundred; `damageCount` counts them all. */
  readonly damage: readonly LedgerDamage[];
  readonly damageCount: number;
}

/** What another look at the files found. */
export interface LedgerCheck {
  readonly events: number;
  readonly files: number;
  /** At most the first hundred; `damageCount` counts them all. */
  readonly damage: readonly LedgerDamage[];
  readonly damageCount: number;
}

export interface LedgerHead {
  /** 0 in an empty ledger. */
  readonly seq: number;
  readonly hash: string;
}

export interface LedgerQuery {
  /** Entries with a larger sequence number; 0 or absent means from the beginning. */
  readonly after?: number;
  readonly limit: number;
  /** No more than this many bytes of lines, but always at least one entry. */
  readonly maxBytes?: number;
}

/**
 * The append-only history of one project and the commit point of every operation: what is in it
 * happened, what is not did not.
 */
export interface Ledger {
  /** Reads and checks what changed since it was closed; also the way back after a failed flush. */
  open(): Promise<RecoveryReport>;
  /**
   * Appends all of `events` or none, and resolves when they are on the disk.
   *
   * @throws SmithyError STORAGE_FULL when there is no space: nothing was written, try again later.
   * @throws SmithyError STORAGE_IO after a failed write or flush, and from then on until `open()`.
   */
  append(events: readonly NewEvent[]): Promise<LedgerEntry[]>;
  /**
   * For whoever is about to throw something away: after a failure the lines that were refused may
   * be in the file all the same, and the next start takes them for what happened.
   *
   * @throws SmithyError STORAGE_IO while nothing more is acknowledged.
   */
  requireSound(): void;
  head(): LedgerHead;
  /** Oldest first. Damaged lines are left out: the report of `open()` names them. */
  read(query: LedgerQuery): Promise<LedgerEntry[]>;
  /** SHA-256 of a line, as the one after it has it; undefined when there is no such line. */
  hashOf(seq: number): Promise<string | undefined>;
  /** Reads all files again and checks every line of them; changes nothing. */
  verify(): Promise<LedgerCheck>;
  stats(): { readonly events: number; readonly bytes: number };
  /** Waits for appends under way. */
  close(): Promise<void>;
}

/** Patches of events, for people and other programs. One is written at a time. */
export interface PatchFiles {
  /** Only those of the newest events are kept. */
  write(id: string, bytes: Uint8Array): Promise<void>;
  has(id: string): Promise<boolean>;
  /** Ids of those that are there, the oldest first. */
  list(): Promise<string[]>;
  /** Undefined: it is not there any more. */
  read(id: string): Promise<Uint8Array | undefined>;
  /** For good, if it is there. */
  remove(id: string): Promise<void>;
}
