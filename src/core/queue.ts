/** One writer at a time, first come first served. A failed turn does not stop the next one. */
export interface Queue {
  run<T>(turn: () => T | Promise<T>): Promise<T>;
  /** A turn beside other shared ones, but never beside one of `run`. */
  share<T>(turn: () => T | Promise<T>): Promise<T>;
  /** The turn everything else depends on: when it fails, so does every later one. */
  open(turn: () => Promise<void>): Promise<void>;
}

export function createQueue(): Queue {
  let opened: Promise<unknown> = Promise.resolve();
  /** When the next turn of `run` may begin, and when a shared one may. */
  let tail: Promise<unknown> = Promise.resolve();
  let gate: Promise<unknown> = Promise.resolve();
  return {
    open(turn) {
      const mine = tail.then(turn);
      opened = mine;
      gate = tail = mine.catch(() => undefined);
      return mine;
    },
    run(turn) {
      const mine = tail.then(() => opened).then(turn);
      gate = tail = mine.catch(() => undefined);
      return mine;
    },
    share(turn) {
      const mine = gate.then(() => opened).then(turn);
      const before = tail;
      tail = mine.then(
        () => before,
        () => before,
      );
      return mine;
    },
  };
}
