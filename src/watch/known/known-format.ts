import { createHash } from 'node:crypto';
import { Folder, type KnownTree, Leaf } from './tree.js';

/**
 * known.bin, version 1. All numbers little-endian.
 *
 *   "SMKNOWN1"  u32 length of binding  binding (JSON)  folders...  sha1 of all before
 *
 * A folder comes after its parent:
 *   u32 parent (index in file; root: 0xffffffff)  text name  u8 flags
 *   f64 mtime ctime ino  u32 size  u32 mode  20 bytes hash of ignore file (zero: none)
 *   u32 subfolders  u32 files  files...
 * A file: text name  u8 flags  f64 mtime ctime size ino  u32 mode  20 bytes content hash
 * A text: u16 length, UTF-8.
 */
const MAGIC = Buffer.from('SMKNOWN1', 'latin1');
const ROOT = 0xffffffff;
const SUM = 20;
const FOLDER_STAMPED = 1;
const FOLDER_HAS_GIT = 2;
const FOLDER_TRACKED = 4;
// Files between two chances to pause: well below a millisecond.
const SLICE = 512;
const FILE_RACY = 1;
const FILE_LINKED = 2;

/** Writes into a buffer that grows. */
export class KnownEncoder {
  #buffer = Buffer.allocUnsafe(1 << 20);
  #at = 0;
  readonly #indexes = new Map<Folder, number>();

  constructor(binding: unknown) {
    const text = Buffer.from(JSON.stringify(binding), 'utf8');
    this.#room(MAGIC.length + 4 + text.length);
    this.#at += MAGIC.copy(this.#buffer, this.#at);
    this.#u32(text.length);
    this.#at += text.copy(this.#buffer, this.#at);
  }

  /**
   * One folder with its files; its parent must have been added. Can be left off now and then: what
   * changes meanwhile moves the folder's stamp or the file's own, and is found by that. `hasMore`:
   * there are entries that are not known and still matter, so it has to be listed next time.
   */
  *add(folder: Folder, hasMore = false): Generator<void> {
    const parent = folder.parent === undefined ? ROOT : this.#indexes.get(folder.parent);
    if (parent === undefined) return;
    this.#indexes.set(folder, this.#indexes.size);
    this.#room(128);
    this.#u32(parent);
    this.#text(folder.name);
    const children = [...folder.children];
    const files = children.filter(([, child]) => child instanceof Leaf && child.isKnown);
    const subfolders = children.filter(([, child]) => child instanceof Folder).length;
    // Files without known content and damaged names are not saved: only a listing finds those again.
    const isWhole = files.length + subfolders === children.length && folder.oddNames.length === 0;
    this.#u8(folderFlags(folder, isWhole && !hasMore));
    const stamp = folder.stamp ?? UNKNOWN;
    this.#f64(stamp.mtimeMs);
    this.#f64(stamp.ctimeMs);
    this.#f64(folder.ino);
    this.#u32(stamp.size);
    this.#u32(stamp.mode);
    this.#hash(folder.ignoreHash);
    this.#u32(subfolders);
    this.#u32(files.length);
    for (const [index, [name, child]] of files.entries()) {
      if (child instanceof Leaf) this.#file(name, child);
      if (index % SLICE === SLICE - 1) yield;
    }
  }

  finish(): Buffer {
    this.#room(SUM);
    const sum = createHash('sha1').update(this.#buffer.subarray(0, this.#at)).digest();
    this.#at += sum.copy(this.#buffer, this.#at);
    return this.#buffer.subarray(0, this.#at);
  }

  #file(name: string, leaf: Leaf): void {
    this.#room(64);
    this.#text(name);
    // What could not be read last time must be read next time, whatever its stamp.
    const isDoubtful = leaf.racy || leaf.skip !== undefined || leaf.reading;
    this.#u8((isDoubtful ? FILE_RACY : 0) | (leaf.nlink > 1 ? FILE_LINKED : 0));
    this.#f64(leaf.mtimeMs);
    this.#f64(leaf.ctimeMs);
    this.#f64(leaf.size);
    this.#f64(leaf.ino);
    this.#u32(leaf.mode);
    this.#hash(leaf.hash);
  }

  #u8(value: number): void {
    this.#at = this.#buffer.writeUInt8(value, this.#at);
  }

  #u32(value: number): void {
    this.#at = this.#buffer.writeUInt32LE(value, this.#at);
  }

  #f64(value: number): void {
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  #hash(hex: string): void {
    if (hex === '') this.#buffer.fill(0, this.#at, this.#at + SUM);
    else this.#buffer.write(hex, this.#at, SUM, 'hex');
    this.#at += SUM;
  }

  #text(text: string): void {
    this.#room(text.length * 3 + 128);
    const length = this.#buffer.write(text, this.#at + 2, 'utf8');
    this.#buffer.writeUInt16LE(length, this.#at);
    this.#at += 2 + length;
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe((this.#buffer.length + bytes) * 2);
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }
}

