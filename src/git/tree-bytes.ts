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
const SPACE = 0x20;
const SLASH = 0x2f;

export const toByteName = (name: string): string => Buffer.from(name).toString('latin1');

interface Place {
  readonly name: string;
  readonly mode: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Entries one after the other, by place: no text is made of those that nobody asks for. A checkpoint
 * looks for one name in a hundred, in each folder above a file.
 */
class Entries {
  start = 0;
  nameAt = 0;
  nul = 0;
  end = 0;
  readonly #tree: Buffer;

  constructor(tree: Buffer) {
    this.#tree = tree;
  }

  next(): boolean {
    const tree = this.#tree;
    this.start = this.end;
    if (this.start >= tree.length) return false;
    let at = this.start;
    while (at < tree.length && tree[at] !== SPACE) at += 1;
    this.nameAt = at + 1;
    while (at < tree.length && tree[at] !== 0) at += 1;
    this.nul = at;
    this.end = at + 1 + ID_BYTES;
    if (this.end > tree.length) throw noTree(objectId('tree', tree));
    return true;
  }

  /** Where it stands in git's order: below 0 before that place, above 0 behind it. */
  compare(order: string): number {
    const tree = this.#tree;
    const { start, nameAt, nul } = this;
    const isFolder = nameAt - start === FOLDER.length + 1;
    const length = nul - nameAt + (isFolder ? 1 : 0);
    for (let at = 0; at < length && at < order.length; at++) {
      const byte = nameAt + at < nul ? (tree[nameAt + at] ?? 0) : SLASH;
      const other = order.charCodeAt(at);
      if (byte !== other) return byte - other;
    }
    return length - order.length;
  }
}

export function* placesOf(tree: Buffer): Generator<Place> {
  const entries = new Entries(tree);
  while (entries.next()) {
    const { start, nameAt, nul, end } = entries;
    const name = tree.toString('latin1', nameAt, nul);
    yield { name, mode: tree.toString('latin1', start, nameAt - 1), start, end };
  }
}

/** Which folders of these names a tree has. */
export function foldersIn(tree: Buffer, names: Iterable<string>): Map<string, string> {
  const found = new Map<string, string>();
  const wanted = Array.from(names, folderOrder).sort();
  const entries = new Entries(tree);
  let next = 0;
  while (next < wanted.length && entries.next()) {
    next = firstNotBefore(entries, wanted, next);
    const order = wanted[next];
    if (order === undefined || entries.compare(order) !== 0) continue;
    found.set(order.slice(0, -1), idBefore(tree, entries.end));
  }
  return found;
}

/** Of these places, from `next` on, the first that an entry does not stand behind. */
function firstNotBefore(entries: Entries, orders: readonly string[], next: number): number {
  for (let at = next; ; at++) {
    const order = orders[at];
    if (order === undefined || entries.compare(order) <= 0) return at;
  }
}

export const idBefore = (tree: Buffer, end: number): string =>
  tree.toString('hex', end - ID_BYTES, end);

/** The tree with other entries under these names, or none. What is not named is copied, not read. */
export function editTree(tree: Buffer, edits: ReadonlyMap<string, TreeEntry | null>): Buffer {
  const fresh = [...edits]
    .flatMap(([name, entry]) => (entry === null ? [] : [encode(name, entry)]))
    .sort((a, b) => (a.order < b.order ? -1 : 1));
  // What has such a name now may be a file or a folder.
  const gone = [...edits.keys()].flatMap((name) => [name, folderOrder(name)]).sort();
  const parts: Buffer[] = [];
  let copied = 0;
  const copyUpTo = (at: number): void => {
    if (at > copied) parts.push(tree.subarray(copied, at));
    copied = at;
  };
  const entries = new Entries(tree);
  let next = 0;
  for (let past = 0; (next < fresh.length || past < gone.length) && entries.next();) {
    for (let one = fresh[next]; one !== undefined; one = fresh[next]) {
      if (entries.compare(one.order) <= 0) break;
      copyUpTo(entries.start);
      parts.push(one.bytes);
      next += 1;
    }
    past = firstNotBefore(entries, gone, past);
    const order = gone[past];
    if (order === undefined || entries.compare(order) !== 0) continue;
    copyUpTo(entries.start);
    copied = entries.end;
  }
  copyUpTo(tree.length);
  return Buffer.concat([...parts, ...fresh.slice(next).map(({ bytes }) => bytes)]);
}

/** Git sorts a folder as if its name ended with a slash. */
const folderOrder = (name: string): string => `${name}/`;
const orderOf = (name: string, mode: string): string =>
  mode === FOLDER ? folderOrder(name) : name;

function encode(name: string, { mode, id }: TreeEntry): { order: string; bytes: Buffer } {
  const head = Buffer.from(`${mode} ${name}\0`, 'latin1');
  return { order: orderOf(name, mode), bytes: Buffer.concat([head, Buffer.from(id, 'hex')]) };
}
