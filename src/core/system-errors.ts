/** EDQUOT, for which Node has no name: Linux, then macOS. */
const QUOTA: ReadonlySet<unknown> = new Set([-122, -69]);
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const DISK: ReadonlySet<string> = new Set([
  ...['EIO', 'EROFS', 'EFBIG', 'ESTALE', 'ENXIO', 'ENODEV'],
  // Not of the disk, but as passing: no descriptor, no memory.
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'],
]);

/** The system's name for what went wrong. By shape: an error may come from another realm. */
export function systemCode(error: unknown): string | undefined {
  const { code, errno } = Object(error) as { code?: unknown; errno?: unknown };
  if (QUOTA.has(errno)) return 'EDQUOT';
  return typeof code === 'string' ? code : undefined;
}

/** No bytes, no inodes, no quota: the next file will not fit either. */
export function isDiskFull(error: unknown): boolean {
  return FULL.has(systemCode(error) ?? '');
}

/** The machine refused something that it would do on a better day. */
export function isDiskTrouble(error: unknown): boolean {
  return isDiskFull(error) || DISK.has(systemCode(error) ?? '');
}
