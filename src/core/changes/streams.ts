/** What running programs tell of themselves, as it is kept: bounded, numbered, in memory only. */

export const STREAMS = ['console', 'network', 'websocket', 'actions'] as const;
export type StreamName = (typeof STREAMS)[number];

export type Level = 'error' | 'warning' | 'info' | 'log' | 'debug';

interface Timed {
  /** Wall time in ms: when it happened, as its program says. */
  readonly at: number;
}

export interface ConsoleEntry extends Timed {
  readonly level: Level;
  readonly message: string;
  readonly source: string | null;
}

export interface NetworkEntry extends Timed {
  readonly url: string;
  readonly method: string;
  /** 0: there was no answer. */
  readonly status: number;
  readonly durationMs: number | null;
}

export interface WebsocketEntry extends Timed {
  readonly event: 'open' | 'close' | 'error' | 'message';
  readonly url: string;
  readonly id: string | null;
  readonly closeCode: number | null;
  readonly closeReason: string | null;
  readonly message: string | null;
}

export interface ActionEntry extends Timed {
  readonly type: string;
  readonly url: string | null;
  readonly target: string | null;
  readonly value: string | null;
}

export interface Entries {
  readonly console: ConsoleEntry;
  readonly network: NetworkEntry;
  readonly websocket: WebsocketEntry;
  readonly actions: ActionEntry;
}

/** How many of each are kept. */
export const CAPACITY: Readonly<Record<StreamName, number>> = {
  console: 1_000,
  network: 100,
  websocket: 500,
  actions: 50,
};

/** How many entries a stream has had so far: everything after it is new to whoever was there. */
export type Positions = Readonly<Record<StreamName, number>>;

export const BEGINNING: Positions = { console: 0, network: 0, websocket: 0, actions: 0 };

export interface Window<T> {
  readonly entries: readonly T[];
  /** So many came after the position and are gone already. */
  readonly evicted: number;
}

/** The newest entries of one kind, each with a number that never comes again. */
export class Ring<T extends Timed> {
  readonly #capacity: number;
  readonly #slots: T[] = [];
  #total = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Entries so far, those included that are gone. */
  get total(): number {
    return this.#total;
  }

  add(entry: T): void {
    this.#slots[this.#total % this.#capacity] = entry;
    this.#total += 1;
  }

  /** What came after a position that this ring once had. */
  since(position: number): Window<T> {
    const oldest = Math.max(0, this.#total - this.#capacity);
    const from = Math.min(Math.max(position, oldest), this.#total);
    const entries = Array.from({ length: this.#total - from }, (_, step) => this.#at(from + step));
    return { entries, evicted: Math.max(0, oldest - Math.max(position, 0)) };
  }

  /** The position before the first entry that is younger than a time. */
  positionAt(time: number): number {
    const oldest = Math.max(0, this.#total - this.#capacity);
    for (let number = oldest; number < this.#total; number += 1) {
      if (this.#at(number).at > time) return number;
    }
    return this.#total;
  }

  /** Puts something else in the place of every entry that is still there. */
  replace(change: (entry: T) => T): void {
    for (const [slot, entry] of this.#slots.entries()) this.#slots[slot] = change(entry);
  }

  #at(number: number): T {
    const entry = this.#slots[number % this.#capacity];
    if (entry === undefined) throw new RangeError(`there is no entry ${number}`);
    return entry;
  }
}
