import type { Path } from './model.js';
import { foldersAbove } from './restore-plan.js';
import { createRules } from './rules.js';
import type { EntryKind, FolderRules, OuterRules, RuleText } from './tracking.js';

/** How far a checkpoint could see. What is absent from it was not there only as far as that. */
export interface Sight {
  /** Undefined: nobody wrote down what was left out besides what its own ignore files name. */
  readonly rules: OuterRules | undefined;
  /** Files and folders that the rules track and whose content could not be had. */
  readonly skipped: readonly string[];
}

export type Unseen = 'not_in_checkpoint' | 'ignored_at_checkpoint';

/** Git's rules and nothing besides. */
const NO_RULES = {
  config: { trackHidden: 'all', include: [], exclude: [] },
  ignoreCase: false,
  gitOnly: true,
} as const;

/** Why a path may have been there although the checkpoint lacks it; undefined: it was not. */
export function createLookout(
  { rules = NO_RULES, skipped }: Sight,
  /** The text of the checkpoint's own ignore file in a folder; the root is ''. */
  ignoreFileOf: (folder: string) => string | undefined,
): (path: Path, kind: EntryKind) => Unseen | undefined {
  const isSkipped = createSkips(skipped);
  const rootIgnore = ignoreFileOf('');
  const root = createRules({ ...rules, ...(rootIgnore === undefined ? {} : { rootIgnore }) });
  const known = new Map<string, FolderRules | undefined>([['', root]]);
  const own = (folder: string): RuleText | undefined => {
    const text = ignoreFileOf(folder);
    return text === undefined ? undefined : { source: `${folder}/.gitignore`, text };
  };

  /** Undefined: nobody looked into it. */
  function rulesIn(folder: string): FolderRules | undefined {
    if (known.has(folder)) return known.get(folder);
    const above = rulesIn(parentOf(folder));
    const decision = above?.decide(nameOf(folder), 'directory');
    const isEntered = decision?.tracked === true || decision?.enter === true;
    const found = isEntered ? above?.enter(nameOf(folder), own(folder)) : undefined;
    known.set(folder, found);
    return found;
  }

  return (path, kind) => {
    if (isSkipped(path)) return 'not_in_checkpoint';
    const isTracked = rulesIn(parentOf(path))?.decide(nameOf(path), kind).tracked;
    return isTracked === true ? undefined : 'ignored_at_checkpoint';
  };
}

/** A folder that could not be read is skipped with everything below it. */
export function createSkips(skipped: Sight['skipped']): (path: Path) => boolean {
  if (skipped.length === 0) return () => false;
  const all = new Set(skipped);
  return (path) => all.has(path) || foldersAbove(path).some((folder) => all.has(folder));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
