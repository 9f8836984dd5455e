import type { Glance, Inspector } from './inspector.js';
import { FolderPass, type PassDeps } from './pass.js';
import type { Folder, KnownTree } from '../known/tree.js';
import type { Visit } from './visit.js';

interface Deps {
  readonly tree: KnownTree;
  readonly inspector: () => Inspector;
  readonly pass: () => PassDeps;
  /** Tells of files whose folder is gone, until `due`; true when there are no more. */
  readonly tellOfLeft: (due: () => boolean) => boolean;
  /** Reading is so far behind that finding more to read would only fill memory. */
  readonly isReadingBehind: () => boolean;
}

interface Task {
  readonly folder: Folder;
  readonly visit: Visit;
  readonly pass: FolderPass;
}

// Short enough that a request in between never notices.
const SLICE_MS = 6;
// Beyond this many names, listing the folder is cheaper than asking for each.
const MANY_NAMES = 10_000;

/**
 * Works through hints and folders in slices, so that the loop stays free. Hints go first: they
 * are few, and somebody may be waiting for them.
 */
export class Pump {
  readonly #deps: Deps;
  readonly #hints = new Map<Visit, Map<string, Set<string> | 'all'>>();
  // Folders found by events, and those of scans, which must not hold up the former.
  readonly #urgent: Task[] = [];
  readonly #patient: Task[] = [];
  #scheduled = false;
  #stopped = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  hint(folder: string, name: string | undefined, visit: Visit): void {
    let folders = this.#hints.get(visit);
    if (folders === undefined) {
      folders = new Map();
      this.#hints.set(visit, folders);
    }
    const names = folders.get(folder);
    if (names === undefined) {
      visit.begin();
      folders.set(folder, name === undefined ? 'all' : new Set([name]));
    } else if (name === undefined) {
      folders.set(folder, 'all');
    } else if (names !== 'all') {
      names.add(name);
      if (names.size > MANY_NAMES) folders.set(folder, 'all');
    }
    this.schedule();
  }

  enter(folder: Folder, glance: Glance): void {
    glance.visit.begin();
    const pass = new FolderPass(this.#deps.pass(), folder, { ...glance, bulk: true });
    (glance.visit.isUrgent ? this.#urgent : this.#patient).push({
      folder,
      visit: glance.visit,
      pass,
    });
    this.schedule();
  }

  stop(): void {
    this.#stopped = true;
    for (const { pass } of [...this.#urgent, ...this.#patient]) pass.close();
  }

  schedule(): void {
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#stopped) this.#turn();
    });
  }

  #turn(): void {
    const start = performance.now();
    this.#runHints(() => performance.now() - start > SLICE_MS);
    const isToldOfLeft = this.#deps.tellOfLeft(() => performance.now() - start > 2 * SLICE_MS);
    this.#runTasks(this.#urgent, () => performance.now() - start > 2 * SLICE_MS);
    const canScan = !this.#deps.isReadingBehind();
    if (canScan) this.#runTasks(this.#patient, () => performance.now() - start > 2 * SLICE_MS);
    // A scan that waits for readers is woken by them.
    const more = this.#hints.size + this.#urgent.length + (canScan ? this.#patient.length : 0);
    if (more > 0 || !isToldOfLeft) this.schedule();
  }

  #runHints(due: () => boolean): void {
    for (const [visit, folders] of this.#hints) {
      for (const [path, names] of folders) {
        if (!this.#runFolderHints(path, names, { visit, due })) return;
        folders.delete(path);
        visit.end();
      }
      if (folders.size === 0) this.#hints.delete(visit);
      if (due()) return;
    }
  }

  /** False when time ran out before the last name. */
  #runFolderHints(
    path: string,
    names: Set<string> | 'all',
    { visit, due }: { visit: Visit; due: () => boolean },
  ): boolean {
    const folder = this.#deps.tree.folders.get(path);
    if (folder === undefined) return true;
    if (names === 'all') {
      folder.stamp = undefined;
      this.enter(folder, { visit, bulk: true, force: false, deep: false });
      return true;
    }
    for (const name of names) {
      names.delete(name);
      this.#deps.inspector().check(folder, name, { visit, bulk: false, force: false, deep: false });
      if (due()) return names.size === 0;
    }
    return true;
  }

  #runTasks(tasks: Task[], due: () => boolean): void {
    while (!due()) {
      const task = tasks.pop();
      if (task === undefined) return;
      if (!task.pass.advance(due)) {
        tasks.push(task);
        return;
      }
      task.visit.end();
    }
  }
}
