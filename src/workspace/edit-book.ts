import type { Derived } from '../core/derived.js';
import type { EditFacts } from '../core/edits.js';
import { SmithyError } from '../core/errors.js';
import type { Ledger, LedgerEntry, NewEvent } from '../core/ledger.js';
import type { EditId, Path } from '../core/model.js';
import type { Clock } from '../core/ports.js';
import { resolveId } from '../core/resolve-id.js';
import type { FileState } from '../core/watching.js';
import type { KnownAt } from './claims.js';
import { explainedBy } from './explained.js';

/** What a ledger line says about an edit. `passed_on`: part of it, and it goes on. */
export type EditEnd = 'finalized' | 'aborted' | 'incomplete';
export type EditNote =
  | {
      readonly what: 'started';
      readonly id: EditId;
      readonly facts: EditFacts;
      readonly before: readonly KnownAt[];
      readonly newFolders: readonly Path[];
      /** Paths that the rules leave out and that are tracked from here on. */
      readonly letIn?: readonly Path[];
      /** Of a project edit: what was on disk in nobody's hands and was not what was known. */
      readonly begun?: readonly KnownAt[];
      /** Of a project edit: what others like it had touched by then, and what that was before. */
      readonly touched?: readonly (readonly [EditId, readonly KnownAt[]])[];
    }
  | {
      readonly what: 'passed_on' | EditEnd;
      readonly id: EditId;
      /** What is on disk where it had a path, explained nothing and that is not what is known. */
      readonly gaveBack?: readonly KnownAt[];
    };

/** An edit as its lines tell it. */
export interface EditRecord {
  /** Position of the line that opened it. */
  readonly since: number;
  readonly facts: EditFacts;
  readonly before: ReadonlyMap<Path, FileState | null>;
  readonly newFolders: readonly Path[];
  /** What a project edit found unexplained and in nobody's hands, and what was given back so since. */
  readonly begun: Map<Path, FileState | null>;
  /** What a project edit had changed when the next one began, and what that was before. */
  touched: Map<Path, FileState | null>;
  /** Lines with its changes, in order. */
  readonly lines: number[];
  /** Undefined while it is open. */
  end: EditEnd | undefined;
  endedAt: number;
}

/** What those who listen are told of a line besides what it says. */
export type Details = (entry: LedgerEntry) => object;

export interface EditBookDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Runs last, with the lines in their order: for those who listen. */
  readonly told: (entries: readonly LedgerEntry[], more?: Details) => void;
}

/** Enough for any caller to repeat a call whose answer was lost. */
const MOST_REMEMBERED = 1_000;
/** How long an edit that nobody ended can still be settled. */
const SETTLE_MS = 24 * 60 * 60 * 1_000;

/** All edits as the ledger tells them. */
export class EditBook implements Derived {
  readonly name = 'edits';
  readonly form = 2;
  readonly #deps: EditBookDeps;
  readonly #records = new Map<EditId, EditRecord>();
  readonly #requests = new Map<string, EditId>();
  readonly #openProjects = new Set<EditRecord>();

  constructor(deps: EditBookDeps) {
    this.#deps = deps;
  }

  /** All of them on the disk in one go, then in memory. */
  async append(events: readonly NewEvent[], more?: Details): Promise<LedgerEntry[]> {
    const entries = await this.#deps.ledger.append(events);
    for (const entry of entries) this.fold(entry);
    this.#deps.told(entries, more);
    return entries;
  }

