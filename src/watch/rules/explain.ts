import type {
  Decision,
  EntryKind,
  Explanation,
  FolderRules,
  Reason,
  RuleText,
} from '../../core/tracking.js';
import type { SkipReason } from '../../core/watching.js';

export interface ExplainOptions {
  readonly kind: EntryKind;
  /** The `.gitignore` of a folder below the root, by its path. */
  readonly ignoreFileOf: (folder: string) => RuleText | undefined;
  /** The project of its own that the path lies in. */
  readonly nested?: string | undefined;
  /** False: a file of this name would be. */
  readonly isThere?: boolean;
  /** Why its content is not known, though no rule excludes it. */
  readonly skip?: SkipReason | undefined;
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
      return { path, at, decision, sentence: sentenceFor({ path, at, decision }, options) };
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

const NOT_KEPT: Readonly<Record<SkipReason, string>> = {
  too_large: 'it is larger than `maxFileBytes`',
  special: 'it is no regular file',
  unreadable: 'it cannot be read',
  unstable: 'it changes while it is read',
  not_utf8: 'its name is no UTF-8',
  unreachable: 'its path is too long',
  too_many: 'there are too many empty folders',
};

function sentenceFor(
  { path, at, decision }: Omit<Explanation, 'sentence'>,
  { isThere = true, skip }: ExplainOptions,
): string {
  const { tracked, reason, rule } = decision;
  const not = tracked ? '' : 'not ';
  const verdict = isThere ? `${path} is ${not}tracked` : `${path} would ${not}be tracked`;
  const because = at === path ? BECAUSE[reason] : `${at}/ is left out, and ${BECAUSE[reason]}`;
  const source = rule === undefined ? '' : ` (${rule.source}:${rule.line}: ${rule.pattern})`;
  const left = tracked && skip !== undefined ? ` Its content is not kept: ${NOT_KEPT[skip]}.` : '';
  return `${verdict}: ${because}${source}.${left}`;
}
