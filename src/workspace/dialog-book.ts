import {
  activeSession,
  applyFact,
  createDialogState,
  type DialogFact,
  type DialogState,
} from '../core/dialogs.js';
import type { Derived } from '../core/derived.js';
import { SmithyError } from '../core/errors.js';
import {
  eventId,
  type ActionType,
  type Ledger,
  type LedgerEntry,
  type NewEvent,
} from '../core/ledger.js';
import type { CommitId, DialogId } from '../core/model.js';
import type { Clock } from '../core/ports.js';
import { resolveId } from '../core/resolve-id.js';
import type { KnownAt } from './claims.js';

export interface BookDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly version: string;
  /** Paths in the hands of edits: a checkpoint holds them, and that explains nothing. */
  readonly underWay: () => readonly KnownAt[];
  /** Runs after facts were recorded: for projections. */
  readonly recorded: (book: DialogBook, dialog: DialogId, told: Told) => void;
  /** The same for lines that came along and are no facts of a dialog. */
  readonly alsoRecorded: (entries: readonly LedgerEntry[]) => void;
  /** Runs last, with all lines in their order: for those who listen. */
  readonly told: (entries: readonly LedgerEntry[]) => void;
}

export interface Told {
  readonly entries: readonly LedgerEntry[];
  /** Position of the dialog's line before them; 0 when they are its first. */
  readonly after: number;
}

/** One fact together with what its ledger line tells besides. */
export interface Recorded {
  readonly fact: DialogFact;
  readonly line?: Partial<Omit<NewEvent, 'ts' | 'author' | 'action_type'>>;
}

/** One checkpoint, in the order in which they were made. */
export interface Made {
  readonly commit: CommitId;
  /** `main` for the first one. */
  readonly session: string;
  /** Position of the line that tells of it. */
  readonly seq: number;
}

/** A checkpoint of what was on disk then. */
export interface SavedAt {
  readonly dialog: DialogId;
  /** Position of the line that tells of it. */
  readonly seq: number;
  readonly commit: CommitId;
}

/** The commit that is what is on disk after a fact. */
export function savedBy(fact: DialogFact): CommitId | undefined {
  // What an older program saved says nothing about the files as they are now.
  if (fact.what === 'created') return fact.earlier === undefined ? fact.initial : undefined;
  if (fact.what === 'saved') return fact.commit;
  return fact.what === 'reset' || fact.what === 'rewound' ? fact.tip : undefined;
}

const ACTION_OF: Readonly<Record<DialogFact['what'], ActionType>> = {
  created: 'dialog',
  used: 'dialog',
  deleted: 'dialog',
  saved: 'save',
  message: 'user',
  approved: 'session',
  reset: 'session',
  rewound: 'rewind',
  moved: 'restore',
};

/** The words of lines that tell of a dialog itself, and not of its files. */
export const FACT_ACTIONS: readonly ActionType[] = [...new Set(Object.values(ACTION_OF))];

/** What is put aside: one of these each. */
type SavedPiece =
  | { readonly dialog: DialogState }
  | { readonly saves: readonly SavedAt[] }
  | { readonly made: readonly [DialogId, readonly Made[]] }
  | {
      readonly current: DialogId | null;
      readonly isNewestGone: boolean;
      readonly everKnown: readonly string[];
      readonly lastSeq: readonly (readonly [DialogId, number])[];
      readonly movedAt: readonly (readonly [DialogId, number])[];
    };

const PART = 500;

/** Few enough for one piece of what is put aside. */
export function inParts<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < all.length; at += PART) parts.push(all.slice(at, at + PART));
  return parts;
}

/** All dialogs as the ledger tells them. What is recorded here has happened. */
export class DialogBook implements Derived {
  readonly name = 'dialogs';
  readonly form = 2;
  readonly #deps: BookDeps;
  readonly #dialogs = new Map<DialogId, DialogState>();
  readonly #lastSeq = new Map<DialogId, number>();
  readonly #movedAt = new Map<DialogId, number>();
  readonly #made = new Map<DialogId, Made[]>();
  readonly #everKnown = new Set<string>();
  #current: DialogId | null = null;
  /** Oldest first; those of deleted dialogs are no help any more. */
  #saves: SavedAt[] = [];
  /** The newest of all was of a dialog that is gone: nothing tells what was known then. */
  #isNewestGone = false;

