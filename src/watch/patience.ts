/**
 * Waiting for work that may never end, until it is all over. No listener of an `AbortSignal` for each:
 * on a machine that had other things to do, adding and removing one takes longer than the rest.
 */
export class Patience {
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  /** What `work` answers; `otherwise` after `ms`, or when it is over. */
  async wait<T>(work: Promise<T>, ms: number, otherwise: T): Promise<T> {
    let giveUp: () => void = () => undefined;
    const gaveUp = new Promise<T>((resolve) => {
      giveUp = () => resolve(otherwise);
    });
    const timer = setTimeout(giveUp, ms);
    this.#waiting.add(giveUp);
    if (this.#isOver) giveUp();
    try {
      return await Promise.race([work, gaveUp]);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(giveUp);
    }
  }

  end(): void {
    this.#isOver = true;
    for (const giveUp of this.#waiting) giveUp();
  }
}
