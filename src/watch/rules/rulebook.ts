import { createHash } from 'node:crypto';
import type { Explanation, OuterRules, RuleSet, RuleText } from '../../core/tracking.js';
import { grouped } from '../grouped.js';
import { explain } from './explain.js';
import { kindOf, look } from '../scan/disk.js';
import { changedOutside, readIgnoreFile, type RuleWarning } from './rule-sources.js';
import type { Folder, KnownTree } from '../known/tree.js';

interface Deps {
  readonly absolute: (relative: string) => string;
  readonly tree: KnownTree;
  readonly load: () => Promise<RuleSet>;
  /** Something could not be opened because too much is open. */
  readonly exhausted: () => void;
}

/** Keeps each folder's rules in line with the ignore files they come from. */
export class Rulebook {
  readonly #deps: Deps;
  #outside: RuleSet['outside'] = [];
  fingerprint = '';
  /** Undefined until they were read. */
  outer: OuterRules | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Reads all rules that do not come from folders below the root. True if they differ. One after the
   * other: of two at once the one that was asked first might end last.
   */
  readonly reload = grouped(() => this.#reload());

  async #reload(): Promise<boolean> {
    const set = await this.#deps.load();
    if (set.isPartial === true) {
      this.#deps.exhausted();
      if (this.#deps.tree.root.rules !== undefined) return false;
    }
    this.#outside = set.outside;
    if (set.fingerprint === this.fingerprint && this.#deps.tree.root.rules !== undefined) {
      return false;
    }
    this.fingerprint = set.fingerprint;
    this.outer = set.outer;
    this.#deps.tree.root.rules = set.root;
    return true;
  }

  /** One of the rule files that no folder watch (surely) covers was touched since they were read. */
  outsideChanged(): boolean {
    return changedOutside(this.#outside).length > 0;
  }

  /**
   * Makes the folder's rules current. `changed`: they are not what its entries were decided by, so
   * that everything below has to be decided anew. `unknown`: they are as before, for want of
   * descriptors.
   */
  refresh(folder: Folder, hasIgnoreFile: boolean): 'same' | 'changed' | 'unknown' {
    const { parent } = folder;
    if (parent?.rules === undefined) return 'same';
    const warnings: RuleWarning[] = [];
    const text = hasIgnoreFile
      ? readIgnoreFile(this.#deps.absolute(folder.childPath('.gitignore')), (warning) =>
          warnings.push(warning),
        )
      : undefined;
    if (warnings.some(({ code }) => code === 'OUT_OF_DESCRIPTORS')) {
      this.#deps.exhausted();
      return 'unknown';
    }
    const hash = text === undefined ? '' : createHash('sha1').update(text).digest('hex');
    if (folder.rulesFrom === parent.rules && hash === folder.ignoreHash) return 'same';
    // The first rules after a restart are those of before it when the texts are the same.
    const differ = folder.rulesFrom !== undefined || hash !== folder.ignoreHash;
    const source = folder.childPath('.gitignore');
    folder.rules = parent.rules.enter(folder.name, text === undefined ? text : { source, text });
    folder.rulesFrom = parent.rules;
    folder.ignoreHash = hash;
    return differ ? 'changed' : 'same';
  }

  /** Why a path is tracked or not; nothing needs to exist there. */
  explain(path: string): Explanation {
    const { root, nestedRoots, skipped } = this.#deps.tree;
    if (root.rules === undefined) throw new Error('the rules are not loaded yet');
    const nested = [...nestedRoots].find((at) => path === at || path.startsWith(`${at}/`));
    const found = look(this.#deps.absolute(path));
    return explain(root.rules, path, {
      nested,
      kind: typeof found === 'string' ? 'file' : kindOf(found),
      isThere: found !== 'gone',
      skip: skipped.get(path),
      ignoreFileOf: (folder) => this.#ignoreFileOf(folder),
    });
  }

  #ignoreFileOf(folder: string): RuleText | undefined {
    const source = `${folder}/.gitignore`;
    const text = readIgnoreFile(this.#deps.absolute(source));
    return text === undefined ? undefined : { source, text };
  }
}
