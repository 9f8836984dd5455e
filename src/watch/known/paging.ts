import { smallestFirst } from '../../core/smallest.js';
import type { KnownEntry } from '../../core/watching.js';
import { entryOf, Folder, type KnownTree, Leaf } from './tree.js';

interface Child {
  /** What its paths begin with below the folder: so the order of keys is that of paths. */
  readonly key: string;
  readonly name: string;
  readonly entry: Leaf | Folder;
}

/**
 * Known entries in path order, from the first path after `after`. Only folders on the way to what
 * is taken are looked at, and none is sorted beyond it.
 */
export function* entriesAfter(tree: KnownTree, after: string): Generator<KnownEntry> {
  // Not recursive: nesting may be deeper than the call stack.
  const open = [{ folder: tree.root, rest: smallestFirst(childrenAfter(tree.root, after)) }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const next = top.rest.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const { name, entry } = next.value;
    if (entry instanceof Leaf) yield entryOf(top.folder.childPath(name), entry);
    else open.push({ folder: entry, rest: smallestFirst(childrenAfter(entry, after)) });
  }
}

function childrenAfter(folder: Folder, after: string): Child[] {
  const found: Child[] = [];
  for (const [name, entry] of folder.children) {
    if (entry instanceof Leaf && !entry.isKnown) continue;
    const isFolder = entry instanceof Folder;
    const start = folder.childPath(isFolder ? `${name}/` : name);
    if (start > after || (isFolder && after.startsWith(start))) {
      found.push({ key: isFolder ? `${name}/` : name, name, entry });
    }
  }
  return found;
}
