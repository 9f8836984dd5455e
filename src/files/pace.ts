import { performance } from 'node:perf_hooks';

/**
 * Sync calls are five to eight times cheaper per small file than their async twins, but they hold
 * the event loop. 10 ms leaves room below the 50 ms in which the daemon answers everybody else.
 */
const SLICE_MS = 10;

export interface Pace {
  /** Changes when others may have run, or a slice is over: what was seen before may be stale. */
  turn(): number;
  /** Says that others have run. */
  passed(): void;
  /** Lets others run when the slice is used up; call it after every bounded piece of work. */
  breathe(): Promise<void>;
}

export function createPace(): Pace {
  let start = performance.now();
  let turn = 0;
  const isOver = () => performance.now() - start >= SLICE_MS;
  return {
    turn: () => (isOver() ? (turn += 1) : turn),
    passed: () => {
      turn += 1;
    },
    breathe: async () => {
      if (!isOver()) return;
      await new Promise((resolve) => setImmediate(resolve));
      start = performance.now();
      turn += 1;
    },
  };
}
