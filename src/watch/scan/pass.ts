import type { Dirent } from 'node:fs';
import { isProtected, STATE_FOLDER } from '../../core/paths.js';
import { isRacy, sameStamp, type Stamp } from '../../core/stamp.js';
import { look } from './disk.js';
import type { Glance, Inspector } from './inspector.js';
import type { Keeper } from '../known/keeper.js';
import { Lister, type Listing, type Unlisted } from './listing.js';
import type { Mounts } from './mounts.js';
import type { Rulebook } from '../rules/rulebook.js';
import { Folder, type KnownTree } from '../known/tree.js';
import type { Watches } from '../engine/watches.js';

export interface PassDeps {
  readonly absolute: (relative: string) => string;
  readonly tree: KnownTree;
  readonly watches: Watches;
  readonly mounts: Mounts;
  readonly rulebook: Rulebook;
  readonly keeper: Keeper;
  readonly inspector: Inspector;
  readonly enter: (folder: Folder, glance: Glance) => void;
  readonly rootIsHere: () => boolean;
  /** Something could not be opened because too much is open. */
  readonly exhausted: () => void;
}

// A folder this large is listed in parts. Its own size counts because nothing may be known of it
// yet: bytes on most file systems, some 400 entries; entries on others.
const LARGE_BYTES = 16_384;
const LARGE_COUNT = 1_000;

/**
 * One look at the entries of one folder: watch, stamp, list, then name by name. In that order
 * nothing can change unnoticed in between. Can be left off after any name.
 */
export class FolderPass {
  readonly #deps: PassDeps;
  readonly #folder: Folder;
  #glance: Glance;
  #names: Iterator<readonly [string, Dirent | undefined]> | undefined;
  #lister: Lister | undefined;
  #stamp: Stamp | undefined;
  #racy = true;
  #isListed = false;

  constructor(deps: PassDeps, folder: Folder, glance: Glance) {
    this.#deps = deps;
    this.#folder = folder;
    this.#glance = glance;
  }

  /** Goes on until `due`; true when the folder is done. */
  advance(due: () => boolean): boolean {
    const names = this.#names === undefined ? this.#find(due) : 'found';
    if (names !== 'found') return names === 'none';
    for (;;) {
      const next = this.#names?.next();
      if (this.#folder.detached) return true;
      if (next === undefined || next.done === true) break;
      this.#step(...next.value);
      if (due()) return false;
    }
    this.#folder.stamp = this.#folder.missed ? undefined : this.#stamp;
    this.#folder.racy = this.#racy;
    if (this.#folder.missed) this.#deps.enter(this.#folder, { ...this.#glance, deep: false });
    return true;
  }

  /** Nobody will come back to it. */
  close(): void {
    this.#lister?.close();
    this.#lister = undefined;
  }

  /** False when there is nothing to go through. */
  #open(): boolean {
    const folder = this.#folder;
    if (folder.detached) return false;
    this.#deps.watches.ensure(folder);
    // What was said so far is in what is looked at from here on.
    folder.missed = false;
    const readAt = Date.now();
    const found = look(this.#deps.absolute(folder.path));
    if (found === 'unreadable' || found === 'unreachable') return this.#cannot(found);
    if (found === 'gone' || !found.isDirectory() || found.ino !== folder.ino) {
      this.#replaced();
      return false;
    }
    this.#deps.mounts.look(found.dev, this.#deps.absolute(folder.path));
    const same = folder.stamp !== undefined && !folder.racy && sameStamp(folder.stamp, found);
    this.#stamp = copyStamp(found);
    this.#racy = isRacy(found, readAt);
    if (same && !this.#glance.force && !this.#rulesDiffer(folder.ignoreHash !== '')) {
      this.#racy = false;
      this.#names = known(folder);
      return true;
    }
    const isLarge = found.size >= LARGE_BYTES || folder.children.size >= LARGE_COUNT;
    this.#lister = new Lister(this.#deps.absolute(folder.path), isLarge);
    return true;
  }

  #find(due: () => boolean): 'found' | 'more' | 'none' {
    if (this.#lister === undefined && !this.#open()) return 'none';
    if (this.#lister === undefined) return 'found';
    if (this.#folder.detached) {
      this.close();
      return 'none';
    }
    const listing = this.#lister.advance(due);
    if (listing === undefined) return 'more';
    this.#lister = undefined;
    return this.#take(listing) ? 'found' : 'none';
  }

  #take(listing: Listing | Unlisted): boolean {
    const folder = this.#folder;
    if (listing === 'unreadable' || listing === 'unreachable') return this.#cannot(listing);
    if (listing === 'exhausted') {
      this.#deps.exhausted();
      return this.#cannot('unreadable');
    }
    if (listing === 'gone') {
      this.#replaced();
      return false;
    }
    const names = new Set(listing.entries.map(({ name }) => name));
    if (folder.parent !== undefined && names.has(STATE_FOLDER)) {
      this.#deps.tree.nestedRoots.add(folder.path);
      this.#deps.keeper.untrack(folder.parent, folder.name, this.#glance.visit);
      return false;
    }
    this.#deps.tree.setSkip(folder.path, folder, undefined);
    this.#deps.tree.setOddNames(folder, listing.oddNames);
    this.#deps.tree.setHasGit(folder, names.has('.git'));
    this.#rulesDiffer(names.has('.gitignore'));
    this.#names = listed(folder, listing, names);
    this.#isListed = true;
    return true;
  }

  #rulesDiffer(hasIgnoreFile: boolean): boolean {
    const rules = this.#deps.rulebook.refresh(this.#folder, hasIgnoreFile);
    // Decided by other rules than it should be: look again, whatever its stamp says by then.
    if (rules === 'unknown') this.#stamp = undefined;
    const differ = rules === 'changed';
    if (differ) this.#glance = { ...this.#glance, force: true, deep: true };
    return differ;
  }

  #step(name: string, entry: Dirent | undefined): void {
    if (isProtected(name)) return;
    const child = this.#folder.children.get(name);
    if (child instanceof Folder && !this.#isListed) {
      // Its own pass looks at it, after watching it.
      if (this.#glance.deep) this.#deps.enter(child, this.#glance);
      return;
    }
    this.#deps.inspector.check(this.#folder, name, {
      ...this.#glance,
      isListedFile: entry?.isFile() === true,
    });
  }

  #cannot(reason: 'unreadable' | 'unreachable'): false {
    this.#deps.tree.setSkip(this.#folder.path, this.#folder, reason);
    this.#folder.stamp = undefined;
    return false;
  }

  /** Another directory, or something else, has the name: that is a question for the parent. */
  #replaced(): void {
    const { parent, name } = this.#folder;
    if (parent === undefined) this.#deps.rootIsHere();
    else this.#deps.inspector.check(parent, name, this.#glance);
  }
}

/** A whole `Stats` with its four dates, kept for each folder, would be most of the memory. */
function copyStamp({ mtimeMs, ctimeMs, size, ino, mode, nlink }: Stamp): Stamp {
  return { mtimeMs, ctimeMs, size, ino, mode, nlink };
}

/** The entries of an unchanged folder need no listing. */
function* known(folder: Folder): Generator<readonly [string, undefined]> {
  for (const name of [...folder.children.keys()]) yield [name, undefined];
}

function* listed(
  folder: Folder,
  { entries }: Listing,
  names: ReadonlySet<string>,
): Generator<readonly [string, Dirent | undefined]> {
  // Gone ones first: a moved folder's old watch should end before its new one begins.
  for (const name of [...folder.children.keys()]) if (!names.has(name)) yield [name, undefined];
  for (const entry of entries) yield [entry.name, entry];
}
