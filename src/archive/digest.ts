import { createHash } from 'node:crypto';
import type { Content } from '../core/store.js';

/** SHA-256 as 64 hex digits. */
export async function sha256(content: Content): Promise<string> {
  const hash = createHash('sha256');
  if (content instanceof Uint8Array) return hash.update(content).digest('hex');
  for await (const chunk of content.chunks) hash.update(chunk);
  return hash.digest('hex');
}