  reset(): void {
    for (const known of [this.#records, this.#requests, this.#openProjects]) known.clear();
  }

  save(): unknown[] {
    return [...this.#records.values()].map(toSaved);
  }

  load(piece: unknown): void {
    const record = fromSaved(piece as ReturnType<typeof toSaved>);
    const { facts, end } = record;
    this.#records.set(facts.id, record);
    if (facts.scope === 'project' && end === undefined) this.#openProjects.add(record);
    if (facts.requestId !== null) this.#requests.set(facts.requestId, facts.id);
  }

  fold(entry: LedgerEntry): void {
    const note = entry['edit'] as EditNote | undefined;
    this.#explained(entry);
    if (note !== undefined) this.#note(note, entry);
  }

  /** Undefined when the line is damaged: the next one would be somebody else's. */
  async entry(seq: number): Promise<LedgerEntry | undefined> {
    const [entry] = await this.#deps.ledger.read({ after: seq - 1, limit: 1 });
    return entry?.seq === seq ? entry : undefined;
  }

  /** Edits without an end: of this run, or of one that was cut off. */
  open(): EditRecord[] {
    return [...this.#records.values()].filter(({ end }) => end === undefined);
  }

  /** Ended by time or by a crash, and still waiting for somebody to say what became of them. */
  incomplete(): EditRecord[] {
    return [...this.#records.values()].filter((record) => this.#canBeSettled(record));
  }

  /** What its lines tell may still be taken back. */
  isUnsettled(id: EditId): boolean {
    const record = this.#records.get(id);
    if (record === undefined) return false;
    return record.end === undefined || this.#canBeSettled(record);
  }

  hasOpenProject(): boolean {
    return this.#openProjects.size > 0;
  }

  /** From this line on what lines tell may still be taken back. */
  heldFrom(): number {
    return Math.min(Infinity, ...[...this.open(), ...this.incomplete()].map(({ since }) => since));
  }

  byRequest(requestId: string): EditRecord | undefined {
    const id = this.#requests.get(requestId);
    return id === undefined ? undefined : this.#records.get(id);
  }

  /** By id or its beginning. @throws SmithyError EDIT_NOT_FOUND, AMBIGUOUS_ID */
  find(given: string): EditRecord {
    const record = this.#records.get(given as EditId) ?? this.#resolve(given);
    if (record.end === 'incomplete' && !this.#canBeSettled(record)) {
      throw new SmithyError('EDIT_NOT_FOUND', `The edit ${given} ended more than a day ago.`, {
        hint: 'Its changes stay; use `smithyd restore` to go back.',
        data: { id: given, near: [] },
      });
    }
    return record;
  }

  #resolve(given: string): EditRecord {
    const known = this.#records.keys();
    const id = resolveId({ what: 'edit', given, known, missing: 'EDIT_NOT_FOUND' });
    const record = this.#records.get(id as EditId);
    if (record === undefined) throw new Error(`edit ${id} was resolved and is not there`);
    return record;
  }

  #explained(entry: LedgerEntry): void {
    // A checkpoint repeats what is known of paths in the hands of edits; nothing came of them by that.
    if (this.#openProjects.size === 0 || entry['fact'] !== undefined) return;
    for (const [path] of explainedBy(entry)) {
      for (const { begun } of this.#openProjects) begun.delete(path);
    }
  }

  #canBeSettled({ end, endedAt }: EditRecord, now = this.#deps.clock.now()): boolean {
    return end === 'incomplete' && now - endedAt < SETTLE_MS;
  }

  #note(note: EditNote, { seq, ts, changes }: LedgerEntry): void {
    if (note.what === 'started') {
      this.#started(note, seq);
      return;
    }
    const record = this.#records.get(note.id);
    if (record === undefined) return;
    if (changes.length > 0) record.lines.push(seq);
    if (note.what === 'passed_on') return;
    record.end = note.what;
    this.#openProjects.delete(record);
    for (const { begun, touched } of this.#openProjects) {
      for (const [path, state] of note.gaveBack ?? []) begun.set(path, state);
      // What it had been given by another is not that one's any more.
      for (const path of record.before.keys()) touched.delete(path);
    }
    record.endedAt = Date.parse(ts);
    this.#trim(record.endedAt);
  }

  #started(note: EditNote & { readonly what: 'started' }, since: number): void {
    const { id, facts, newFolders } = note;
    for (const [other, touched] of note.touched ?? []) {
      const record = this.#records.get(other);
      if (record !== undefined) record.touched = new Map(touched);
    }
    const record: EditRecord = {
      ...{ since, facts, newFolders, before: new Map(note.before), begun: new Map(note.begun) },
      ...{ touched: new Map(), lines: [], end: undefined, endedAt: 0 },
    };
    this.#records.set(id, record);
    if (facts.scope === 'project') this.#openProjects.add(record);
    if (facts.requestId !== null) this.#requests.set(facts.requestId, id);
  }

  /** By the time of the line and not by the clock: read again it leads to the same. */
  #trim(now: number): void {
    if (this.#records.size <= MOST_REMEMBERED) return;
    for (const [id, record] of this.#records) {
      if (this.#records.size <= MOST_REMEMBERED) return;
      if (record.end === undefined || this.#canBeSettled(record, now)) continue;
      this.#records.delete(id);
      // It may name a later one by now.
      const { requestId } = record.facts;
      if (requestId !== null && this.#requests.get(requestId) === id) {
        this.#requests.delete(requestId);
      }
    }
  }
}

/** The copy of a record: it goes on changing. */
function toSaved({ since, facts, newFolders, before, begun, touched, ...rest }: EditRecord) {
  const states = { before: [...before], begun: [...begun], touched: [...touched] };
  const { lines, end = null, endedAt } = rest;
  return { since, facts, newFolders, ...states, lines: [...lines], end, endedAt };
}

function fromSaved({ before, begun, touched, ...saved }: ReturnType<typeof toSaved>): EditRecord {
  const states = { before: new Map(before), begun: new Map(begun), touched: new Map(touched) };
  return { ...saved, ...states, end: saved.end ?? undefined };
}
