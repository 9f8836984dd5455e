import { type Dirent, lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import type { EntryKind } from '../core/tracking.js';
import { codeOf } from './content.js';

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

export interface Listing {
  readonly entries: readonly Dirent[];
  /** Escaped names that are no UTF-8; the string API could not even stat them. */
  readonly oddNames: readonly string[];
}

/** A folder's entries, or why they cannot be had. */
export function list(path: string): Listing | 'gone' | 'unreadable' | 'unreachable' {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    if (!entries.some(({ name }) => name.includes('\uFFFD'))) return { entries, oddNames: [] };
    return separate(path, entries);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return 'gone';
    return code === 'ENAMETOOLONG' ? 'unreachable' : 'unreadable';
  }
}

/** The text of a folder's ignore file. Like git, does not follow a link in its place. */
export function readIgnoreFile(path: string): string | undefined {
  try {
    if (!lstatSync(path).isFile()) return undefined;
    return readFileSync(path, 'utf8');
  } catch {
    // Unreadable or just gone: git goes on without it as well.
    return undefined;
  }
}

function separate(path: string, entries: readonly Dirent[]): Listing {
  const odd = new Map<string, string>();
  const real = new Set<string>();
  for (const bytes of readdirSync(path, { encoding: 'buffer' })) {
    const name = bytes.toString('utf8');
    if (!name.includes('\uFFFD')) continue;
    // The replacement character itself is a legal name; only unequal bytes are not UTF-8.
    if (Buffer.from(name, 'utf8').equals(bytes)) real.add(name);
    else odd.set(escapeBytes(bytes), name);
  }
  return {
    entries: entries.filter(({ name }) => !name.includes('\uFFFD') || real.has(name)),
    oddNames: [...odd.keys()],
  };
}

function escapeBytes(bytes: Buffer): string {
  let text = '';
  for (const byte of bytes) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x5c;
    text += plain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}