  constructor(deps: BookDeps) {
    this.#deps = deps;
  }

  get current(): DialogId | null {
    return this.#current;
  }

  list(): DialogState[] {
    return [...this.#dialogs.values()];
  }

  /** By id or its beginning; without one the current dialog, if there is any. */
  find(given: string | undefined): DialogState | undefined {
    if (given === undefined) {
      return this.#current === null ? undefined : this.#dialogs.get(this.#current);
    }
    const known = [...this.#dialogs.keys()];
    const id = resolveId({ what: 'dialog', given, known, missing: 'DIALOG_NOT_FOUND' });
    return this.#dialogs.get(id as DialogId);
  }

  /** The whole id. The ledger also remembers dialogs that are gone, but only by their whole id. */
  idOf(given: string): string {
    return this.#everKnown.has(given) ? given : (this.find(given)?.id ?? given);
  }

  get(id: DialogId): DialogState {
    const state = this.#dialogs.get(id);
    if (state !== undefined) return state;
    throw new SmithyError('DIALOG_NOT_FOUND', `There is no dialog ${id}.`, {
      hint: 'See `smithyd dialog list`.',
      data: { id },
    });
  }

  /** The newest checkpoint of all dialogs, if its dialog is still there. */
  get lastSaved(): SavedAt | undefined {
    return this.#isNewestGone ? undefined : this.#saves.at(-1);
  }

  /**
   * The nearest checkpoint that was made up to this position.
   *
   * @throws SmithyError CHECKPOINT_NOT_FOUND when it went with its dialog.
   */
  savedBefore(seq: number): SavedAt {
    const saved = this.savedUpTo(seq);
    if (saved !== undefined) return saved;
    throw new SmithyError('CHECKPOINT_NOT_FOUND', 'No checkpoint from so long ago is left.', {
      hint: 'It went with its dialog; see `smithyd log`.',
      data: { id: eventId(seq), near: [] },
    });
  }

  /** The same; undefined when there is none. */
  savedUpTo(seq: number): SavedAt | undefined {
    return this.#saves.findLast((one) => one.seq <= seq);
  }

  /** The nearest checkpoint that was made after this position. */
  savedAfter(seq: number): SavedAt | undefined {
    return this.#saves.find((one) => one.seq > seq);
  }

  /** Whether the ledger ever told of it, deleted or not. */
  wasKnown(id: string): boolean {
    return this.#everKnown.has(id);
  }

  /** Position of the dialog's newest line. */
  lastSeq(id: DialogId): number {
    return this.#lastSeq.get(id) ?? 0;
  }

  /** Position of the dialog's newest line that took the project elsewhere: a restore, a reset. */
  movedAt(id: DialogId): number {
    return this.#movedAt.get(id) ?? 0;
  }

  /** All checkpoints of a dialog, oldest first. */
  made(id: DialogId): readonly Made[] {
    return this.#made.get(id) ?? [];
  }

  /** Where in the ledger a checkpoint was made; undefined for a commit that is none. */
  madeAt(id: DialogId, commit: CommitId): number | undefined {
    return this.made(id).find((made) => made.commit === commit)?.seq;
  }

  /** Before the ledger is read from its beginning. */
  reset(): void {
    for (const known of [this.#dialogs, this.#lastSeq, this.#made]) known.clear();
    this.#movedAt.clear();
    this.#everKnown.clear();
    this.#current = null;
    this.#saves = [];
    this.#isNewestGone = false;
  }

  save(): unknown[] {
    const pieces: SavedPiece[] = [
      {
        ...{ current: this.#current, isNewestGone: this.#isNewestGone },
        everKnown: [...this.#everKnown],
        lastSeq: [...this.#lastSeq],
        movedAt: [...this.#movedAt],
      },
    ];
    for (const dialog of this.#dialogs.values()) pieces.push({ dialog });
    for (const [id, all] of this.#made) {
      for (const part of inParts(all)) pieces.push({ made: [id, part] });
    }
    for (const saves of inParts(this.#saves)) pieces.push({ saves });
    return pieces;
  }

  load(given: unknown): void {
    const piece = given as SavedPiece;
    if ('dialog' in piece) this.#dialogs.set(piece.dialog.id, piece.dialog);
    else if ('saves' in piece) this.#saves.push(...piece.saves);
    else if ('made' in piece) {
      const [id, part] = piece.made;
      this.#made.set(id, [...this.made(id), ...part]);
    } else {
      this.#current = piece.current;
      this.#isNewestGone = piece.isNewestGone;
      for (const id of piece.everKnown) this.#everKnown.add(id);
      for (const [id, seq] of piece.lastSeq) this.#lastSeq.set(id, seq);
      for (const [id, seq] of piece.movedAt) this.#movedAt.set(id, seq);
    }
  }

  /** All of them on the disk in one go, then in memory; `also` are lines of other kinds. */
  async record(
    dialog: DialogId,
    facts: readonly Recorded[],
    also: readonly NewEvent[] = [],
  ): Promise<LedgerEntry[]> {
    const ts = new Date(this.#deps.clock.now()).toISOString();
    const author = { name: 'smithyd', version: this.#deps.version, kind: 'daemon' };
    const known = this.#deps.underWay();
    const events = facts.map(({ fact, line = {} }): NewEvent => {
      const held = known.length > 0 && savedBy(fact) !== undefined ? { known } : {};
      const action_type = ACTION_OF[fact.what];
      return { ...line, ...held, ts, author, action_type, dialog_id: dialog, fact };
    });
    const all = await this.#deps.ledger.append([...also, ...events]);
    this.#deps.alsoRecorded(all.slice(0, also.length));
    const entries = all.slice(also.length);
    const after = this.lastSeq(dialog);
    for (const entry of entries) this.fold(entry);
    this.#deps.recorded(this, dialog, { entries, after });
    this.#deps.told(all);
    return entries;
  }

  fold(entry: LedgerEntry): void {
    if (entry.dialog_id === null) return;
    const id = entry.dialog_id as DialogId;
    if (entry['told'] !== undefined && this.#dialogs.has(id)) this.#lastSeq.set(id, entry.seq);
    const fact = entry['fact'] as DialogFact | undefined;
    if (fact !== undefined) this.#foldFact(id, entry, fact);
  }

  #foldFact(id: DialogId, entry: LedgerEntry, fact: DialogFact): void {
    this.#lastSeq.set(id, entry.seq);
    const onDisk = savedBy(fact);
    if (onDisk !== undefined) {
      this.#saves.push({ dialog: id, seq: entry.seq, commit: onDisk });
      this.#isNewestGone = false;
    }
    this.#everKnown.add(id);
    if (fact.what === 'created') this.#dialogs.set(id, createDialogState(id, entry.ts, fact));
    if (fact.what === 'created' || fact.what === 'used') this.#current = id;
    if (fact.what === 'deleted') this.#delete(id);
    const state = this.#dialogs.get(id);
    if (state === undefined) return;
    this.#note(state, fact, entry.seq);
    this.#dialogs.set(id, applyFact(state, entry.ts, fact));
  }

  #note(state: DialogState, fact: DialogFact, seq: number): void {
    const { what } = fact;
    if (what === 'moved' || what === 'reset' || what === 'rewound')
      this.#movedAt.set(state.id, seq);
    if (what === 'rewound') {
      this.#made.get(state.id)?.push({ commit: fact.tip, session: fact.session, seq });
    }
    if (fact.what === 'created') {
      const commits = [fact.initial, ...(fact.earlier?.commits ?? [])];
      this.#made.set(
        state.id,
        commits.map((commit) => ({ commit, session: 'main', seq })),
      );
    }
    // An approval of nothing names the one before.
    const isNew =
      fact.what === 'saved' || (fact.what === 'approved' && fact.commit !== state.approved);
    if (!isNew) return;
    this.#made
      .get(state.id)
      ?.push({ commit: fact.commit, session: activeSession(state).name, seq });
  }

  #delete(id: DialogId): void {
    this.#isNewestGone ||= this.#saves.at(-1)?.dialog === id;
    this.#saves = this.#saves.filter(({ dialog }) => dialog !== id);
    this.#dialogs.delete(id);
    this.#lastSeq.delete(id);
    this.#movedAt.delete(id);
    this.#made.delete(id);
    if (this.#current === id) this.#current = [...this.#dialogs.keys()].at(-1) ?? null;
  }
}
