import type { NewEvent } from '../ledger.js';
import type { Numbers, Redactor } from './redactor.js';

/**
 * What of a line are somebody's words. `plain`: ours, or a path, hash or id that must stay as it is;
 * `name`: what somebody calls a thing by, which could not be found again under another.
 * Whatever is not listed is words: a member that is forgotten here is redacted and not leaked.
 */
interface Rules {
  readonly [member: string]: Rule;
}
type Rule = 'plain' | 'name' | Rules;

const PLAIN = 'plain';
const WORDS: Rules = {};

function plain(...members: string[]): Record<string, Rule> {
  return Object.fromEntries(members.map((member) => [member, PLAIN]));
}

const LINE: Rules = {
  ...plain('ts', 'action_type', 'branch', 'session', 'parent_event_id', 'dialog_id'),
  ...plain('files', 'changes', 'moves', 'diff_path', 'affected_lines', 'semantic_block', 'told'),
  ...plain(
    'snapshot_ref',
    'known',
    'saved',
    'skipped',
    'rules',
    'changed',
    'counts',
    'paths',
    'outcome',
  ),
  ...plain('checkpoint', 'new_checkpoint', 'restored_to', 'rewound_to', 'bookmarked', 'exported'),
  ...plain('thinned', 'pruned', 'redacted'),
  author: plain('kind'),
  bookmark: 'name',
  message_id: 'name',
  edit: {
    ...plain('id', 'what', 'before', 'newFolders', 'letIn', 'begun', 'touched', 'gaveBack'),
    facts: { ...plain('id', 'scope', 'dialog', 'since'), requestId: 'name' },
  },
  fact: {
    ...plain('what', 'initial', 'commit', 'kind', 'tip', 'session', 'trail', 'earlier', 'target'),
  },
  marked: { ...plain('cursor', 'severity'), baseline: 'name' },
  baselined: { ...plain('what'), baseline: { ...plain('at'), name: 'name' } },
  snapshot: { ...plain('commit', 'reason', 'base', 'files', 'skipped'), name: 'name' },
};

export interface RedactedLine {
  readonly line: NewEvent;
  /** The first name that looks like a secret, by what it is the name of. */
  readonly badName?: { readonly member: string; readonly kind: string };
}

/** The line as it may be written down; what was taken out is named in `redacted`. */
export function redactLine(line: NewEvent, redact: Redactor): RedactedLine {
  const walk = new Walk(redact, !isRemoval(line));
  const clean = walk.members(line, LINE) as NewEvent;
  const badName = walk.badName === undefined ? {} : { badName: walk.badName };
  if (walk.kinds.size === 0) return { line: clean, ...badName };
  const before = (line['redacted'] as readonly string[] | undefined) ?? [];
  return { line: { ...clean, redacted: [...new Set([...before, ...walk.kinds])] }, ...badName };
}

/** What was named while nothing was redacted must be possible to remove. */
function isRemoval(line: NewEvent): boolean {
  const note = (line['bookmarked'] ?? line['baselined']) as { what?: string } | undefined;
  return note?.what === 'removed' || note?.what === 'deleted';
}

class Walk {
  readonly kinds = new Set<string>();
  badName: { member: string; kind: string } | undefined;
  readonly #redact: Redactor;
  readonly #numbers: Numbers = new Map();
  readonly #judgesNames: boolean;

  constructor(redact: Redactor, judgesNames: boolean) {
    this.#redact = redact;
    this.#judgesNames = judgesNames;
  }

  /** The same object when nothing in it changed. */
  members(given: object, rules: Rules): object {
    const before = Object.entries(given) as [string, unknown][];
    const after = before.map(([member, value]): [string, unknown] => {
      const rule = Object.hasOwn(rules, member) ? (rules[member] ?? WORDS) : WORDS;
      const name = rules === WORDS ? this.#words(member) : member;
      return [name, this.#value(value, rule, member)];
    });
    const isSame = after.every(([name, value], at) => {
      return name === before[at]?.[0] && value === before[at][1];
    });
    return isSame ? given : Object.fromEntries(after);
  }

  #value(value: unknown, rule: Rule, member: string): unknown {
    if (rule === 'plain') return value;
    if (typeof value === 'string')
      return rule === 'name' ? this.#name(value, member) : this.#words(value);
    if (typeof value !== 'object' || value === null || rule === 'name') return value;
    if (!Array.isArray(value)) return this.members(value, rule);
    const items = value as readonly unknown[];
    const clean = items.map((item) => this.#value(item, rule, member));
    return clean.some((item, at) => item !== items[at]) ? clean : value;
  }

  #words(text: string): string {
    const { text: clean, kinds } = this.#redact(text, this.#numbers);
    for (const kind of kinds) this.kinds.add(kind);
    return clean;
  }

  #name(name: string, member: string): string {
    const [kind] = this.#judgesNames ? this.#redact(name).kinds : [];
    if (kind !== undefined) this.badName ??= { member, kind };
    return name;
  }
}
