import { once } from 'node:events';
import type { Hash } from '../core/model.js';
import { gitFailure } from './failures.js';
import type { Git } from './run.js';

/** A child of its own for each: a slow reader of a large file must not hold up the others. */
export async function* streamBlob(git: Git, hash: Hash): AsyncGenerator<Uint8Array> {
  const child = git.start(['cat-file', 'blob', hash]);
  let stderr = '';
  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-4096)));
  child.stdin.on('error', () => undefined);
  child.stdin.end();
  const closed = once(child, 'close');
  // It fails when git cannot start, while the output is still waited for.
  closed.catch(() => undefined);
  try {
    for await (const chunk of child.stdout) yield chunk as Buffer;
    const [status] = (await closed) as [number | null];
    if (status !== 0) throw gitFailure('cat-file', stderr);
  } finally {
    child.kill('SIGKILL');
    await closed.catch(() => undefined);
  }
}
