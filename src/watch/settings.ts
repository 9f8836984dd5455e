import type { ScanPolicy } from '../core/doubt.js';
import type { Clock, Log } from '../core/ports.js';
import type { RuleSet } from '../core/tracking.js';
import type { WatchConfig } from '../core/watching.js';
import type { Engine } from './engine/engine.js';

export interface WatcherDeps {
  /** A real path: no link in it, no slash at its end. */
  readonly root: string;
  /** The project's state folder: exists, and belongs to us alone. */
  readonly stateDir: string;
  readonly config: WatchConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: (config: WatchConfig) => Promise<RuleSet>;
  readonly timing?: Partial<Timing>;
  /** For tests: an engine that fails on purpose. */
  readonly engine?: (made: Engine) => Engine;
}

export interface Timing {
  readonly scans: ScanPolicy;
  /** A cookie that takes longer means that events are not to be trusted. */
  readonly cookieMs: number;
  /** Longest wait of a `settle`; then it answers that it is not fresh. */
  readonly patienceMs: number;
  /** Changes are saved this long after the first of them. */
  readonly saveMs: number;
}

export const TIMING: Timing = {
  scans: { healthyMs: 300_000, degradedMs: 2_000 },
  cookieMs: 2_000,
  patienceMs: 60_000,
  saveMs: 60_000,
};
