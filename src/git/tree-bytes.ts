import { objectId } from './blobs.js';
import { noTree } from './failures.js';

/**
 * Tree objects as bytes: `<mode> <name>\0<20 bytes of id>`, again and again. Names are strings of one
 * character a byte (latin1): whatever bytes a name has, it stays what it was, and strings compare as
 * git compares names.
 */
export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

export const FOLDER = '40000';
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const ID_BYTES = 20;

export const toByteName = (name: string): string => Buffer.from(name).toString('latin1');

interface Place {
  readonly name: string;
  readonly mode: string;
  readonly start: number;
  readonly end: number;
}

export function* placesOf(tree: Buffer): Generator<Place> {
  for (let start = 0; start < tree.length;) {
    const space = tree.indexOf(0x20, start);
    const nul = tree.indexOf(0, space);
    const end = nul + 1 + ID_BYTES;
    if (space < start || nul < space || end > tree.length) throw noTree(objectId('tree', tree));
    const name = tree.toString('latin1', space + 1, nul);
    yield { name, mode: tree.toString('latin1', start, space), start, end };
    start = end;
  }
}

/** Which folders of these names a tree has. */
export function foldersIn(
  tree: Buffer,
  names: { has(name: string): boolean },
): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, mode, end } of placesOf(tree)) {
    if (mode === FOLDER && names.has(name)) found.set(name, idBefore(tree, end));
  }
  return found;
}

export const idBefore = (tree: Buffer, end: number): string =>
  tree.toString('hex', end - ID_BYTES, end);

/** The tree with other entries under these names, or none. What is not named is copied, not read. */
export function editTree(tree: Buffer, edits: ReadonlyMap<string, TreeEntry | null>): Buffer {
  const fresh = [...edits]
    .flatMap(([name, entry]) => (entry === null ? [] : [encode(name, entry)]))
    .sort((a, b) => (a.order < b.order ? -1 : 1));
  const parts: Buffer[] = [];
  let next = 0;
  let copied = 0;
  const copyUpTo = (at: number): void => {
    if (at > copied) parts.push(tree.subarray(copied, at));
    copied = at;
  };
  for (const { name, mode, start, end } of placesOf(tree)) {
    const order = orderOf(name, mode);
    for (let one = fresh[next]; one !== undefined && one.order < order; one = fresh[next]) {
      copyUpTo(start);
      parts.push(one.bytes);
      next += 1;
    }
    if (!edits.has(name)) continue;
    copyUpTo(start);
    copied = end;
  }
  copyUpTo(tree.length);
  return Buffer.concat([...parts, ...fresh.slice(next).map(({ bytes }) => bytes)]);
}

/** Git sorts a folder as if its name ended with a slash. */
const orderOf = (name: string, mode: string): string => (mode === FOLDER ? `${name}/` : name);

function encode(name: string, { mode, id }: TreeEntry): { order: string; bytes: Buffer } {
  const head = Buffer.from(`${mode} ${name}\0`, 'latin1');
  return { order: orderOf(name, mode), bytes: Buffer.concat([head, Buffer.from(id, 'hex')]) };
}
