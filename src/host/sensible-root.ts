import { statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { refuseBroadRoot } from '../core/broad-roots.js';
import { realIfThere } from './find-root.js';

/** Refuses roots nobody means. */
export function requireSensibleRoot(root: string): void {
  refuseBroadRoot({
    root,
    home: realIfThere(homedir()),
    temporary: realIfThere(tmpdir()),
    owner: statSync(root).uid,
    user: process.getuid?.(),
  });
}
