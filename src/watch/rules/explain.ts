import type {
  Decision,
  EntryKind,
  Explanation,
  FolderRules,
  Reason,
  RuleText,
} from '../../core/tracking.js';

export interface ExplainOptions {
  readonly kind: EntryKind;
  /** The `.gitignore` of a folder below the root, by its path. */
  readonly ignoreFileOf: (folder: string) => RuleText | undefined;
  /** The project of its own that the path lies in. */
  readonly nested?: string | undefined;
}

/** `path` is relative to the root, with no empty or dot parts. */
export function explain(root: FolderRules, path: string, options: ExplainOptions): Explanation {
  const parts = path.split('/');
  let rules = root;
  for (const [index, part] of parts.entries()) {
    const at = parts.slice(0, index + 1).join('/');
    const isLast = index === parts.length - 1;
    const decision: Decision =
      at === options.nested
        ? { tracked: false, enter: false, reason: 'nested_root' }
        : rules.decide(part, isLast ? options.kind : 'directory');
    if (isLast || (!decision.tracked && !decision.enter)) {
      return { path, at, decision, sentence: sentenceFor({ path, at, decision }) };
    }
    rules = rules.enter(part, options.ignoreFileOf(at));
  }
  throw new RangeError('A path has at least one part.');
}

const BECAUSE: Readonly<Record<Reason, string>> = {
  default: 'no rule excludes it',
  include: 'the setting `include` names it',
  exclude: 'the setting `exclude` names it',
  gitignore: 'an ignore file of the project names it',
  info_exclude: "the repository's own exclude file names it",
  global_excludes: "the user's global excludes name it",
  fixed: 'build output, dependencies and compiled files are never tracked',
  hidden: '`trackHidden` leaves this hidden name out',
  secret: 'it looks like a secret',
  protected: 'this folder is off limits',
  nested_root: 'it is a project of its own',
};

function sentenceFor({ path, at, decision }: Omit<Explanation, 'sentence'>): string {
  const { tracked, reason, rule } = decision;
  const verdict = `${path} is ${tracked ? 'tracked' : 'not tracked'}`;
  const because = at === path ? BECAUSE[reason] : `${at}/ is left out, and ${BECAUSE[reason]}`;
  if (rule === undefined) return `${verdict}: ${because}.`;
  return `${verdict}: ${because} (${rule.source}:${rule.line}: ${rule.pattern}).`;
}
