import type { Stats } from 'node:fs';
import { isProtected } from '../../core/paths.js';
import { sameStamp } from '../../core/stamp.js';
import { isTemporary } from '../../core/tree-writer.js';
import type { EntryKind } from '../../core/tracking.js';
import { isExhaustion, readLink, type Reading } from '../content/content.js';
import { kindOf, look } from './disk.js';
import type { HashJob } from '../content/hasher.js';
import type { Keeper } from '../known/keeper.js';
import { Folder, type KnownTree, Leaf } from '../known/tree.js';
import type { Visit } from './visit.js';

/** How a name came to be looked at. */
export interface Glance {
  readonly visit: Visit;
  /** Many at once: leave reading to the queue instead of doing it here and now. */
  readonly bulk: boolean;
  /** Rules changed: ask them again for entries they have let in before. */
  readonly force: boolean;
  /** Look into known subfolders too. */
  readonly deep: boolean;
  /** A regular file by its folder's own listing: good enough for one never seen before. */
  readonly isListedFile?: boolean;
}

const CALM = { bulk: true, force: false, deep: false } as const;

interface Deps {
  readonly absolute: (relative: string) => string;
  readonly tree: KnownTree;
  readonly keeper: Keeper;
  readonly maxBytes: () => number;
  readonly hasher: () => { now(job: HashJob): void; push(job: HashJob): void };
  /** The folder is new, or may not be what it was: look into it. */
  readonly enter: (folder: Folder, glance: Glance) => void;
  /** The folder's own ignore file, `.git` or state folder came, went or changed. */
  readonly special: (folder: Folder, name: string, glance: Glance) => void;
  /** Something could not be opened because too much is open. */
  readonly exhausted: () => void;
  /** Tries the path again a little later. */
  readonly later: (folder: Folder, name: string) => void;
}

/** Brings what is known about one name in line with the disk. All knowledge comes through here. */
export class Inspector {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  check(folder: Folder, name: string, glance: Glance): void {
    if (folder.detached) return;
    if (folder.rules === undefined) {
      // Its first listing is under way, and may be past the name.
      folder.missed = true;
      return;
    }
    if (name === '.gitignore') this.#deps.special(folder, name, glance);
    if (isProtected(name)) {
      this.#deps.special(folder, name, glance);
      return;
    }
    const known = folder.children.get(name);
    // Made and renamed by our own restore before anybody could look.
    if (known === undefined && isTemporary(name)) return;
    if (known === undefined && glance.isListedFile === true) {
      if (folder.rules.decide(name, 'file').tracked) this.#newFile(folder, name, glance);
      return;
    }
    this.#compare(folder, name, glance);
  }

  /** Takes in what a reader found. */
  take(job: HashJob, reading: Reading): void {
    const { folder, name, leaf } = job;
    const askers = leaf.again ?? [];
    leaf.again = undefined;
    if (!folder.detached && folder.children.get(name) === leaf) this.#apply(job, reading);
    for (const visit of askers) {
      if (!folder.detached) this.#compare(folder, name, { visit, ...CALM });
      visit.end();
    }
  }

