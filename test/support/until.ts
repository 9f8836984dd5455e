import { setTimeout as pause } from 'node:timers/promises';

/** Long enough for a loaded machine: it is reached only when the condition never comes. */
const DEADLINE_MS = 40_000;

type Found<T> = Exclude<T, undefined | false | null>;

/** Looks again and again until the condition holds; fails by name at the deadline. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<Found<T>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false && found !== null) return found as Found<T>;
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`);
    await pause(10);
  }
}

/** The promise's outcome, or a failure by name at the deadline. */
export async function soon<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`waited ${DEADLINE_MS} ms in vain for ${what}`));
    }, DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
