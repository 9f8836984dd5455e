/** One writer at a time, first come first served. A failed turn does not stop the next one. */
export function createQueue() {
  let tail: Promise<unknown> = Promise.resolve();
  return {
    run<T>(turn: () => T | Promise<T>): Promise<T> {
      const mine = tail.then(turn);
      tail = mine.catch(() => undefined);
      return mine;
    },
  };
}
