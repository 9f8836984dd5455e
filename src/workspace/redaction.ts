import type { Config } from '../core/config.js';
import { SmithyError } from '../core/errors.js';
import type { Ledger, NewEvent } from '../core/ledger.js';
import { redactLine } from '../core/redaction/lines.js';
import { createRedactor, type Finding, type Redactor } from '../core/redaction/redactor.js';
import type { CheckpointStore } from '../core/store.js';
import type { LiveSettings } from './settings.js';

/** A text as it may be kept, and what to write into its line when something was taken out. */
export interface Cleaned {
  readonly text: string;
  readonly note: { readonly redacted?: readonly string[] };
}

export interface Redaction {
  clean(text: string): Cleaned;
  /** As `clean`, whether it is switched on or not: nobody needs secrets in a log. */
  readonly always: (text: string) => string;
  /** Refuses to call something by a secret: under another name it could not be found again. */
  requireName(name: string, member: string): void;
  /** The only ways to the disk for words: lines, and messages of commits. */
  over(ways: Ways): Ways;
  /** What is not redacted although somebody may think so, one sentence each. */
  warnings(): readonly string[];
}

interface Ways {
  readonly ledger: Ledger;
  readonly store: CheckpointStore;
}

export interface RedactionDeps {
  readonly settings: LiveSettings;
  /** For patterns of the project: whoever wrote them may mean harm. */
  readonly finding: Finding;
}

/** Short texts that had nothing in them: names of agents and tools come with every line. */
const MOST_KNOWN = 1_000;
const LONGEST_KNOWN = 200;

/** Keeps secrets in somebody's words from the disk: whatever writes lines or commits goes through it. */
export function createRedaction({ settings, finding }: RedactionDeps): Redaction {
  let problems: readonly string[] = [];
  let redact = apply(settings.config());
  settings.onChange((config) => {
    redact = apply(config);
    return Promise.resolve();
  });

  function apply({ redact: policy }: Config): Redactor {
    const own: ReturnType<Finding>[] = [];
    problems = policy.patterns.flatMap((pattern) => {
      try {
        own.push(finding(pattern));
        return [];
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return [`config.json: a pattern of redact.patterns cannot be used: ${why}.`];
      }
    });
    return remembering(createRedactor({ personal: policy.personal, own }));
  }

  const isOn = (): boolean => settings.config().redact.enabled;

  function line(given: NewEvent): NewEvent {
    const { line: clean, badName } = redactLine(given, redact);
    if (badName !== undefined) throw secretName(badName.member, badName.kind);
    return clean;
  }

  return {
    clean(text) {
      if (!isOn()) return { text, note: {} };
      const { text: clean, kinds } = redact(text);
      return { text: clean, note: kinds.length === 0 ? {} : { redacted: kinds } };
    },
    always: (text) => redact(text).text,
    requireName(name, member) {
      const [kind] = isOn() ? redact(name).kinds : [];
      if (kind !== undefined) throw secretName(member, kind);
    },
    over: ({ ledger, store }) => ({
      ledger: {
        ...ledger,
        append: async (events) => ledger.append(isOn() ? events.map(line) : events),
      },
      store: {
        ...store,
        commit: (request) => {
          if (!isOn()) return store.commit(request);
          return store.commit({ ...request, message: redact(request.message).text });
        },
      },
    }),
    warnings: () => [
      ...(isOn()
        ? []
        : ['Secrets in messages and notes are kept as they are: redact.enabled is off.']),
      ...problems,
    ],
  };
}

/** One sentence for whoever sent it; none when nothing was taken out. */
export function redactionWarnings(lines: readonly object[]): string[] {
  const kinds = new Set(lines.flatMap((line) => (line as Cleaned['note']).redacted ?? []));
  if (kinds.size === 0) return [];
  return [`What looked like a secret was not written down: ${[...kinds].join(', ')}.`];
}

function remembering(redact: Redactor): Redactor {
  const known = new Set<string>();
  return (text, numbers) => {
    if (known.has(text)) return { text, kinds: [], steps: 0 };
    const redacted = redact(text, numbers);
    if (redacted.kinds.length > 0 || text.length > LONGEST_KNOWN) return redacted;
    if (known.size >= MOST_KNOWN) known.clear();
    known.add(text);
    return redacted;
  };
}

function secretName(member: string, kind: string): SmithyError {
  const message = `What was given as ${member} looks like a secret (${kind}).`;
  return new SmithyError('NAME_INVALID', message, {
    hint: 'Choose another one: names are kept as they are.',
    data: { member, kind },
  });
}
