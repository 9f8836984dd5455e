import type { ConsoleEntry, Window } from './streams.js';
import { printOf } from './wording.js';

export interface Said {
  readonly message: string;
  readonly source: string | null;
  readonly count: number;
}

export interface ConsoleNews {
  readonly total: number;
  readonly errors: readonly Said[];
  readonly warnings: readonly Said[];
  /** Left out because a rule says that they mean nothing. */
  readonly noise: number;
}

/** With what it costs to find out, found out once. */
export interface JudgedEntry extends ConsoleEntry {
  readonly fingerprint: string;
  readonly noise?: string | undefined;
}

export interface ConsoleQuestion {
  readonly window: Window<JudgedEntry>;
  /** Fingerprints that are nothing new: a baseline has them. */
  readonly expected?: ReadonlySet<string> | undefined;
}

/** Errors and warnings, each once, in the order in which they first came. */
export function consoleNews({ window, expected }: ConsoleQuestion): ConsoleNews {
  const errors = new Map<string, Said>();
  const warnings = new Map<string, Said>();
  let noise = 0;
  for (const entry of window.entries) {
    if (entry.noise !== undefined) {
      noise += 1;
      continue;
    }
    const kind =
      entry.level === 'error' ? errors : entry.level === 'warning' ? warnings : undefined;
    if (kind === undefined) continue;
    const key = entry.fingerprint;
    if (expected?.has(printOf(key)) === true) continue;
    const { message, source, count } = kind.get(key) ?? { ...entry, count: 0 };
    kind.set(key, { message, source, count: count + 1 });
  }
  const total = window.entries.length + window.evicted;
  return { total, errors: [...errors.values()], warnings: [...warnings.values()], noise };
}
