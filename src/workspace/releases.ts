/** A bell that rings whenever something held becomes free. */
export class Releases {
  readonly #waiting = new Set<() => void>();

  tell(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Listens from now on, so that nothing between a look and the wait is missed. */
  next(): { within(ms: number): Promise<boolean>; cancel(): void } {
    let isTold = false;
    let wake: () => void = () => undefined;
    const heard = (): void => {
      isTold = true;
      this.#waiting.delete(heard);
      wake();
    };
    this.#waiting.add(heard);
    return {
      within: (ms) =>
        new Promise((resolve) => {
          const end = (): void => {
            clearTimeout(timer);
            this.#waiting.delete(heard);
            resolve(isTold);
          };
          const timer = setTimeout(end, ms);
          wake = end;
          if (isTold) end();
        }),
      cancel: () => void this.#waiting.delete(heard),
    };
  }
}
