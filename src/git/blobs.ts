import { createHash, type Hash as Digest } from 'node:crypto';
import { SmithyError } from '../core/errors.js';
import type { ContentSource, NewBlob } from '../core/store.js';
import type { ImportChild } from './import-child.js';
import type { ObjectKind } from './pack-file.js';

const ZEROS = Buffer.alloc(1024 * 1024);

/**
 * Sends one blob and checks that it is what its name says. What was sent of a wrong one is in a
 * pack under its right name, where nothing refers to it.
 */
export async function sendBlob(
  child: ImportChild,
  blob: NewBlob,
  path: string | undefined,
): Promise<void> {
  const content = await blob.content();
  if (!('chunks' in content)) {
    requireContent(content, blob.hash, path);
    await child.send(`blob\ndata ${content.byteLength}\n`);
    await child.send(content);
    await child.send('\n');
    return;
  }
  const actual = await sendChunks(child, content);
  if (actual !== blob.hash) throw stale(path, blob.hash, actual);
}

/**
 * The size stands before the bytes, so exactly that many must follow, whatever the file does
 * meanwhile; the hash then tells that it changed.
 */
async function sendChunks(child: ImportChild, source: ContentSource): Promise<string> {
  const digest = startHash(source.size);
  await child.send(`blob\ndata ${source.size}\n`);
  let left = source.size;
  try {
    for await (const chunk of source.chunks) {
      const part = chunk.subarray(0, left);
      left -= part.length;
      digest.update(part);
      await child.send(part);
      if (left === 0) break;
    }
  } finally {
    for (; left > 0; left -= ZEROS.length) {
      const part = ZEROS.subarray(0, left);
      digest.update(part);
      await child.send(part);
    }
    await child.send('\n');
  }
  return digest.digest('hex');
}

/** @throws SmithyError STALE_READ when content is not what its name says. */
export function requireContent(content: Uint8Array, hash: string, path?: string): void {
  const actual = hashOf(content);
  if (actual !== hash) throw stale(path, hash, actual);
}

export function isContentOf(content: Uint8Array, hash: string): boolean {
  return hashOf(content) === hash;
}

const hashOf = (content: Uint8Array): string => objectId('blob', content);

/** The name git gives an object. */
export function objectId(kind: ObjectKind, content: Uint8Array): string {
  return startHash(content.byteLength, kind).update(content).digest('hex');
}

function startHash(size: number, kind: ObjectKind = 'blob'): Digest {
  return createHash('sha1').update(`${kind} ${size}\0`);
}

export function stale(path: string | undefined, expected: string, actual?: string): SmithyError {
  return new SmithyError('STALE_READ', `${path ?? 'The content'} changed while it was read.`, {
    hint: 'Read it again and repeat.',
    data: { path: path ?? null, expected, actual: actual ?? null },
  });
}

export function isStale(error: unknown): boolean {
  return error instanceof SmithyError && error.code === 'STALE_READ';
}
