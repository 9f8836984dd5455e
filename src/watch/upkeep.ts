import { judgeBeat, nextScanIn, type ScanPolicy } from '../core/doubt.js';
import type { Clock } from '../core/ports.js';
import type { DoubtReason } from '../core/watching.js';

interface Deps {
  readonly clock: Clock;
  readonly policy: ScanPolicy;
  readonly isDegraded: () => boolean;
  /** Each beat: cheap checks only. */
  readonly beat: () => void;
  readonly doubt: (reason: DoubtReason) => void;
  readonly scan: () => Promise<void>;
}

// Four wake-ups a minute: no load, and a sleep is noticed soon after it.
const BEAT_MS = 15_000;

/** The one timer of an idle watcher: notices stalls and sleeps, and scans when it is time. */
export class Upkeep {
  readonly #deps: Deps;
  #timer: NodeJS.Timeout | undefined;
  #lastScanAt = 0;
  #lastScanMs = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  start(firstScanMs: number): void {
    this.scanned(firstScanMs);
    this.#arm();
  }

  /** The degree of trust in events changed: the next scan may be due sooner. */
  rearm(): void {
    if (this.#timer !== undefined) this.#arm();
  }

  scanned(tookMs: number): void {
    this.#lastScanAt = this.#deps.clock.monotonic();
    this.#lastScanMs = tookMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    const { clock, policy } = this.#deps;
    clearTimeout(this.#timer);
    const begun = { monotonic: clock.monotonic(), wall: clock.now() };
    const interval = nextScanIn(policy, this.#lastScanMs, this.#deps.isDegraded());
    const due = this.#lastScanAt + interval - begun.monotonic;
    const expectedMs = Math.max(10, Math.min(BEAT_MS, due));
    this.#timer = setTimeout(() => {
      this.#wake({
        expectedMs,
        monotonicMs: clock.monotonic() - begun.monotonic,
        wallMs: clock.now() - begun.wall,
        isScanDue: clock.monotonic() - this.#lastScanAt >= interval,
      });
    }, expectedMs).unref();
  }

  #wake(beat: {
    expectedMs: number;
    monotonicMs: number;
    wallMs: number;
    isScanDue: boolean;
  }): void {
    this.#deps.beat();
    const reason = judgeBeat(beat);
    if (reason !== undefined) this.#deps.doubt(reason);
    if (reason !== undefined || !beat.isScanDue) {
      this.#arm();
      return;
    }
    void this.#deps.scan().finally(() => this.rearm());
  }
}
