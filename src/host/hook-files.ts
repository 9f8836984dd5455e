import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SmithyError } from '../core/errors.js';

const HOOKS = ['pre-commit', 'post-checkout', 'post-merge', 'post-rewrite'] as const;

/** `replaced`: somebody has put another hook in the place of ours. */
export type HookState = 'installed' | 'outdated' | 'replaced' | 'missing';

export interface HookReport {
  readonly name: string;
  readonly state: HookState;
  /** A hook that was there before is kept beside ours and called by it. */
  readonly chained: boolean;
}

/** In every hook we write, and in no other. */
const MARK = '# smithyd hook: ';
const KEPT = '.before-smithyd';

export function hookReports(folder: string, script: string): HookReport[] {
  return HOOKS.map((name) => {
    const place = new HookPlace(folder, name);
    return { name, state: place.state(script), chained: place.isOurs() && isThere(place.kept) };
  });
}

/** Safe to repeat: ours is brought up to date, what is kept stays. */
export function installHooks(folder: string, script: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of HOOKS) new HookPlace(folder, name).install(script);
}

export function uninstallHooks(folder: string): void {
  for (const name of HOOKS) new HookPlace(folder, name).uninstall();
}

/** One hook: the file git runs and what was there before it. */
class HookPlace {
  readonly path: string;
  readonly kept: string;

  constructor(folder: string, name: string) {
    this.path = join(folder, name);
    this.kept = `${this.path}${KEPT}`;
  }

  isOurs(): boolean {
    return textOf(this.path)?.includes(MARK) === true;
  }

  state(script: string): HookState {
    if (this.isOurs()) return textOf(this.path) === script ? 'installed' : 'outdated';
    return isThere(this.path) && isThere(this.kept) ? 'replaced' : 'missing';
  }

  install(script: string): void {
    if (isThere(this.path) && !this.isOurs()) {
      if (lstatSync(this.path).isDirectory()) throw notAFile(this.path);
      this.#makeRoom();
      renameSync(this.path, this.kept);
    }
    const fresh = `${this.path}.smithyd-new`;
    // Left by a crash; made anew, it gets the mode the user's mask allows.
    rmSync(fresh, { force: true });
    writeFileSync(fresh, script, { encoding: 'latin1', mode: 0o777 });
    renameSync(fresh, this.path);
  }

  uninstall(): void {
    const isReplaced = isThere(this.path) && !this.isOurs();
    // What a tool has put there since is its business; a copy of the same is of no use to anybody.
    if (isReplaced) {
      if (isSame(this.path, this.kept)) rmSync(this.kept);
      return;
    }
    if (isThere(this.kept)) renameSync(this.kept, this.path);
    else rmSync(this.path, { force: true });
  }

  /** Kept from an earlier time, before a tool wrote its own hook over ours. */
  #makeRoom(): void {
    if (!isThere(this.kept) || isSame(this.path, this.kept)) return;
    let number = 1;
    while (isThere(`${this.kept}-${number}`)) number++;
    renameSync(this.kept, `${this.kept}-${number}`);
  }
}

function isSame(one: string, other: string): boolean {
  return isThere(other) && existsSync(one) && textOf(one) === textOf(other);
}

/** Undefined for what cannot be read as a file. Bytes, whatever they mean. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function notAFile(path: string): SmithyError {
  return new SmithyError('INVALID_PARAMS', `${path} is a folder.`, {
    hint: 'Git runs files only; move it away, then install again.',
    data: { path },
  });
}
