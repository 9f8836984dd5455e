import type { PendingStep } from './publisher.js';
import type { Stamp } from '../../core/stamp.js';
import type { ChangeOrigin, FileState } from '../../core/watching.js';
import type { Path } from '../../core/model.js';
import type { Visit } from '../scan/visit.js';
import { Leaving, type Told } from './leaving.js';
import { Folder, type KnownTree, Leaf } from './tree.js';

interface Deps {
  readonly tree: KnownTree;
  readonly noted: (step: PendingStep) => void;
  readonly untracked: (path: Path, last: FileState) => void;
  /** The root is still the same directory: only then may anything count as deleted. */
  readonly rootIsHere: () => boolean;
  readonly unwatch: (folder: Folder) => void;
  /** Files of folders that are gone are left to be told of: `tellOfLeft` has to be called. */
  readonly hasLeft: () => void;
}

interface Place {
  readonly folder: Folder;
  readonly name: string;
  readonly leaf: Leaf;
  readonly origin: ChangeOrigin | undefined;
}

// About 1 ms: most folders are told of at once.
const AT_ONCE = 500;

/** Changes the known tree, and tells the difference. The only writer of known content. */
export class Keeper {
  readonly #deps: Deps;
  readonly #leaving: Leaving;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#leaving = new Leaving(deps.tree);
  }

  addLeaf(folder: Folder, name: string): Leaf {
    this.#leaving.tellBefore(folder, name);
    const leaf = new Leaf();
    this.#deps.tree.addLeaf(folder, name, leaf);
    return leaf;
  }

  learn(at: Place, content: { hash: string; stamp: Stamp; racy: boolean }): void {
    const { folder, name, leaf, origin } = at;
    const path = folder.childPath(name);
    const before = leaf.state;
    if (before === undefined) this.#deps.tree.files += 1;
    setStamp(leaf, content.stamp);
    leaf.hash = content.hash;
    leaf.racy = content.racy;
    this.#deps.tree.setLinks(folder, name, leaf);
    this.#deps.tree.setSkip(path, leaf, undefined);
    const after = leaf.state;
    if (before?.hash === after?.hash && before?.mode === after?.mode) return;
    this.#note({ path: path as Path, before, after, origin });
  }

  /** Grown beyond the cap: its content leaves the known state, and nothing was deleted. */
  setTooLarge(path: string, leaf: Leaf, stamp: Stamp): void {
    this.#forgetContent(path, leaf);
    setStamp(leaf, stamp);
    this.#deps.tree.setSkip(path, leaf, 'too_large');
  }

  /** A FIFO, socket or device has the name: if a file was there, that file is gone. */
  setSpecial(path: string, leaf: Leaf, origin: ChangeOrigin | undefined): void {
    const before = leaf.state;
    if (before !== undefined) {
      leaf.hash = '';
      this.#deps.tree.files -= 1;
      this.#note({ path: path as Path, before, after: undefined, origin });
    }
    this.#deps.tree.setSkip(path, leaf, 'special');
  }

  /** Gone from disk, with everything below it. */
  remove(folder: Folder, name: string, visit: Visit): void {
    if (!this.#deps.rootIsHere()) return;
    const { origin } = visit;
    const told: Told = (path, before) => this.#note({ path, before, after: undefined, origin });
    this.#removeAll(folder, name, { told, visit });
  }

  /** Left out by a rule from now on, with everything below it; the disk is as it was. */
  untrack(folder: Folder, name: string, visit: Visit): void {
    this.#removeAll(folder, name, { told: this.#deps.untracked, visit });
  }

  /** Tells of the files of folders that are gone, until `due`; true when there are no more. */
  tellOfLeft(due: () => boolean): boolean {
    this.#leaving.advance(due);
    return this.#leaving.isEmpty;
  }

  /** Rules let files in and out; when one that was in differs, somebody changed it. */
  #note(step: PendingStep): void {
    const isEdit = step.before !== undefined && step.origin === 'rules';
    this.#deps.noted(isEdit ? { ...step, origin: 'scan' } : step);
  }

  #removeAll(folder: Folder, name: string, { told, visit }: { told: Told; visit: Visit }): void {
    const entry = folder.children.get(name);
    if (entry instanceof Leaf) {
      const before = entry.state;
      this.#deps.tree.removeLeaf(folder, name, entry);
      if (before !== undefined) told(folder.childPath(name) as Path, before);
      return;
    }
    if (entry === undefined) return;
    // Collected first: nesting may be deeper than the call stack.
    const folders = [entry];
    for (const each of folders) {
      for (const child of each.children.values()) if (child instanceof Folder) folders.push(child);
    }
    for (const each of folders.reverse()) {
      this.#deps.unwatch(each);
      this.#deps.tree.removeFolder(each);
      this.#leaving.add(each, told, visit);
    }
    if (!this.tellOfLeft(atMost(AT_ONCE))) this.#deps.hasLeft();
  }

  #forgetContent(path: string, leaf: Leaf): void {
    const before = leaf.state;
    if (before === undefined) return;
    leaf.hash = '';
    this.#deps.tree.files -= 1;
    this.#deps.untracked(path as Path, before);
  }
}

function setStamp(leaf: Leaf, stamp: Stamp): void {
  leaf.mtimeMs = stamp.mtimeMs;
  leaf.ctimeMs = stamp.ctimeMs;
  leaf.size = stamp.size;
  leaf.ino = stamp.ino;
  leaf.mode = stamp.mode;
  leaf.nlink = stamp.nlink;
}

function atMost(count: number): () => boolean {
  let left = count;
  return () => (left -= 1) <= 0;
}
