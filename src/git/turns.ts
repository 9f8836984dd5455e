/** One writer at a time, first come first served. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run<T>(turn: () => Promise<T>): Promise<T> {
      const mine = last.then(turn);
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}
