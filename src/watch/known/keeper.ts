import type { PendingStep } from './publisher.js';
import type { Stamp } from '../../core/stamp.js';
import type { ChangeOrigin, FileState } from '../../core/watching.js';
import type { Path } from '../../core/model.js';
import { Folder, type KnownTree, Leaf } from './tree.js';

interface Deps {
  readonly tree: KnownTree;
  readonly noted: (step: PendingStep) => void;
  readonly untracked: (path: Path, last: FileState) => void;
  /** The root is still the same directory: only then may anything count as deleted. */
  readonly rootIsHere: () => boolean;
  readonly unwatch: (folder: Folder) => void;
}

interface Place {
  readonly folder: Folder;
  readonly name: string;
  readonly leaf: Leaf;
  readonly origin: ChangeOrigin | undefined;
}

/** Changes the known tree, and tells the difference. The only writer of known content. */
export class Keeper {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  addLeaf(folder: Folder, name: string): Leaf {
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
  remove(folder: Folder, name: string, origin: ChangeOrigin | undefined): void {
    if (!this.#deps.rootIsHere()) return;
    this.#removeAll(folder, name, (path, before) =>
      this.#note({ path, before, after: undefined, origin }),
    );
  }

  /** Left out by a rule from now on, with everything below it; the disk is as it was. */
  untrack(folder: Folder, name: string): void {
    this.#removeAll(folder, name, (path, before) => this.#deps.untracked(path, before));
  }

  /** Rules let files in and out; when one that was in differs, somebody changed it. */
  #note(step: PendingStep): void {
    const isEdit = step.before !== undefined && step.origin === 'rules';
    this.#deps.noted(isEdit ? { ...step, origin: 'scan' } : step);
  }

  #removeAll(folder: Folder, name: string, told: (path: Path, before: FileState) => void): void {
    const entry = folder.children.get(name);
    if (entry instanceof Leaf) {
      this.#removeLeaf({ folder, name, leaf: entry }, told);
      return;
    }
    if (entry === undefined) return;
    // Collected first: nesting may be deeper than the call stack.
    const folders = [entry];
    for (const each of folders) {
      for (const child of each.children.values()) if (child instanceof Folder) folders.push(child);
    }
    for (const each of folders.reverse()) {
      for (const [childName, child] of each.children) {
        if (child instanceof Leaf) {
          this.#removeLeaf({ folder: each, name: childName, leaf: child }, told);
        }
      }
      this.#deps.unwatch(each);
      this.#deps.tree.removeFolder(each);
    }
  }

  #removeLeaf(
    at: { folder: Folder; name: string; leaf: Leaf },
    told: (path: Path, before: FileState) => void,
  ): void {
    const before = at.leaf.state;
    this.#deps.tree.removeLeaf(at.folder, at.name, at.leaf);
    if (before !== undefined) told(at.folder.childPath(at.name) as Path, before);
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
