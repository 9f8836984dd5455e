import {
  closeSync,
  existsSync,
  type FSWatcher,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  watch,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { grouped } from '../grouped.js';

interface Deps {
  /** A folder of our own, outside everybody's `git status`. */
  readonly folder: string;
  readonly timeoutMs: number;
}

interface Round {
  readonly name: string;
  readonly done: (seen: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Cookies: a file is renamed in a folder that is watched like all others. Its event comes after
 * those of every change made before, so seeing it means having been told of all of them.
 */
export class Barrier {
  readonly #deps: Deps;
  #handle: FSWatcher | undefined;
  #round: Round | undefined;
  #count = 0;
  #isClosed = false;
  #file: string | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** True: every event of a change that ended before this call has been delivered. */
  readonly reach = grouped(() => this.#begin());

  close(): void {
    this.#isClosed = true;
    this.#handle?.close();
    this.#handle = undefined;
    this.#end(false);
    if (this.#file !== undefined) rmSync(this.#file, { force: true });
    this.#file = undefined;
  }

  #begin(): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const name = `${process.pid}-${(this.#count += 1)}`;
      const timer = setTimeout(() => this.#timedOut(), this.#deps.timeoutMs);
      this.#round = { name, done: resolve, timer };
      if (!this.#write(name)) this.#end(false);
    });
  }

  /** One rename is the cheapest change that carries a new name. */
  #write(name: string): boolean {
    const to = join(this.#deps.folder, name);
    try {
      if (this.#handle === undefined) this.#open();
      if (this.#file === undefined) closeSync(openSync(to, 'wx', 0o600));
      else renameSync(this.#file, to);
      this.#file = to;
      return true;
    } catch {
      // The folder was removed, or watches have run out: the caller scans, the next round retries.
      this.#reset();
      return false;
    }
  }

  #open(): void {
    rmSync(this.#deps.folder, { recursive: true, force: true });
    // Not the state folder itself: one that somebody removed must not come back by itself.
    makeFolder(dirname(this.#deps.folder));
    makeFolder(this.#deps.folder);
    this.#handle = watch(this.#deps.folder, (_, name) => {
      // Not from within the callback: libuv reads events until there are none, so a caller who
      // settles again at once would write the next cookie into that very loop, for ever.
      if (name !== null && name === this.#round?.name) setImmediate(() => this.#seen(name));
    });
    this.#handle.on('error', () => this.#reset());
  }

  #seen(name: string): void {
    if (name === this.#round?.name) this.#end(true);
  }

  #timedOut(): void {
    this.#reset();
    this.#end(false);
  }

  #reset(): void {
    this.#handle?.close();
    this.#handle = undefined;
    this.#file = undefined;
  }

  #end(seen: boolean): void {
    const round = this.#round;
    if (round === undefined) return;
    clearTimeout(round.timer);
    this.#round = undefined;
    round.done(seen);
  }
}

function makeFolder(path: string): void {
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
}
