import type { Hash, Path } from '../../core/model.js';
import type { Stamp } from '../../core/stamp.js';
import type { FolderRules } from '../../core/tracking.js';
import type {
  FileMode,
  FileState,
  KnownEntry,
  SkippedEntry,
  SkipReason,
} from '../../core/watching.js';
import type { Visit } from '../scan/visit.js';

const TYPE = 0o170000;
const LINK = 0o120000;
// Asked about at the next barrier; what is beyond it is left to scans.
const MAX_ELSEWHERE = 10_000;
// About 1 ms of asking at each barrier.
const MAX_FORMERLY = 200;

/** A file or link. Fields are assigned in one order everywhere, so that V8 keeps one shape. */
export class Leaf implements Stamp {
  mtimeMs = 0;
  ctimeMs = 0;
  size = 0;
  ino = 0;
  mode = 0;
  /** '' until the content is known for the first time. */
  hash = '';
  /** The stamp does not prove the content: read again when in doubt. */
  racy = true;
  skip: SkipReason | undefined = undefined;
  nlink = 1;
  /** A reader has it; `again` are those who want another look when that one is done. */
  reading = false;
  again: Visit[] | undefined = undefined;

  get isKnown(): boolean {
    return this.hash !== '';
  }

  get gitMode(): FileMode {
    if ((this.mode & TYPE) === LINK) return '120000';
    return (this.mode & 0o100) === 0 ? '100644' : '100755';
  }

  get state(): FileState | undefined {
    return this.hash === '' ? undefined : { hash: this.hash as Hash, mode: this.gitMode };
  }
}

/** A directory that the rules enter. A moved directory is a new Folder: `path` never changes. */
export class Folder {
  readonly path: string;
  readonly name: string;
  readonly parent: Folder | undefined;
  readonly children = new Map<string, Leaf | Folder>();
  /** Of the directory itself; undefined means: list it again. */
  stamp: Stamp | undefined = undefined;
  racy = true;
  ino = 0;
  watched = false;
  detached = false;
  /** False when only something below it is tracked: then it is no empty folder of its own. */
  tracked = true;
  skip: SkipReason | undefined = undefined;
  rules: FolderRules | undefined = undefined;
  /** Something was said about an entry when there were no rules to judge it by. */
  missed = false;
  /** The parent's rules that `rules` were made from; another object means they are stale. */
  rulesFrom: FolderRules | undefined = undefined;
  /** Text of the folder's own ignore file, and that text's hash as remembered from disk. */
  ignoreText: string | undefined = undefined;
  ignoreHash = '';
  hasGit = false;
  /** Escaped names that are no UTF-8; they have no other place. */
  oddNames: readonly string[] = [];

  constructor(parent: Folder | undefined, name: string) {
    this.parent = parent;
    this.name = name;
    this.path = parent === undefined ? '' : parent.childPath(name);
  }

  childPath(name: string): string {
    return this.path === '' ? name : `${this.path}/${name}`;
  }
}

/** Everything known, as a tree of folders. Holds no decisions and does no IO. */
export class KnownTree {
  root = new Folder(undefined, '');
  readonly folders = new Map<string, Folder>([['', this.root]]);
  readonly skipped = new Map<string, SkipReason>();
  /**
   * Files with further names, or that had some: a write through one of those raises no event here,
   * even when the other name is in the tree too.
   */
  readonly linked = new Map<Leaf, { readonly folder: Folder; readonly name: string }>();
  readonly nestedRoots = new Set<string>();
  readonly nestedRepositories = new Set<string>();
  files = 0;
  #hasNewLinks = false;
  readonly #linkedElsewhere = new Set<number>();
  /** Those of `linked` that have one name by now. */
  readonly #formerly = new Set<Leaf>();
  /** Kept up to date, because every checkpoint asks and there may be very many folders. */
  readonly #childless = new Set<Folder>([this.root]);

  /** A folder below `parent`; whatever had the name must be gone. */
  addFolder(parent: Folder, name: string): Folder {
    const folder = new Folder(parent, name);
    this.#addChild(parent, name, folder);
    this.folders.set(folder.path, folder);
    this.#childless.add(folder);
    return folder;
  }

  addLeaf(folder: Folder, name: string, leaf: Leaf): void {
    this.#addChild(folder, name, leaf);
  }

