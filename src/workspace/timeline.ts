import type { Derived } from '../core/derived.js';
import { EventIndex } from '../core/event-index.js';
import { eventId, type Ledger, type LedgerEntry, type NewEvent } from '../core/ledger.js';
import type { EditNote } from './edit-book.js';

/** Lines between two wanted ones that are read along, because two reads cost more. */
const NEAR = 8;
/** Reads under way at once; the disk has no use for more. */
const AT_ONCE = 8;

/** The ledger as the verbs use it: every new line knows what it follows from and can be found again. */
export class Timeline implements Derived {
  readonly name = 'timeline';
  readonly form = 1;
  /** Put aside on its own: it is large and only grows. */
  readonly index = new EventIndex();
  readonly #ledger: Ledger;
  readonly #lastOf = new Map<string | null, number>();
  /** Edits without an end -> the line that opened them. */
  readonly #openedAt = new Map<string, number>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async append(events: readonly NewEvent[]): Promise<LedgerEntry[]> {
    const entries = await this.#ledger.append(events.map((event) => this.#withParent(event)));
    for (const entry of entries) this.fold(entry);
    return entries;
  }

  reset(): void {
    this.#lastOf.clear();
    this.#openedAt.clear();
  }

  save(): unknown[] {
    return [{ lastOf: [...this.#lastOf], openedAt: [...this.#openedAt] }];
  }

  load(piece: unknown): void {
    const { lastOf, openedAt } = piece as {
      readonly lastOf: readonly [string | null, number][];
      readonly openedAt: readonly [string, number][];
    };
    for (const [dialog, seq] of lastOf) this.#lastOf.set(dialog, seq);
    for (const [edit, seq] of openedAt) this.#openedAt.set(edit, seq);
  }

  fold(entry: LedgerEntry): void {
    this.index.add(entry);
    this.#lastOf.set(entry.dialog_id, entry.seq);
    const note = entry['edit'] as EditNote | undefined;
    if (note?.what === 'started') this.#openedAt.set(note.id, entry.seq);
    else if (note !== undefined && note.what !== 'passed_on') this.#openedAt.delete(note.id);
  }

  /** Lines after the newest snapshot; all of them when there is none. */
  sinceSnapshot(): number {
    const [last = 0] = this.index.find({ action: 'snapshot_create', limit: 1 });
    return this.#ledger.head().seq - last;
  }

  /** These entries, in the order in which they are named; damaged ones are left out. */
  async entries(newestFirst: readonly number[]): Promise<LedgerEntry[]> {
    const groups = neighbours(newestFirst);
    const found: LedgerEntry[] = [];
    for (let at = 0; at < groups.length; at += AT_ONCE) {
      const some = groups.slice(at, at + AT_ONCE).map((seqs) => this.#group(seqs));
      found.push(...(await Promise.all(some)).flat());
    }
    return found;
  }

  async #group(seqs: readonly number[]): Promise<LedgerEntry[]> {
    const wanted = new Set(seqs);
    const all = await this.#between(seqs.at(-1) ?? 0, seqs[0] ?? 0);
    return all.filter(({ seq }) => wanted.has(seq)).reverse();
  }

  /** All lines from the one to the other. */
  async #between(first: number, last: number): Promise<LedgerEntry[]> {
    const found: LedgerEntry[] = [];
    for (let after = first - 1; after < last;) {
      const some = await this.#ledger.read({ after, limit: last - after });
      const reached = some.at(-1)?.seq;
      if (reached === undefined) break;
      found.push(...some.filter(({ seq }) => seq <= last));
      after = reached;
    }
    return found;
  }

  /** What an edit did follows from its beginning, anything else from what its dialog did last. */
  #withParent(event: NewEvent): NewEvent {
    const note = event['edit'] as EditNote | undefined;
    const opened = note?.what === 'started' ? undefined : this.#openedAt.get(note?.id ?? '');
    const parent = opened ?? this.#lastOf.get(event.dialog_id ?? null);
    if (parent === undefined || event.parent_event_id !== undefined) return event;
    return { ...event, parent_event_id: eventId(parent) };
  }
}

/** Cut where the next one is far away. */
function neighbours(newestFirst: readonly number[]): number[][] {
  const groups: number[][] = [];
  let last = Infinity;
  for (const seq of newestFirst) {
    if (last - seq > NEAR) groups.push([seq]);
    else groups.at(-1)?.push(seq);
    last = seq;
  }
  return groups;
}
