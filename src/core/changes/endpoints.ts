import type { NetworkEntry } from './streams.js';
import { endpointOf } from './wording.js';

/** What an endpoint answered before a position. */
export interface Before {
  /** Undefined: it was never asked. Null: it was, and nobody remembers with what result. */
  readonly status: number | null | undefined;
  /** The median of what its good answers took. */
  readonly durationMs: number | undefined;
}

interface Answered {
  readonly number: number;
  readonly status: number;
}

interface Took {
  readonly number: number;
  readonly ms: number;
}

interface Endpoint {
  /** Each time another status than before; the oldest go. */
  statuses: Answered[];
  durations: Took[];
  /** Earlier ones than those in `statuses` are forgotten. */
  isCut: boolean;
}

/** Endpoints asked last; a page with more of them makes up its addresses. */
const MOST_ENDPOINTS = 1_000;
const MOST_STATUSES = 32;
const MOST_DURATIONS = 20;

export function isFailure(status: number): boolean {
  return status === 0 || status >= 400;
}

/**
 * How every endpoint has been doing: longer than the requests themselves are kept, so that a failure
 * is told apart from one that was there before.
 */
export class Endpoints {
  readonly #known = new Map<string, Endpoint>();

  /** `number`: how many requests there were before it. */
  record({ url, status, durationMs }: NetworkEntry, number: number): void {
    const path = endpointOf(url);
    const endpoint = this.#known.get(path) ?? { statuses: [], durations: [], isCut: false };
    // The one asked last is the last in the map.
    this.#known.delete(path);
    this.#known.set(path, endpoint);
    if (endpoint.statuses.at(-1)?.status !== status) endpoint.statuses.push({ number, status });
    if (endpoint.statuses.length > MOST_STATUSES) {
      endpoint.statuses.shift();
      endpoint.isCut = true;
    }
    if (durationMs !== null && !isFailure(status)) {
      endpoint.durations.push({ number, ms: durationMs });
      if (endpoint.durations.length > MOST_DURATIONS) endpoint.durations.shift();
    }
    if (this.#known.size > MOST_ENDPOINTS) this.#forgetOldest();
  }

  /** As of a position in the stream of requests. */
  before(path: string, position: number): Before {
    const endpoint = this.#known.get(path);
    if (endpoint === undefined) return { status: undefined, durationMs: undefined };
    const last = endpoint.statuses.findLast(({ number }) => number < position);
    const earlier = endpoint.durations.filter(({ number }) => number < position);
    return {
      status: last?.status ?? (endpoint.isCut ? null : undefined),
      durationMs: median(earlier.map(({ ms }) => ms)),
    };
  }

  /** The last status and usual duration of those asked last, for whoever comes back later. */
  snapshot(most: number): Record<string, { status: number; durationMs?: number }> {
    const all = [...this.#known].slice(-most).flatMap(([path, { statuses, durations }]) => {
      const status = statuses.at(-1)?.status;
      if (status === undefined) return [];
      const durationMs = median(durations.map(({ ms }) => ms));
      return [[path, { status, ...(durationMs === undefined ? {} : { durationMs }) }] as const];
    });
    return Object.fromEntries(all);
  }

  #forgetOldest(): void {
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
