/** Waits for `work`, but no longer than `ms` and not beyond an abort; then answers `otherwise`. */
export async function patiently<T>(
  work: Promise<T>,
  limits: { ms: number; signals: readonly (AbortSignal | undefined)[] },
  otherwise: T,
): Promise<T> {
  let giveUp: () => void = () => undefined;
  const gaveUp = new Promise<T>((resolve) => {
    giveUp = () => resolve(otherwise);
  });
  const timer = setTimeout(giveUp, limits.ms);
  for (const signal of limits.signals) {
    signal?.addEventListener('abort', giveUp);
    if (signal?.aborted === true) giveUp();
  }
  try {
    return await Promise.race([work, gaveUp]);
  } finally {
    clearTimeout(timer);
    for (const signal of limits.signals) signal?.removeEventListener('abort', giveUp);
  }
}
