/** What the product needs from outside. Adapters implement these; pure code sees nothing else. */

export interface Clock {
  /** Wall time in ms since 1970: a label for people, never an order. */
  now(): number;
  /** Monotonic ms: for time-outs, leases and durations. */
  monotonic(): number;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Structured log: `what` is a stable sentence, everything variable goes into `fields`. */
export interface Log {
  write(level: LogLevel, what: string, fields?: Readonly<Record<string, unknown>>): void;
}
