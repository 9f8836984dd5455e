import type { Path } from '../core/model.js';
import { sameState, type ChangeBatch, type FileState, type KnownEntry } from '../core/watching.js';

/** What a path was in the last checkpoint: a state, absent, or not known from here. */
type AtTip = FileState | null | 'unknown';

/** How one path differs from the last checkpoint. */
export interface PendingChange {
  readonly path: Path;
  readonly before: FileState | null;
  readonly after: KnownEntry | null;
}

/**
 * The paths that differ between a dialog's last checkpoint and the known state. Fed by the
 * watcher, so that a checkpoint costs what changed and not what there is.
 */
export class Pending {
  #paths = new Map<Path, AtTip>();

  /** Compares everything once: when a dialog is opened, or when its tip moved elsewhere. */
  static compare(tip: ReadonlyMap<Path, FileState>, known: Iterable<KnownEntry>): Pending {
    const pending = new Pending();
    const gone = new Map(tip);
    for (const entry of known) {
      const before = gone.get(entry.path);
      gone.delete(entry.path);
      if (!sameState(before, entry)) pending.#paths.set(entry.path, before ?? null);
    }
    for (const [path, before] of gone) pending.#paths.set(path, before);
    return pending;
  }

  note(batch: ChangeBatch): void {
    for (const { path, before, after } of batch.changes) {
      const atTip = this.#paths.get(path);
      if (atTip === undefined) this.#paths.set(path, before ?? null);
      // Back to what the checkpoint has: nothing is pending any more.
      else if (atTip !== 'unknown' && sameState(atTip, after)) this.#paths.delete(path);
    }
    for (const path of batch.untracked)
      if (!this.#paths.has(path)) this.#paths.set(path, 'unknown');
  }

  get size(): number {
    return this.#paths.size;
  }

  /** The present differences; `known` tells what each path is now. */
  changes(known: (path: Path) => KnownEntry | undefined): PendingChange[] {
    return [...this.#paths].flatMap(([path, atTip]) => {
      const after = known(path) ?? null;
      if (atTip !== 'unknown' && sameState(atTip, after)) return [];
      return [{ path, before: atTip === 'unknown' ? null : atTip, after }];
    });
  }

  /** Forgets what a checkpoint has just taken in; what came meanwhile stays. */
  taken(changes: readonly PendingChange[], known: (path: Path) => KnownEntry | undefined): void {
    for (const { path, after } of changes) {
      const now = known(path);
      if (sameState(after, now)) this.#paths.delete(path);
      else this.#paths.set(path, after);
    }
  }
}