/** Reads a file written by `KnownEncoder`. Throws on anything that is not exactly that. */
export class KnownDecoder {
  readonly #buffer: Buffer;
  readonly #end: number;
  #at = MAGIC.length;
  readonly binding: unknown;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#end = buffer.length - SUM;
    if (this.#end < MAGIC.length || !buffer.subarray(0, MAGIC.length).equals(MAGIC)) {
      throw new Error('another format');
    }
    const sum = createHash('sha1').update(buffer.subarray(0, this.#end)).digest();
    if (!sum.equals(buffer.subarray(this.#end))) throw new Error('checksum mismatch');
    const length = this.#u32();
    this.binding = JSON.parse(buffer.toString('utf8', this.#at, this.#at + length));
    this.#at += length;
  }

  /** Fills an empty tree; can be left off after each folder, and within large ones. */
  *readInto(tree: KnownTree): Generator<void> {
    const folders: Folder[] = [];
    const expected: number[] = [];
    while (this.#at < this.#end) {
      const parentIndex = this.#u32();
      const name = this.#text();
      const parent = folders[parentIndex];
      if (parentIndex !== ROOT && parent === undefined) throw new Error('no such parent');
      const folder = parent === undefined ? tree.root : tree.addFolder(parent, name);
      folders.push(folder);
      expected.push(this.#folder(tree, folder));
      for (let files = this.#u32(); files > 0; files -= 1) {
        this.#file(tree, folder);
        if (files % SLICE === 0) yield;
      }
      yield;
    }
    for (const [index, folder] of folders.entries()) {
      let subfolders = 0;
      for (const child of folder.children.values()) if (child instanceof Folder) subfolders += 1;
      // Written in slices: a subfolder may have left between its parent's slice and its own.
      if (subfolders !== expected[index]) folder.stamp = undefined;
    }
  }

  /** All but its files. Returns how many subfolders it had. */
  #folder(tree: KnownTree, folder: Folder): number {
    const flags = this.#u8();
    const mtimeMs = this.#f64();
    const ctimeMs = this.#f64();
    const ino = this.#f64();
    const size = this.#u32();
    const mode = this.#u32();
    folder.ino = ino;
    folder.racy = false;
    if ((flags & FOLDER_STAMPED) !== 0)
      folder.stamp = { mtimeMs, ctimeMs, ino, size, mode, nlink: 1 };
    folder.tracked = (flags & FOLDER_TRACKED) !== 0;
    if ((flags & FOLDER_HAS_GIT) !== 0) tree.setHasGit(folder, true);
    folder.ignoreHash = this.#hash();
    return this.#u32();
  }

  #file(tree: KnownTree, folder: Folder): void {
    const leaf = new Leaf();
    const name = this.#text();
    const flags = this.#u8();
    leaf.racy = (flags & FILE_RACY) !== 0;
    leaf.nlink = (flags & FILE_LINKED) === 0 ? 1 : 2;
    leaf.mtimeMs = this.#f64();
    leaf.ctimeMs = this.#f64();
    leaf.size = this.#f64();
    leaf.ino = this.#f64();
    leaf.mode = this.#u32();
    leaf.hash = this.#hash();
    if (!leaf.isKnown) {
      // Lost its content while the others were written: the next listing finds it.
      folder.stamp = undefined;
      return;
    }
    tree.addLeaf(folder, name, leaf);
    tree.files += 1;
    tree.setLinks(folder, name, leaf);
  }

  #u8(): number {
    this.#at += 1;
    return this.#buffer.readUInt8(this.#at - 1);
  }

  #u32(): number {
    this.#at += 4;
    return this.#buffer.readUInt32LE(this.#at - 4);
  }

  #f64(): number {
    this.#at += 8;
    return this.#buffer.readDoubleLE(this.#at - 8);
  }

  #hash(): string {
    this.#at += SUM;
    const hex = this.#buffer.toString('hex', this.#at - SUM, this.#at);
    return hex === NO_HASH ? '' : hex;
  }

  #text(): string {
    const length = this.#buffer.readUInt16LE(this.#at);
    this.#at += 2 + length;
    return this.#buffer.toString('utf8', this.#at - length, this.#at);
  }
}

const NO_HASH = '0'.repeat(2 * SUM);
const UNKNOWN = { mtimeMs: 0, ctimeMs: 0, size: 0, mode: 0 };

function folderFlags(folder: Folder, isWhole: boolean): number {
  const isSteady = folder.stamp !== undefined && !folder.racy && folder.skip === undefined;
  const isStamped = isSteady && isWhole;
  return (
    (isStamped ? FOLDER_STAMPED : 0) |
    (folder.hasGit ? FOLDER_HAS_GIT : 0) |
    (folder.tracked ? FOLDER_TRACKED : 0)
  );
}
