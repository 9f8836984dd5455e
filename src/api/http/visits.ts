import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../core/ports.js';

/** Time enough to start a browser. */
const CODE_MS = 60_000;
/** A working day; another `smithyd open` begins the next one. */
const VISIT_MS = 12 * 3_600_000;
/** Nobody opens more at a time; older ones go first. */
const MOST = 32;

/**
 * How a browser gets in without the token ever being in an address: a code that works once is
 * exchanged for a cookie. Both are random, live in memory only and end with the daemon. Secrets are
 * looked up by their digests, so that how long it takes says nothing about them.
 */
export class Visits {
  readonly #clock: Clock;
  readonly #codes = new Map<string, number>();
  readonly #cookies = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  newCode(): { readonly code: string; readonly expiresAt: number } {
    return { code: this.#issue(this.#codes, CODE_MS), expiresAt: this.#clock.now() + CODE_MS };
  }

  /** The secret of a cookie for a code; undefined when the code is unknown, used or too old. */
  exchange(code: string): string | undefined {
    const key = digest(code);
    const isGood = this.#isGood(this.#codes, key);
    this.#codes.delete(key);
    return isGood ? this.#issue(this.#cookies, VISIT_MS) : undefined;
  }

  isVisitor(secret: string): boolean {
    return this.#isGood(this.#cookies, digest(secret));
  }

  #issue(into: Map<string, number>, lifeMs: number): string {
    const secret = randomBytes(32).toString('base64url');
    into.set(digest(secret), this.#clock.monotonic() + lifeMs);
    const [oldest] = into.keys();
    if (into.size > MOST && oldest !== undefined) into.delete(oldest);
    return secret;
  }

  #isGood(among: Map<string, number>, key: string): boolean {
    const end = among.get(key);
    return end !== undefined && this.#clock.monotonic() < end;
  }
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64');
}
