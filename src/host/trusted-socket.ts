import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { SmithyError } from '../core/errors.js';
import { whyUnsafe } from './state-folder.js';

/** Before a client says a word: is this socket, and the folder it is in, really our user's? */
export function requireTrustedSocket(address: string): void {
  if (process.platform === 'win32') return;
  for (const path of [dirname(address), address]) {
    const why = whyUnsafe(lstatSync(path));
    if (why === undefined) continue;
    throw new SmithyError('FORBIDDEN', `${path} ${why}; refusing to talk to it.`, {
      hint: 'Somebody else may have taken the place of the daemon. Look who made it.',
      data: { path },
    });
  }
}