  #addChild(folder: Folder, name: string, child: Leaf | Folder): void {
    folder.children.set(name, child);
    this.#childless.delete(folder);
  }

  #removeChild(folder: Folder, name: string): void {
    folder.children.delete(name);
    if (folder.children.size === 0 && !folder.detached) this.#childless.add(folder);
  }

  setSkip(path: string, entry: Leaf | Folder, reason: SkipReason | undefined): void {
    if (entry.skip === reason) return;
    entry.skip = reason;
    if (reason === undefined) this.skipped.delete(path);
    else this.skipped.set(path, reason);
  }

  firstSkipped(limit: number): SkippedEntry[] {
    const found: SkippedEntry[] = [];
    for (const [path, reason] of this.skipped) {
      if (found.length >= limit) break;
      found.push({ path, reason });
    }
    return found;
  }

  setOddNames(folder: Folder, names: readonly string[]): void {
    for (const name of folder.oddNames) this.skipped.delete(folder.childPath(name));
    folder.oddNames = names;
    for (const name of names) this.skipped.set(folder.childPath(name), 'not_utf8');
  }

  setHasGit(folder: Folder, hasGit: boolean): void {
    folder.hasGit = hasGit;
    if (hasGit && folder.path !== '') this.nestedRepositories.add(folder.path);
    else this.nestedRepositories.delete(folder.path);
  }

  setLinks(folder: Folder, name: string, leaf: Leaf): void {
    if (leaf.nlink === 1) {
      if (this.linked.has(leaf)) this.#keepFormer(leaf);
      return;
    }
    this.#formerly.delete(leaf);
    if (this.linked.has(leaf)) return;
    this.linked.set(leaf, { folder, name });
    this.#hasNewLinks = true;
  }

  /**
   * Somebody may have it open under the name that went: the kernel reports what he writes under
   * that name, so the one that is left has to be asked on.
   */
  #keepFormer(leaf: Leaf): void {
    this.#formerly.add(leaf);
    if (this.#formerly.size <= MAX_FORMERLY) return;
    for (const oldest of this.#formerly) {
      this.#formerly.delete(oldest);
      this.linked.delete(oldest);
      return;
    }
  }

  /** A name that is not tracked belongs to a file with several: one of those may be. */
  noteOtherName(inode: number): void {
    if (this.#linkedElsewhere.size >= MAX_ELSEWHERE) return;
    this.#linkedElsewhere.add(inode);
    this.#hasNewLinks = true;
  }

  /**
   * A file that gets a second name has no event under its first. Finds the first names of those
   * that were noticed by a later one; true if there are any.
   */
  findOtherNames(): boolean {
    if (!this.#hasNewLinks) return false;
    this.#hasNewLinks = false;
    const before = this.linked.size;
    const inodes = new Set([...this.linked.keys()].map(({ ino }) => ino));
    for (const inode of this.#linkedElsewhere) inodes.add(inode);
    this.#linkedElsewhere.clear();
    for (const folder of this.folders.values()) {
      for (const [name, child] of folder.children) {
        if (!(child instanceof Leaf) || !inodes.has(child.ino)) continue;
        this.linked.set(child, { folder, name });
      }
    }
    return this.linked.size > before;
  }

  removeLeaf(folder: Folder, name: string, leaf: Leaf): void {
    this.#removeChild(folder, name);
    this.linked.delete(leaf);
    this.#formerly.delete(leaf);
    if (leaf.skip !== undefined) this.skipped.delete(folder.childPath(name));
    if (leaf.isKnown) this.files -= 1;
  }

  /** Forgets the folder's own record; its files are still to be removed, one by one. */
  removeFolder(folder: Folder): void {
    folder.detached = true;
    this.#childless.delete(folder);
    if (folder.parent !== undefined) this.#removeChild(folder.parent, folder.name);
    if (this.folders.get(folder.path) === folder) this.folders.delete(folder.path);
    if (folder.skip !== undefined) this.skipped.delete(folder.path);
    this.setOddNames(folder, []);
    this.nestedRepositories.delete(folder.path);
  }

  leaf(path: string): Leaf | undefined {
    const slash = path.lastIndexOf('/');
    const folder = this.folders.get(slash < 0 ? '' : path.slice(0, slash));
    const entry = folder?.children.get(path.slice(slash + 1));
    return entry instanceof Leaf ? entry : undefined;
  }

  *entries(): Generator<KnownEntry> {
    for (const folder of this.folders.values()) {
      for (const [name, child] of folder.children) {
        if (!(child instanceof Leaf) || !child.isKnown) continue;
        yield entryOf(folder.childPath(name), child);
      }
    }
  }

  *emptyFolders(): Generator<Path> {
    for (const folder of this.#childless) {
      if (folder.parent === undefined || !folder.tracked) continue;
      if (folder.oddNames.length === 0) yield folder.path as Path;
    }
  }
}

export function entryOf(path: string, leaf: Leaf): KnownEntry {
  const mode = leaf.gitMode;
  return {
    path: path as Path,
    kind: mode === '120000' ? 'link' : 'file',
    mode,
    hash: leaf.hash as Hash,
    size: leaf.size,
  };
}
