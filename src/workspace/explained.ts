import type { Derived } from '../core/derived.js';
import type { DialogFact } from '../core/dialogs.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { Hash, Path } from '../core/model.js';
import type { FileMode, FileState } from '../core/watching.js';
import type { KnownAt } from './claims.js';
import { savedBy } from './dialog-book.js';

const PART = 200;

/**
 * What the lines since the last checkpoint made known, with that one's own, which tells what was in
 * the hands of edits. The checkpoint holds all that could be explained before.
 */
export class ExplainedSince implements Derived {
  readonly name = 'explained';
  readonly form = 1;
  readonly #states = new Map<Path, FileState | null>();

  get states(): ReadonlyMap<Path, FileState | null> {
    return this.#states;
  }

  reset(): void {
    this.#states.clear();
  }

  fold(entry: LedgerEntry): void {
    const fact = entry['fact'] as DialogFact | undefined;
    if (fact !== undefined && savedBy(fact) !== undefined) this.#states.clear();
    for (const [path, state] of explainedBy(entry)) this.#states.set(path, state);
  }

  save(): unknown[] {
    const all = [...this.#states];
    const parts: KnownAt[][] = [];
    for (let at = 0; at < all.length; at += PART) parts.push(all.slice(at, at + PART));
    return parts;
  }

  load(piece: unknown): void {
    for (const [path, state] of piece as readonly KnownAt[]) this.#states.set(path, state);
  }
}

/** What a line makes known: its changes, unless they were only noted, and what it says outright. */
export function explainedBy(entry: LedgerEntry): KnownAt[] {
  const changes = entry['noted'] === true ? [] : entry.changes;
  return [
    ...changes.map(({ path, after, mode_after: mode }): KnownAt => {
      return [path as Path, toState(after, mode)];
    }),
    ...((entry['known'] as readonly KnownAt[] | undefined) ?? []),
  ];
}

export function toState(hash: string | null, mode: string | undefined): FileState | null {
  return hash === null ? null : { hash: hash as Hash, mode: (mode ?? '100644') as FileMode };
}
