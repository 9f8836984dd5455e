const LOCKS: ReadonlySet<string> = new Set(['index.lock', 'HEAD.lock']);

/**
 * Tells from what happens in `.git` whether the user's git is rewriting the tree: it holds
 * `index.lock` (or `HEAD.lock`) from before the first file it touches until after the last.
 *
 * Events are taken in their order and not checked against the disk: a quick checkout is over
 * before its first event is read.
 */
export class GitOperation {
  readonly #held = new Set<string>();

  get running(): boolean {
    return this.#held.size > 0;
  }

  /** Entry `name` of `.git` came or went. */
  cameOrWent(name: string): void {
    if (!LOCKS.has(name)) return;
    if (!this.#held.delete(name)) this.#held.add(name);
  }

  /** Corrects the picture: a lock whose end went unnoticed must not mark changes for ever. */
  recheck(exists: (name: string) => boolean): void {
    for (const lock of this.#held) if (!exists(lock)) this.#held.delete(lock);
  }
}
