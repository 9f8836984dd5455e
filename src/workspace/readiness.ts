import type { Clock } from '../core/ports.js';
import type { Watcher } from '../core/watching.js';
import type { DialogBook } from './dialog-book.js';
import type { Saving } from './saving.js';

export interface ReadinessDeps {
  readonly watcher: Pick<Watcher, 'onChange'>;
  readonly book: Pick<DialogBook, 'find'>;
  readonly saving: Pick<Saving, 'makeReady'>;
  readonly clock: Clock;
  /** Somebody's work under way is done: it goes first. */
  readonly calm: () => Promise<void>;
}

/** Whoever made it known by asking is about to take a turn. */
const BEGIN_MS = 5;
/** So that a file that never rests costs a twentieth of a processor, however large its folder is. */
const LEAST_REST_MS = 50;
const REST_SHARE = 19;

/**
 * Whoever asks for a checkpoint waits for it; before that nobody waits. What few small changes will need
 * of it is read and packed, in memory, as soon as they are noticed.
 */
export class Readiness {
  readonly #deps: ReadinessDeps;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;
  /** Something changed while it worked or rested. */
  #isWoken = false;
  #isOpen = false;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
    deps.watcher.onChange(() => this.#wake());
  }

  open(): void {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await this.#working;
  }

  #wake(): void {
    this.#isWoken = true;
    if (this.#timer === undefined && this.#working === undefined) this.#later(BEGIN_MS);
  }

  #later(ms: number): void {
    if (!this.#isOpen) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isWoken) this.#working = this.#work();
    }, ms).unref();
  }

  async #work(): Promise<void> {
    const { book, saving, clock, calm } = this.#deps;
    this.#isWoken = false;
    await calm();
    const begun = clock.monotonic();
    try {
      const dialog = book.find(undefined);
      if (dialog !== undefined && this.#isOpen) await saving.makeReady(dialog);
    } catch {
      // Too much, a file that is written again, a disk in trouble: the checkpoint does it, and tells.
    }
    this.#working = undefined;
    this.#later(Math.max(LEAST_REST_MS, REST_SHARE * (clock.monotonic() - begun)));
  }
}
