import { existsSync, type FSWatcher, readFileSync, watch } from 'node:fs';
import { resolve } from 'node:path';
import { GitOperation } from '../../core/git-operation.js';
import { codeOf } from '../content/content.js';

/** Watches the user's `.git` for running operations. Only ever reads. */
export class GitActivity {
  readonly #root: string;
  readonly #ruleFileTouched: () => void;
  readonly #operation = new GitOperation();
  #folder: string | undefined;
  #handles: FSWatcher[] = [];
  #told = 0;

  constructor(root: string, ruleFileTouched: () => void) {
    this.#root = root;
    this.#ruleFileTouched = ruleFileTouched;
  }

  get running(): boolean {
    return this.#told > 0 || this.#operation.running;
  }

  /** Somebody says that git is or was at work: then it is until this is over. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#told++;
    try {
      return await work();
    } finally {
      this.#told--;
    }
  }

  /** Looks at the disk as well: for a decision that would otherwise wait too long. */
  isStillRunning(): boolean {
    this.#operation.recheck((name) => existsSync(`${this.#folder ?? this.#root}/${name}`));
    return this.running;
  }

  /** Also after `.git` came, went or was replaced. */
  open(): void {
    this.close();
    this.#folder = gitFolder(this.#root);
    if (this.#folder === undefined) return;
    this.#watch(this.#folder, (type, name) => {
      if (type === 'rename' && name !== null) this.#operation.cameOrWent(name);
    });
    this.#watch(`${this.#folder}/info`, (_, name) => {
      if (name === 'exclude') this.#ruleFileTouched();
    });
  }

  close(): void {
    for (const handle of this.#handles) handle.close();
    this.#handles = [];
  }

  #watch(folder: string, listener: (type: string, name: string | null) => void): void {
    try {
      const handle = watch(folder, listener);
      handle.on('error', () => handle.close());
      this.#handles.push(handle);
    } catch {
      // Not there, or no watches left: then changes by git are reported like any others.
    }
  }
}

/** A linked worktree has a file there that names the real folder. */
function gitFolder(root: string): string | undefined {
  const dotGit = `${root}/.git`;
  try {
    const pointer = /^gitdir: (.+)$/mu.exec(readFileSync(dotGit, 'utf8'))?.[1];
    return pointer === undefined ? undefined : resolve(root, pointer.trim());
  } catch (error) {
    return codeOf(error) === 'EISDIR' ? dotGit : undefined;
  }
}
