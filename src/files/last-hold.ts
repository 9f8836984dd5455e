import { close, readFileSync } from 'node:fs';

/**
 * Keeps files that are replaced or deleted alive until the work is done, and lets go of them on
 * other threads. Giving their blocks back to the disk is what takes time, and nobody waits for it:
 * 0.8 of 1.0 ms a file on ext4 mounted with `discard`. Without a journal ext4 also searches past
 * every inode freed in the last minutes whenever it makes a file.
 */
export interface LastHold {
  /** Gets a file as it was looked at, before it is replaced or deleted. Absent: nothing is held. */
  readonly takeOver?: (fd: number) => void;
  /** Waits while too many are held. */
  room(): Promise<void>;
  /** The work is done: lets go of everything, without waiting for it. */
  letGo(): void;
}

/** As many as there are threads for it. */
const AT_ONCE = 4;
/** Open files. At most a quarter of what this process may have; the rest is for everybody else. */
const MOST_HELD = 8_192;

/** @param most 0 where the limit is not known: then one. */
export function createLastHold(most: number): LastHold {
  const held: number[] = [];
  const waiting: (() => void)[] = [];
  let underWay = 0;
  let isDone = true;
  const isTooMany = (): boolean => held.length >= Math.max(1, most);

  function next(): void {
    const isFull = isTooMany();
    if (!isFull) for (const wake of waiting.splice(0)) wake();
    for (; (isDone || isFull) && underWay < AT_ONCE && held.length > 0; underWay += 1) {
      close(held.pop() ?? -1, () => {
        underWay -= 1;
        next();
      });
    }
  }

  return {
    takeOver(fd) {
      isDone = false;
      held.push(fd);
      next();
    },
    async room() {
      while (isTooMany()) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    letGo() {
      isDone = true;
      next();
    },
  };
}

/** Elsewhere an open file may not be replaced at all. */
export const noHold: LastHold = {
  room: () => Promise.resolve(),
  letGo: () => undefined,
};

export function mostOpenFiles(): number {
  try {
    const limit = /^Max open files\s+(\d+)/mu.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return Math.min(MOST_HELD, Math.floor(Number(limit ?? 0) / 4));
  } catch {
    return 0;
  }
}