  #apply(job: HashJob, reading: Reading): void {
    const { folder, name, leaf, visit } = job;
    const { keeper, tree } = this.#deps;
    const path = folder.childPath(name);
    switch (reading.kind) {
      case 'content':
        keeper.learn({ folder, name, leaf, origin: visit.origin }, reading);
        break;
      case 'too_large':
        keeper.setTooLarge(path, leaf, reading.stamp);
        break;
      case 'unreadable':
        if (isExhaustion(reading.code)) this.#deps.exhausted();
        tree.setSkip(path, leaf, 'unreadable');
        break;
      case 'unstable':
        tree.setSkip(path, leaf, 'unstable');
        this.#deps.later(folder, name);
        break;
      case 'moved':
        this.#moved(job);
        break;
    }
  }

  #moved({ folder, name, leaf, visit }: HashJob): void {
    const found = look(this.#deps.absolute(folder.childPath(name)));
    if (typeof found !== 'string' && found.isFile()) {
      // It was away when read and is back now: somebody is at it. Do not chase it here.
      this.#deps.tree.setSkip(folder.childPath(name), leaf, 'unstable');
      this.#deps.later(folder, name);
      return;
    }
    this.#compare(folder, name, { visit, ...CALM });
  }

  #compare(folder: Folder, name: string, glance: Glance): void {
    const { tree, keeper } = this.#deps;
    const path = folder.childPath(name);
    const known = folder.children.get(name);
    const found = look(this.#deps.absolute(path));
    if (typeof found === 'string') {
      if (found === 'gone') tree.nestedRoots.delete(path);
      if (known === undefined) return;
      if (found === 'gone') keeper.remove(folder, name, glance.visit);
      else tree.setSkip(path, known, found);
      return;
    }
    const kind = kindOf(found);
    // Entries let in before stay in until the rules change.
    const isDecided = known !== undefined && !glance.force && !changedKind(known, kind);
    const decision = isDecided ? undefined : folder.rules?.decide(name, kind);
    if (decision?.[kind === 'directory' ? 'enter' : 'tracked'] === false) {
      this.#unwanted(folder, name, { found, glance, kind });
    } else if (kind === 'directory') {
      this.#directory(folder, name, { found, glance, tracked: decision?.tracked });
    } else {
      this.#file(folder, name, { found, glance, kind });
    }
  }

  /** Not tracked, or no longer: by a rule if it is the same thing as before, else that is gone. */
  #unwanted(
    folder: Folder,
    name: string,
    seen: { found: Stats; glance: Glance; kind: EntryKind },
  ): void {
    const known = folder.children.get(name);
    if (seen.kind === 'file' && seen.found.nlink > 1) {
      this.#deps.tree.noteOtherName(seen.found.ino);
    }
    if (known === undefined) return;
    if (changedKind(known, seen.kind)) {
      this.#deps.keeper.remove(folder, name, seen.glance.visit);
    } else {
      this.#deps.keeper.untrack(folder, name, seen.glance.visit);
    }
  }

  #directory(
    folder: Folder,
    name: string,
    seen: { found: Stats; glance: Glance; tracked: boolean | undefined },
  ): void {
    const { tree, keeper } = this.#deps;
    const { found, glance } = seen;
    if (tree.nestedRoots.has(folder.childPath(name))) {
      const state = look(this.#deps.absolute(`${folder.childPath(name)}/.agentsmithy`));
      if (state !== 'gone') return;
      tree.nestedRoots.delete(folder.childPath(name));
    }
    const known = folder.children.get(name);
    if (known instanceof Folder && known.ino === found.ino) {
      if (seen.tracked !== undefined) known.tracked = seen.tracked;
      // An inode number is reused at once on ext4: a dead watch says it is another directory.
      this.#deps.enter(known, { ...glance, deep: glance.deep || !known.watched });
      return;
    }
    if (known !== undefined) keeper.remove(folder, name, glance.visit);
    if (folder.children.has(name)) return;
    const fresh = tree.addFolder(folder, name);
    fresh.ino = found.ino;
    fresh.tracked = seen.tracked ?? true;
    this.#deps.enter(fresh, glance);
  }

  #file(
    folder: Folder,
    name: string,
    seen: { found: Stats; glance: Glance; kind: EntryKind },
  ): void {
    const { keeper } = this.#deps;
    const { found, glance, kind } = seen;
    const path = folder.childPath(name);
    const known = folder.children.get(name);
    if (known instanceof Folder) {
      keeper.remove(folder, name, glance.visit);
      if (folder.children.has(name)) return;
    }
    const leaf = known instanceof Leaf ? known : keeper.addLeaf(folder, name);
    if (leaf.reading) {
      glance.visit.begin();
      leaf.again = [...(leaf.again ?? []), glance.visit];
      return;
    }
    if (kind === 'special') {
      keeper.setSpecial(path, leaf, glance.visit.origin);
      return;
    }
    if (kind === 'file' && found.size > this.#deps.maxBytes()) {
      keeper.setTooLarge(path, leaf, found);
      return;
    }
    if (leaf.isKnown && leaf.skip === undefined && !leaf.racy && sameStamp(leaf, found)) return;
    const job = { folder, name, leaf, visit: glance.visit, size: found.size };
    if (kind === 'link') this.take(job, readLink(this.#deps.absolute(path)));
    else this.#read(job, glance.bulk);
  }

  #newFile(folder: Folder, name: string, { visit, bulk }: Glance): void {
    const leaf = this.#deps.keeper.addLeaf(folder, name);
    this.#read({ folder, name, leaf, visit, size: 0 }, bulk);
  }

  #read(job: HashJob, isBulk: boolean): void {
    if (isBulk) this.#deps.hasher().push(job);
    else this.#deps.hasher().now(job);
  }
}

function changedKind(known: Leaf | Folder, kind: EntryKind): boolean {
  return known instanceof Folder !== (kind === 'directory');
}
