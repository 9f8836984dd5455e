import type { Engine } from './engine.js';
import type { Folder } from '../known/tree.js';

interface Deps {
  readonly engine: () => Engine;
  /** Somebody must look at the folder again: its watch was taken over by another path. */
  readonly superseded: (folder: Folder) => void;
  /** Why a folder has no watch; undefined: all have one again. */
  readonly coverageChanged: (why: 'limit' | 'failed' | undefined) => void;
}

/** Which folders are watched, which should be but cannot, and which inode belongs to whom. */
export class Watches {
  readonly #deps: Deps;
  readonly #byInode = new Map<number, Folder>();
  readonly unwatched = new Set<Folder>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Watches the folder if it is not; must come before anything about its entries is read. */
  ensure(folder: Folder): void {
    if (folder.watched) return;
    // The kernel knows a directory by its inode. Two handles for one (after a move) would share
    // a watch that keeps reporting under the old name, so the old handle has to go first.
    const other = this.#byInode.get(folder.ino);
    if (other !== undefined && other !== folder) {
      this.drop(other);
      this.#deps.superseded(other);
    }
    const result = this.#deps.engine().watch(folder.path);
    // Whoever is about to look at it will find it gone.
    if (result === 'gone') return;
    if (result === 'watching') {
      folder.watched = true;
      this.#covered(folder);
      if (folder.ino !== 0) this.#byInode.set(folder.ino, folder);
      return;
    }
    this.unwatched.add(folder);
    this.#deps.coverageChanged(result);
  }

  /** Taken off by the engine for a while: until it is back, the folder has to be asked. */
  suspend(folder: Folder): void {
    this.drop(folder);
    this.unwatched.add(folder);
  }

  drop(folder: Folder): void {
    if (folder.watched) this.#deps.engine().unwatch(folder.path);
    folder.watched = false;
    this.#covered(folder);
    if (this.#byInode.get(folder.ino) === folder) this.#byInode.delete(folder.ino);
  }

  /** The engine is another one now, or was closed: nothing is watched any more. */
  reset(folders: Iterable<Folder>): void {
    for (const folder of folders) folder.watched = false;
    this.unwatched.clear();
    this.#byInode.clear();
  }

  #covered(folder: Folder): void {
    if (this.unwatched.delete(folder) && this.unwatched.size === 0) {
      this.#deps.coverageChanged(undefined);
    }
  }
}
