import type { EditId } from '../core/model.js';
import type { MayRemove } from './edit-aborts.js';

/** The other end of a connected edit. */
export interface Holder {
  /** The same object for all calls of one connection. */
  readonly identity: object;
  readonly onGone: (release: () => void) => void;
}

/** What is remembered of an edit only as long as it is open. */
interface Tie {
  readonly mayRemove: MayRemove;
  /** Undefined: it is tied to its time alone. */
  readonly holder: object | undefined;
  readonly expiresAt: number | undefined;
  readonly timer: NodeJS.Timeout | undefined;
}

export interface NewTie {
  readonly mayRemove: MayRemove;
  readonly holder: Holder | undefined;
  readonly ttlMs: number | null;
}

export interface TieDeps {
  readonly now: () => number;
  readonly expired: (id: EditId) => void;
  readonly vanished: (id: EditId, holder: object) => void;
}

/** Beyond it a timer of Node's fires at once. */
const LONGEST_TTL_MS = 24 * 60 * 60 * 1_000;

/** To whom the edits of this run belong: to a connection, to their time, or to both. */
export class EditTies {
  readonly #deps: TieDeps;
  readonly #ties = new Map<EditId, Tie>();
  readonly #watched = new WeakSet<object>();

  constructor(deps: TieDeps) {
    this.#deps = deps;
  }

  get(id: EditId): Tie | undefined {
    return this.#ties.get(id);
  }

  countOf(holder: object): number {
    return [...this.#ties.values()].filter((tie) => tie.holder === holder).length;
  }

  add(id: EditId, { mayRemove, holder, ttlMs }: NewTie): void {
    const { now, expired } = this.#deps;
    const inMs = Math.min(ttlMs ?? 0, LONGEST_TTL_MS);
    this.#ties.set(id, {
      mayRemove,
      holder: holder?.identity,
      expiresAt: ttlMs === null ? undefined : now() + inMs,
      timer: ttlMs === null ? undefined : setTimeout(() => expired(id), inMs).unref(),
    });
    if (holder !== undefined) this.#watch(holder);
  }

  /** The client of a connected edit came back by another connection. */
  takeOver(id: EditId, holder: Holder): void {
    const tie = this.#ties.get(id);
    if (tie?.holder === undefined) return;
    this.#ties.set(id, { ...tie, holder: holder.identity });
    this.#watch(holder);
  }

  remove(id: EditId): void {
    clearTimeout(this.#ties.get(id)?.timer);
    this.#ties.delete(id);
  }

  close(): void {
    for (const { timer } of this.#ties.values()) clearTimeout(timer);
  }

  /** Once for each connection, however many edits it opens. */
  #watch({ identity, onGone }: Holder): void {
    if (this.#watched.has(identity)) return;
    this.#watched.add(identity);
    onGone(() => {
      // A start that is still under way ties itself to it later, and must be told as well.
      this.#watched.delete(identity);
      const own = [...this.#ties].filter(([, { holder }]) => holder === identity);
      for (const [id] of own) this.#deps.vanished(id, identity);
    });
  }
}
