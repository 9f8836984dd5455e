/**
 * Lets many callers share a run that must begin after each of them called: the first starts one,
 * all who come during it share the next.
 */
export function grouped<T>(run: () => Promise<T>): () => Promise<T> {
  let present: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  function begin(): Promise<T> {
    next = undefined;
    const mine = run().finally(() => {
      if (present === mine) present = undefined;
    });
    present = mine;
    return mine;
  }

  return () => {
    if (present === undefined) return begin();
    next ??= present.then(begin, begin);
    return next;
  };
}
