import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** As `du` counts: whole blocks. What goes while it is counted does not count. */
export function bytesIn(folder) {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    sum += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return sum;
}
