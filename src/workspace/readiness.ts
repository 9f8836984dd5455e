import type { Path } from '../core/model.js';
import type { Watcher } from '../core/watching.js';
import type { Accounts } from './accounts.js';
import type { Claims } from './claims.js';
import type { DialogBook } from './dialog-book.js';
import type { Saving } from './saving.js';

export interface ReadinessDeps {
  readonly watcher: Pick<Watcher, 'onChange' | 'get'>;
  readonly book: Pick<DialogBook, 'find'>;
  readonly saving: Pick<Saving, 'makeReady'>;
  readonly claims: Pick<Claims, 'unexplained'>;
  readonly accounts: Pick<Accounts, 'foresee'>;
  /** Somebody's work under way is done: it goes first. */
  readonly calm: () => Promise<void>;
}

/** Nothing is made ready more often: a file that never rests costs a twentieth of a processor at most. */
const REST_MS = 50;
/** More are saved as they are asked for: then what they need is not what somebody waits for. */
const MOST_FILES = 8;
const MOST_BYTES = 64 * 1024;

/**
 * Whoever asks for a checkpoint waits for it; before that nobody waits. What few small changes will need
 * of it is read and packed, in memory, as soon as they are noticed.
 */
export class Readiness {
  readonly #deps: ReadinessDeps;
  /** At work, or resting from it. */
  #isBusy = false;
  #isWoken = false;
  #timer: NodeJS.Timeout | undefined;
  #isOpen = false;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
    deps.watcher.onChange(() => this.#wake());
  }

  open(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  #wake(): void {
    this.#isWoken = this.#isOpen;
    if (this.#isWoken && !this.#isBusy) void this.#work();
  }

  async #work(): Promise<void> {
    const { book, saving, calm } = this.#deps;
    this.#isBusy = true;
    this.#isWoken = false;
    try {
      await calm();
      const dialog = book.find(undefined);
      if (dialog === undefined || !this.#isOpen) return;
      await saving.makeReady(dialog, { files: MOST_FILES, bytes: MOST_BYTES });
      await this.#foresee();
    } catch {
      // A file that is written again, a disk in trouble: the checkpoint looks itself, and tells.
    } finally {
      this.#timer = setTimeout(() => this.#rested(), REST_MS).unref();
    }
  }

  #rested(): void {
    this.#isBusy = false;
    if (this.#isWoken) this.#wake();
  }

  /** What changed without an announcement is compared with what it was. */
  async #foresee(): Promise<void> {
    const { claims, watcher, accounts } = this.#deps;
    const found = claims.unexplained();
    if (found.length > MOST_FILES) return;
    const sizeOf = (path: Path): number => watcher.get(path)?.size ?? 0;
    if (found.reduce((sum, { path }) => sum + sizeOf(path), 0) > MOST_BYTES) return;
    await accounts.foresee(found, sizeOf).accounts;
  }
}
