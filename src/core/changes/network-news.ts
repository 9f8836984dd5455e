import { groupBy } from '../group-by.js';
import { isFailure, median, type Before } from './endpoints.js';
import type { NetworkEntry, Window } from './streams.js';
import { endpointOf } from './wording.js';

export interface Failure {
  readonly path: string;
  readonly status: number;
  readonly previous: number;
}

export interface Degraded {
  readonly path: string;
  readonly durationMs: number;
  readonly baselineMs: number;
}

export interface NetworkNews {
  readonly total: number;
  /** Fail now and did not before. */
  readonly failures: readonly Failure[];
  /** Never asked before, and failing. */
  readonly failingNew: readonly { readonly path: string; readonly status: number }[];
  readonly fresh: readonly string[];
  readonly degraded: readonly Degraded[];
  readonly noise: number;
}

export interface NetworkQuestion {
  readonly window: Window<NetworkEntry & { readonly noise?: string | undefined }>;
  /** What an endpoint did before the window. */
  readonly before: (path: string) => Before;
}

/** Slower than so many times what it took before. */
const DEGRADED_TIMES = 3;

/** What became of each endpoint, in the order in which they were first asked. */
export function networkNews({ window, before }: NetworkQuestion): NetworkNews {
  const told = window.entries.filter(({ noise }) => noise === undefined);
  const asked = groupBy(told, ({ url }) => endpointOf(url));
  const failures: Failure[] = [];
  const failingNew: { path: string; status: number }[] = [];
  const fresh: string[] = [];
  const degraded: Degraded[] = [];
  for (const [path, entries] of asked) {
    const then = before(path);
    if (then.status === undefined) fresh.push(path);
    const failure = failureOf(path, entries, then);
    if (failure?.kind === 'failure') failures.push(failure.failure);
    if (failure?.kind === 'new') failingNew.push({ path, status: failure.status });
    const slower = slowerThan(path, entries, then.durationMs);
    if (slower !== undefined) degraded.push(slower);
  }
  const total = window.entries.length + window.evicted;
  const noise = window.entries.length - told.length;
  return { total, failures, failingNew, fresh, degraded, noise };
}

type Verdict =
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'new'; readonly status: number };

function failureOf(
  path: string,
  entries: readonly NetworkEntry[],
  then: Before,
): Verdict | undefined {
  const status = entries.at(-1)?.status ?? 0;
  if (!isFailure(status)) return undefined;
  // It may have begun well and gone wrong since.
  const good = entries.findLast((entry) => !isFailure(entry.status))?.status;
  const previous = good ?? then.status;
  if (previous === undefined) return { kind: 'new', status };
  // What failed before is no news; nor is one of which nobody knows how it did.
  if (previous === null || isFailure(previous)) return undefined;
  return { kind: 'failure', failure: { path, status, previous } };
}

function slowerThan(
  path: string,
  entries: readonly NetworkEntry[],
  baselineMs: number | undefined,
): Degraded | undefined {
  const took = entries.flatMap(({ status, durationMs }) => {
    return durationMs === null || isFailure(status) ? [] : [durationMs];
  });
  const durationMs = median(took);
  if (durationMs === undefined || baselineMs === undefined) return undefined;
  if (durationMs <= baselineMs * DEGRADED_TIMES) return undefined;
  return { path, durationMs, baselineMs };
}
