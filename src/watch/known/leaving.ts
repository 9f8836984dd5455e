import type { Path } from '../../core/model.js';
import type { FileState } from '../../core/watching.js';
import type { Visit } from '../scan/visit.js';
import { type Folder, type KnownTree, Leaf } from './tree.js';

export type Told = (path: Path, before: FileState) => void;

interface Departure {
  readonly folder: Folder;
  readonly leaves: Iterator<[string, Leaf | Folder]>;
  readonly told: Told;
  readonly visit: Visit;
}

/**
 * Folders that are known to be gone, while the files they had are still to be told of one by one:
 * there may be very many, and nobody should wait for them but who asked about them.
 */
export class Leaving {
  readonly #tree: KnownTree;
  readonly #queue = new Set<Departure>();
  readonly #byPath = new Map<string, Departure[]>();

  constructor(tree: KnownTree) {
    this.#tree = tree;
  }

  get isEmpty(): boolean {
    return this.#queue.size === 0;
  }

  /** The folder has no place in the tree any more. The visit is not over before its files are. */
  add(folder: Folder, told: Told, visit: Visit): void {
    if (folder.children.size === 0) return;
    visit.begin();
    const departure = { folder, leaves: folder.children.entries(), told, visit };
    this.#queue.add(departure);
    this.#byPath.set(folder.path, [...(this.#byPath.get(folder.path) ?? []), departure]);
  }

  /** The name comes back: that it went has to be told before. */
  tellBefore(folder: Folder, name: string): void {
    for (const departure of this.#byPath.get(folder.path) ?? []) {
      const leaf = departure.folder.children.get(name);
      if (leaf instanceof Leaf) this.#tell(departure, name, leaf);
    }
  }

  /** Goes on until `due`; the folder that left first is told of first. */
  advance(due: () => boolean): void {
    for (const departure of this.#queue) {
      if (!this.#finish(departure, due)) return;
      this.#remove(departure);
      if (due()) return;
    }
  }

  #finish(departure: Departure, due: () => boolean): boolean {
    for (;;) {
      const next = departure.leaves.next();
      if (next.done === true) return true;
      const [name, leaf] = next.value;
      if (leaf instanceof Leaf) this.#tell(departure, name, leaf);
      if (due()) return departure.folder.children.size === 0;
    }
  }

  #tell({ folder, told }: Departure, name: string, leaf: Leaf): void {
    const before = leaf.state;
    this.#tree.removeLeaf(folder, name, leaf);
    if (before !== undefined) told(folder.childPath(name) as Path, before);
  }

  #remove(departure: Departure): void {
    this.#queue.delete(departure);
    const { path } = departure.folder;
    const others = (this.#byPath.get(path) ?? []).filter((each) => each !== departure);
    if (others.length === 0) this.#byPath.delete(path);
    else this.#byPath.set(path, others);
    departure.visit.end();
  }
}
