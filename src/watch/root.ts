import type { WatchNotice } from '../core/watching.js';
import { look } from './scan/disk.js';

interface Deps {
  readonly path: string;
  readonly notify: (notice: WatchNotice) => void;
  /** It was away and is back: anything may have happened meanwhile. */
  readonly returned: () => void;
}

/** Which directory the root is: a path can come to name another one, or none. */
export class ProjectRoot {
  readonly #deps: Deps;
  #device = 0;
  #inode = 0;
  #isLost = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get device(): number {
    return this.#device;
  }

  get inode(): number {
    return this.#inode;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes what is there now for the root. False when there is no directory. */
  adopt(): boolean {
    const found = look(this.#deps.path);
    if (typeof found === 'string' || !found.isDirectory()) return false;
    this.#device = found.dev;
    this.#inode = found.ino;
    return true;
  }

  /**
   * Moved away, removed, replaced and unmounted all show here, and are reported once. While it
   * is false, nothing may be taken for deleted.
   */
  isHere(): boolean {
    const found = look(this.#deps.path);
    if (typeof found !== 'string' && found.dev === this.#device && found.ino === this.#inode) {
      return true;
    }
    if (!this.#isLost) {
      this.#isLost = true;
      this.#deps.notify({
        type: 'root_lost',
        reason: typeof found === 'string' ? found : 'replaced',
      });
    }
    return false;
  }

  /** Like `isHere`, and takes up work again when the same directory is back. */
  check(): boolean {
    if (!this.isHere()) return false;
    if (!this.#isLost) return true;
    this.#isLost = false;
    this.#deps.notify({ type: 'root_found' });
    this.#deps.returned();
    return true;
  }
}
