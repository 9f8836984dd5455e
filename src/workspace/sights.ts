import type { Derived } from '../core/derived.js';
import type { DialogFact } from '../core/dialogs.js';
import type { LedgerEntry, NewEvent } from '../core/ledger.js';
import type { CommitId, Path } from '../core/model.js';
import type { Sight } from '../core/sight.js';
import type { SnapshotNote } from '../core/snapshots.js';
import type { OuterRules } from '../core/tracking.js';
import { inParts } from './dialog-book.js';
import type { EditNote } from './edit-book.js';

/** A path that is tracked because an edit of it began, whatever the rules say. */
interface LetIn {
  /** The line of that edit. */
  readonly seq: number;
  /** There was nothing then. */
  readonly isNew: boolean;
}

type Piece =
  | { readonly sight: Sight }
  /** The number of the sight among those before. */
  | { readonly of: readonly (readonly [string, number])[] }
  | { readonly letIn: readonly (readonly [string, LetIn])[] };

const BLIND: Sight = { rules: undefined, skipped: [] };

/** How far each checkpoint and snapshot could see, as the ledger tells it. */
export class Sights implements Derived {
  readonly name = 'sights';
  readonly form = 1;
  /** Most are as the one before, and then they are the same object. */
  readonly #of = new Map<string, Sight>();
  readonly #letIn = new Map<string, LetIn>();
  #last = BLIND;
  /** Only while it is loaded. */
  readonly #loaded: Sight[] = [];

  at(commit: string): Sight {
    return this.#of.get(commit) ?? BLIND;
  }

  /** Whether an edit has made the path one that a checkpoint at this position would have held. */
  wasHeld(path: Path, asOf: number): boolean {
    const found = this.#letIn.get(path);
    return found !== undefined && (found.isNew || found.seq <= asOf);
  }

  /** What a checkpoint saw is told when it is not what was told last: it may be long. */
  withNews(events: readonly NewEvent[]): NewEvent[] {
    let { rules: lastRules, skipped: lastSkipped } = this.#last;
    return events.map((event) => {
      const isSeen = committedBy(factOf(event)) !== undefined || event['snapshot'] !== undefined;
      // Most lines tell of none, and those that do mostly of the same: only then they are compared.
      if (!isSeen) return event;
      const { rules, skipped, ...rest } = event;
      const isOld = skipped === undefined || sameList(skipped as string[], lastSkipped);
      const isSame = rules === undefined || sameRules(rules as OuterRules, lastRules);
      if (!isOld) lastSkipped = skipped as string[];
      if (!isSame) lastRules = rules as OuterRules;
      return { ...rest, ...(isSame ? {} : { rules }), ...(isOld ? {} : { skipped }) };
    });
  }

  reset(): void {
    this.#of.clear();
    this.#letIn.clear();
    this.#loaded.length = 0;
    this.#last = BLIND;
  }

  fold(entry: LedgerEntry): void {
    const note = entry['edit'] as EditNote | undefined;
    if (note?.what === 'started') this.#noteLetIn(note, entry.seq);
    const seen = seenBy(entry);
    if (seen === undefined) return;
    const { skipped = this.#last.skipped } = seen;
    const rules = (entry['rules'] as OuterRules | undefined) ?? this.#last.rules;
    const isSame = sameRules(rules, this.#last.rules) && sameList(skipped, this.#last.skipped);
    if (!isSame) this.#last = { rules, skipped };
    // The newest has to be the last one: what is put aside says no more of it.
    this.#of.delete(seen.commit);
    this.#of.set(seen.commit, this.#last);
  }

  save(): unknown[] {
    const numbers = new Map([...new Set(this.#of.values())].map((sight, at) => [sight, at]));
    const of = [...this.#of].map(([commit, sight]) => [commit, numbers.get(sight) ?? 0] as const);
    const pieces: Piece[] = [...numbers.keys()].map((sight) => ({ sight }));
    for (const part of inParts(of)) pieces.push({ of: part });
    for (const part of inParts([...this.#letIn])) pieces.push({ letIn: part });
    return pieces;
  }

  load(given: unknown): void {
    const piece = given as Piece;
    if ('sight' in piece) this.#loaded.push({ ...BLIND, ...piece.sight });
    else if ('of' in piece) {
      for (const [commit, number] of piece.of) {
        this.#last = this.#loaded[number] ?? BLIND;
        this.#of.set(commit, this.#last);
      }
    } else for (const [path, letIn] of piece.letIn) this.#letIn.set(path, letIn);
  }

  #noteLetIn({ before, letIn = [] }: EditNote & { readonly what: 'started' }, seq: number): void {
    const states = new Map(before);
    for (const path of letIn) {
      if (!this.#letIn.has(path)) this.#letIn.set(path, { seq, isNew: states.get(path) === null });
    }
  }
}

/** The commit of what was on disk that a line tells of, and what that one could not take in. */
function seenBy(
  entry: LedgerEntry,
): { readonly commit: CommitId; readonly skipped?: readonly string[] } | undefined {
  const snapshot = entry['snapshot'] as SnapshotNote | undefined;
  // What another machine saw nobody has written down.
  if (snapshot?.reason === 'import') return undefined;
  if (snapshot !== undefined) return { commit: snapshot.commit, skipped: snapshot.skipped ?? [] };
  const commit = committedBy(factOf(entry));
  if (commit === undefined) return undefined;
  const skipped = entry['skipped'];
  return { commit, ...(Array.isArray(skipped) ? { skipped: skipped as string[] } : {}) };
}

function factOf(line: Readonly<Record<string, unknown>>): DialogFact | undefined {
  return line['fact'] as DialogFact | undefined;
}

function committedBy(fact: DialogFact | undefined): CommitId | undefined {
  if (fact?.what === 'created') return fact.earlier === undefined ? fact.initial : undefined;
  return fact?.what === 'saved' || fact?.what === 'approved' ? fact.commit : undefined;
}

function sameRules(some: OuterRules | undefined, others: OuterRules | undefined): boolean {
  return some === others || JSON.stringify(some) === JSON.stringify(others);
}

function sameList(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at]);
}
