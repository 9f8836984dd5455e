/** Runs a call that makes a file or folder, with the permissions its user would give it. */
export type Making = <T>(make: () => T) => T;

/**
 * The daemon's own mask keeps its files private; what it puts into the project must look as if the
 * user had made it. The calls are synchronous, so nothing else of ours runs under the other mask.
 */
export function makingAs(mask: number | undefined): Making {
  if (mask === undefined) return (make) => make();
  return (make) => {
    const own = process.umask(mask);
    try {
      return make();
    } finally {
      process.umask(own);
    }
  };
}
