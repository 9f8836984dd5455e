import { setImmediate } from 'node:timers/promises';
import { PendingChanges, type Step } from '../../core/coalesce.js';
import type { Hash, Path } from '../../core/model.js';
import type { ChangeBatch, ChangeOrigin, FileState } from '../../core/watching.js';

/** `origin` is undefined for the first look of all: knowledge, but no change. */
export type PendingStep = Omit<Step, 'origin' | 'echo'> & {
  readonly origin: ChangeOrigin | undefined;
};

interface Deps {
  /** True while the user's git rewrites the tree: its changes belong in one batch. */
  readonly holdBack: () => boolean;
  readonly publish: (batch: ChangeBatch) => void;
}

// An editor's save (temp file, rename, backup) is over within a few ms of its first event.
const QUIET_MS = 25;
// Steady writing must not silence everything else.
const LONGEST_MS = 250;
const LONGEST_HELD_MS = 10_000;
// A few ms for those who listen.
const PART = 2_000;

/** Collects changes for a moment and publishes them as one. Knowing does not wait for it. */
export class Publisher {
  readonly #deps: Deps;
  readonly #pending = new PendingChanges();
  readonly #announced = new Map<Path, Set<Hash | undefined>>();
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #isBegun = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  note(step: PendingStep): void {
    const { path, before, after, origin } = step;
    if (origin === undefined) return;
    const echo = this.#announced.get(path)?.has(after?.hash) === true;
    this.#pending.add({ path, before, after, origin, echo });
    this.#arm();
  }

  noteUntracked(path: Path, last: FileState): void {
    this.#pending.addUntracked(path, last);
    this.#arm();
  }

  announce(path: Path, hash: Hash | undefined): () => void {
    const hashes = this.#announced.get(path) ?? new Set();
    this.#announced.set(path, hashes.add(hash));
    return () => {
      hashes.delete(hash);
      if (hashes.size === 0 && this.#announced.get(path) === hashes) this.#announced.delete(path);
    };
  }

  /** Publishes what there is, now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#pending.isEmpty) this.#publish(Infinity);
  }

  /** Publishes what there was at the call, in parts, and lets others go on in between. */
  async drain(): Promise<void> {
    for (let left = this.#pending.size; left > PART; left -= PART) {
      this.#publish(PART);
      await setImmediate();
    }
    if (!this.#publishPart()) this.#arm();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #arm(): void {
    const now = performance.now();
    if (this.#timer !== undefined) {
      // Moving the timer for each of thousands of steps would cost more than the steps.
      if (now - this.#since < LONGEST_MS) this.#timer.refresh();
      return;
    }
    this.#since = now;
    this.#timer = setTimeout(() => this.#due(), QUIET_MS);
  }

  #due(): void {
    if (this.#deps.holdBack() && performance.now() - this.#since < LONGEST_HELD_MS) {
      this.#timer?.refresh();
      return;
    }
    if (!this.#publishPart()) this.#timer = setTimeout(() => this.#due(), 0);
  }

  /** False: there is more. */
  #publishPart(): boolean {
    if (this.#pending.size > PART) this.#publish(PART);
    else this.flush();
    return this.#pending.isEmpty;
  }

  #publish(limit: number): void {
    const batch = this.#pending.take(limit);
    const isEmpty = batch.changes.length + batch.untracked.length === 0;
    // Who has heard of a part waits for the last.
    if (isEmpty && !this.#isBegun) return;
    this.#isBegun = batch.more;
    this.#deps.publish(batch);
  }
}
