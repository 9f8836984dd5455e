import { type Dirent, lstatSync, type Stats } from 'node:fs';
import type { EntryKind } from '../../core/tracking.js';
import { codeOf } from '../content/content.js';

export type Look = Stats | 'gone' | 'unreadable' | 'unreachable';

/** lstat that tells "not there" from "cannot tell": only the first may ever mean deleted. */
export function look(path: string): Look {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? 'gone';
  } catch (error) {
    const code = codeOf(error);
    // A parent that is now a file or a looping link: the path itself is no more.
    if (code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENOENT') return 'gone';
    return code === 'ENAMETOOLONG' ? 'unreachable' : 'unreadable';
  }
}

export function kindOf(entry: Stats | Dirent): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'special';
}
