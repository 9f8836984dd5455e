import type { Said } from './console-news.js';
import { isFailure } from './endpoints.js';

import { fingerprint, printOf } from './wording.js';

/** How the running program did when it was said to be well. */
export interface Baseline {
  readonly name: string;
  readonly at: string;
  readonly description: string | null;
  /** By path: the last status and what a good answer took. */
  readonly endpoints: Readonly<Record<string, { status: number; durationMs?: number }>>;
  /** Fingerprints of what the console said all the same. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** Addresses of open WebSockets. */
  readonly connections: readonly string[];
}

/** As it is now, to be held against a baseline. */
export interface Present {
  readonly endpoints: Baseline['endpoints'];
  readonly errors: readonly Said[];
  readonly warnings: readonly Said[];
  readonly connections: readonly string[];
}

export interface Regression {
  readonly kind: 'status' | 'latency' | 'console_error' | 'console_warning' | 'websocket';
  readonly what: string;
  readonly expected: string | number | null;
  readonly actual: string | number | null;
}

/** Slower than so many times what it was, unless somebody allows more. */
const TOLERANCE = 3;
const MOST_KEPT = 200;

/** What of the present is kept: bounded, because it stays in the ledger for good. */
export function baselineOf(
  name: string,
  present: Present,
  { at, description }: { readonly at: string; readonly description: string | null },
): Baseline {
  const prints = (all: readonly Said[]) =>
    [...new Set(all.map(({ message }) => printOf(fingerprint(message))))].slice(0, MOST_KEPT);
  return {
    name,
    at,
    description,
    endpoints: Object.fromEntries(Object.entries(present.endpoints).slice(-MOST_KEPT)),
    errors: prints(present.errors),
    warnings: prints(present.warnings),
    connections: present.connections.slice(0, MOST_KEPT),
  };
}

/** What is worse than it was, the worst first, and what is better. */
export function compareBaseline(
  baseline: Baseline,
  present: Present,
  tolerance = TOLERANCE,
): { readonly regressions: Regression[]; readonly improvements: Regression[] } {
  const answers = Object.entries(baseline.endpoints).flatMap(([path, then]) => {
    const now = Object.hasOwn(present.endpoints, path) ? present.endpoints[path] : undefined;
    return now === undefined ? [] : [{ path, then, now }];
  });
  const statuses = answers.map(({ path, then, now }): Compared => ({
    kind: 'status',
    what: path,
    expected: then.status,
    actual: now.status,
    better: Number(isFailure(then.status)) - Number(isFailure(now.status)),
  }));
  const latencies = answers.map(({ path, then, now }): Compared => ({
    kind: 'latency',
    what: path,
    expected: then.durationMs ?? null,
    actual: now.durationMs ?? null,
    better: betterBy(then.durationMs, now.durationMs, tolerance),
  }));
  const all = [
    ...statuses,
    ...said('console_error', baseline.errors, present.errors),
    ...lost(baseline.connections, present.connections),
    ...said('console_warning', baseline.warnings, present.warnings),
    ...latencies,
  ];
  return {
    regressions: all.filter(({ better }) => better < 0).map(withoutVerdict),
    improvements: all.filter(({ better }) => better > 0).map(withoutVerdict),
  };
}

interface Compared extends Regression {
  /** Below zero: worse. */
  readonly better: number;
}

function withoutVerdict({ better: _, ...regression }: Compared): Regression {
  return regression;
}

function betterBy(then: number | undefined, now: number | undefined, tolerance: number): number {
  if (then === undefined || now === undefined) return 0;
  if (now > then * tolerance) return -1;
  return now * tolerance < then ? 1 : 0;
}

function said(kind: Regression['kind'], then: readonly string[], now: readonly Said[]): Compared[] {
  const before = new Set(then);
  const counts = new Map<string, number>();
  for (const { message, count } of now) {
    const print = printOf(fingerprint(message));
    counts.set(print, (counts.get(print) ?? 0) + count);
  }
  const fresh = [...counts].filter(([print]) => !before.has(print));
  return fresh.map(([what, actual]) => ({ kind, what, expected: 0, actual, better: -1 }));
}

function lost(then: readonly string[], now: readonly string[]): Compared[] {
  const open = new Set(now);
  const gone = then.filter((url) => !open.has(url));
  return gone.map((what) => ({
    ...{ kind: 'websocket' as const, what, expected: 'open', actual: 'closed', better: -1 },
  }));
}
