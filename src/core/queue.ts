/** One writer at a time, first come first served. A failed turn does not stop the next one. */
export interface Queue {
  run<T>(turn: () => T | Promise<T>): Promise<T>;
  /** A turn beside other shared ones, but never beside one of `run`. */
  share<T>(turn: () => T | Promise<T>): Promise<T>;
  /**
   * The turn everything else depends on. When it fails, so does the one that waited for it, and
   * the one after that begins with another try: a disk that was full may have room again.
   */
  open(turn: () => Promise<void>): Promise<void>;
  /** Everything that came before is done; whoever waits for it has no turn and keeps nobody. */
  calm(): Promise<void>;
}

export function createQueue(): Queue {
  let opening: (() => Promise<void>) | undefined;
  /** Shared turns come together and must not try twice at a time. */
  let attempt: Promise<void> | undefined;
  /** When the next turn of `run` may begin, and when a shared one may. */
  let tail: Promise<unknown> = Promise.resolve();
  let gate: Promise<unknown> = Promise.resolve();

  async function tryToOpen(open: () => Promise<void>): Promise<void> {
    try {
      await open();
      opening = undefined;
    } finally {
      attempt = undefined;
    }
  }

  /** A turn that begins only in an opened queue. */
  function inOpened<T>(turn: () => T | Promise<T>): () => Promise<T> {
    return async () => {
      if (opening !== undefined) await (attempt ??= tryToOpen(opening));
      return turn();
    };
  }

  function run<T>(turn: () => T | Promise<T>): Promise<T> {
    const mine = tail.then(inOpened(turn));
    gate = tail = mine.catch(() => undefined);
    return mine;
  }

  return {
    run,
    calm: () => tail.then(() => undefined),
    open(turn) {
      opening = turn;
      return run(() => undefined);
    },
    share(turn) {
      const mine = gate.then(inOpened(turn));
      const before = tail;
      tail = mine.then(
        () => before,
        () => before,
      );
      return mine;
    },
  };
}
