/** What the file system says about an entry without reading it; times in ms with fractions. */
export interface Stamp {
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly size: number;
  readonly ino: number;
  readonly mode: number;
  /** How many names the file has; no part of the comparison, ctime moves with it. */
  readonly nlink: number;
}

/** ctime catches what a restored mtime hides; the inode catches a rename over. */
export function sameStamp(a: Stamp, b: Stamp): boolean {
  return (
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.size === b.size &&
    a.ino === b.ino &&
    a.mode === b.mode
  );
}

// Linux stamps files from a clock that moves once per tick: 10 ms at the slowest setting.
const TICK_MS = 25;
// FAT and some network file systems keep whole (or even) seconds.
const COARSE_MS = 2_100;

/**
 * True when a write after `readAt` could leave the very same stamp, so the stamp proves nothing.
 * Only ctime counts: mtime may be set to any time, past or future, and every write moves ctime.
 */
export function isRacy(stamp: Pick<Stamp, 'mtimeMs' | 'ctimeMs'>, readAt: number): boolean {
  const coarse = stamp.ctimeMs % 1000 === 0 && stamp.mtimeMs % 1000 === 0;
  return stamp.ctimeMs >= readAt - (coarse ? COARSE_MS : TICK_MS);
}
