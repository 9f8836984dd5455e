/** One writer at a time, first come first served. A failed turn does not stop the next one. */
export interface Queue {
  run<T>(turn: () => T | Promise<T>): Promise<T>;
  /** The turn everything else depends on: when it fails, so does every later one. */
  open(turn: () => Promise<void>): Promise<void>;
}

export function createQueue(): Queue {
  let opened: Promise<unknown> = Promise.resolve();
  let tail: Promise<unknown> = Promise.resolve();
  return {
    open(turn) {
      const mine = tail.then(turn);
      opened = mine;
      tail = mine.catch(() => undefined);
      return mine;
    },
    run(turn) {
      const mine = tail.then(() => opened).then(turn);
      tail = mine.catch(() => undefined);
      return mine;
    },
  };
}
