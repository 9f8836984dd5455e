import { SmithyError } from '../core/errors.js';
import type { Hash, Path } from '../core/model.js';
import type { Content, FileChange } from '../core/store.js';
import type { ReadContent } from '../core/tree-writer.js';
import type { PendingChange } from './pending.js';

/** Where the content of a change may come from. */
interface Sources {
  readonly read: ReadContent;
  readonly placeOf: (path: Path) => string;
  readonly remembered: (hash: Hash) => Uint8Array | undefined;
}

export function toFileChange(
  { path, after }: PendingChange,
  have: ReadonlySet<Hash>,
  { read, placeOf, remembered }: Sources,
): FileChange {
  if (after === null) return { path, deleted: true };
  const { mode, hash, size } = after;
  if (have.has(hash)) return { path, mode, hash };
  const place = mode === '120000' ? {} : { place: placeOf(path) };
  const content = () => remembered(hash) ?? contentOf(path, read);
  return { path, mode, hash, size, content, ...place };
}

async function contentOf(path: Path, read: ReadContent): Promise<Content> {
  const content = await read(path).catch((error: unknown) => {
    if (error instanceof SmithyError && error.code === 'BUSY') return null;
    throw error;
  });
  if (content !== null) return content;
  const message = `${path} is gone or keeps changing.`;
  throw new SmithyError('STALE_READ', message, { data: { path } });
}

/** The path whose content was not what it should be; undefined for any other error. */
export function stalePath(error: unknown): string | undefined {
  if (!(error instanceof SmithyError) || error.code !== 'STALE_READ') return undefined;
  const { path } = error.data;
  return typeof path === 'string' ? path : undefined;
}
