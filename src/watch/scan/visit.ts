import type { ChangeOrigin } from '../../core/watching.js';

/**
 * A piece of looking: every queued name, folder or file belongs to one, and it is over when all
 * of them are. A barrier waits for the visits that exist when it is reached and for no later one,
 * so steady writing cannot hold it up.
 */
export class Visit {
  /** undefined: the first look of all, which is no change. */
  readonly origin: ChangeOrigin | undefined;
  readonly #visits: Set<Visit>;
  #open = 0;
  #waiting: (() => void)[] = [];

  constructor(visits: Set<Visit>, origin: ChangeOrigin | undefined) {
    this.#visits = visits;
    this.origin = origin;
  }

  /** Somebody may be waiting for an answer about a change just made. */
  get isUrgent(): boolean {
    return this.origin === 'live' || this.origin === 'git';
  }

  begin(): void {
    this.#open += 1;
    if (this.#open === 1) this.#visits.add(this);
  }

  end(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#visits.delete(this);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  async over(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
