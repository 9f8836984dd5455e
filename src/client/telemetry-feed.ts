import type { Params } from '../api/table.js';
import type { Told } from '../core/changes/told.js';
import { SmithyError } from '../core/errors.js';
import { reachDaemon, type ReachOptions } from './reach.js';
import type { Wire } from './wire.js';

export interface FeedOptions extends Omit<ReachOptions, 'onEvent'> {
  /** The daemon went away, or another one is there. */
  readonly connection: (isThere: boolean) => void;
  /** So many could not be told, and are forgotten. */
  readonly dropped: (count: number) => void;
}

type Batch = Params<'push_telemetry'>;
type AttachedPage = NonNullable<Batch['attached']>[number];

/** Short enough for an agent that looks right after it did something. */
const FLUSH_MS = 50;
/** As many as fit into a frame whatever they say: a text has 2,000 units at most, six bytes each. */
const MOST_AT_ONCE = 400;
/** What waits for a daemon that is away or slow; some 20 MB at the very worst. */
const MOST_WAITING = 5_000;
const LET_GO_AT_ONCE = 500;
const MOST_PAGES = 50;
const CALL_TIMEOUT_MS = 30_000;
const LAST_PATIENCE_MS = 3_000;
const FIRST_RETRY_MS = 100;
const SLOWEST_RETRY_MS = 5_000;
/** The daemon may be another one the next time. */
const PASSING: readonly string[] = ['DAEMON_UNAVAILABLE', 'SHUTTING_DOWN', 'BUSY', 'TIMEOUT'];

/**
 * What a program tells of itself, on its way to the daemon: over one connection that lasts, because
 * its end is how the daemon knows that nobody tells anything any more.
 */
export class TelemetryFeed {
  readonly #options: FeedOptions;
  #wire: Wire | undefined;
  #queue: Told[] = [];
  #pages: readonly AttachedPage[] = [];
  #arePagesNew = false;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Starts a daemon where there is none. One that is stopped later is not started again. */
  async open(): Promise<void> {
    await this.#connect(this.#options);
  }

  add(told: Told): void {
    this.#queue.push(told);
    this.#bound();
    this.#schedule();
  }

  /** What tells of itself from now on; an empty list: nothing. */
  attach(pages: readonly AttachedPage[]): void {
    this.#pages = pages.slice(0, MOST_PAGES);
    this.#arePagesNew = true;
    this.#schedule();
  }

  /** Tells what is left, if the daemon is quick about it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    if (this.#wire?.isOpen === true && this.#queue.length > 0) await this.#send(LAST_PATIENCE_MS);
    this.#wire?.close();
    await this.#wire?.closed;
  }

  async #connect(options: Omit<ReachOptions, 'onEvent'>): Promise<void> {
    const { wire } = await reachDaemon(options);
    if (this.#isClosed) {
      wire.close();
      return;
    }
    this.#wire = wire;
    // A daemon that has just come knows of no page.
    this.#arePagesNew = this.#pages.length > 0;
    void wire.closed.then(() => this.#lost());
    this.#schedule();
  }

  #lost(): void {
    this.#wire = undefined;
    if (this.#isClosed) return;
    this.#options.connection(false);
    void this.#reconnect(FIRST_RETRY_MS);
  }

  /** Somebody stopped the daemon: telling it something is no reason to start it against their will. */
  async #reconnect(retryMs: number): Promise<void> {
    if (this.#isClosed) return;
    try {
      await this.#connect({ ...this.#options, startFrom: undefined });
      this.#options.connection(true);
    } catch {
      const next = Math.min(retryMs * 2, SLOWEST_RETRY_MS);
      this.#later(retryMs, () => void this.#reconnect(next));
    }
  }

  #schedule(): void {
    const isIdle = this.#queue.length === 0 && !this.#arePagesNew;
    if (isIdle || this.#isClosed || this.#wire === undefined) return;
    if (this.#sending !== undefined || this.#timer !== undefined) return;
    this.#later(FLUSH_MS, () => {
      this.#sending = this.#send(CALL_TIMEOUT_MS).finally(() => {
        this.#sending = undefined;
        this.#schedule();
      });
    });
  }

  /** One thing at a time: to connect again, or to tell what has come. */
  #later(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      act();
    }, ms);
  }

  async #send(timeoutMs: number): Promise<void> {
    const wire = this.#wire;
    if (wire === undefined) return;
    const batch = this.#queue.splice(0, MOST_AT_ONCE);
    const { missed, attached } = { missed: this.#dropped, attached: this.#arePagesNew };
    this.#dropped = 0;
    this.#arePagesNew = false;
    const params = {
      ...toParams(missed > 0 ? [missing(missed), ...batch] : batch),
      ...(attached ? { attached: [...this.#pages] } : {}),
    };
    try {
      await wire.call('push_telemetry', params, timeoutMs);
      if (missed > 0) this.#options.dropped(missed);
    } catch (error) {
      this.#dropped += missed;
      this.#failed(SmithyError.from(error), batch, wire);
    }
  }

  #failed({ code }: SmithyError, batch: readonly Told[], wire: Wire): void {
    this.#arePagesNew = true;
    if (PASSING.includes(code)) {
      this.#queue = [...batch, ...this.#queue];
      this.#bound();
    } else this.#dropped += batch.length;
    // One that does not answer in time is as good as gone.
    if (code === 'TIMEOUT') wire.close();
  }

  #bound(): void {
    if (this.#queue.length <= MOST_WAITING) return;
    this.#dropped += this.#queue.splice(0, LET_GO_AT_ONCE).length;
  }
}

/** Whoever asks must know that silence about these means nothing. */
function missing(count: number): Told {
  const message = `smithyd: ${count} entries came faster than they could be told and are missing here`;
  return {
    stream: 'console',
    entry: { level: 'warning', message, source: null, at: Date.now() },
  };
}

function toParams(all: readonly Told[]): Batch {
  const console: NonNullable<Batch['console']> = [];
  const network: NonNullable<Batch['network']> = [];
  const websocket: NonNullable<Batch['websocket']> = [];
  const actions: NonNullable<Batch['actions']> = [];
  for (const { stream, entry } of all) {
    const timestamp = entry.at;
    if (stream === 'console') {
      const { level, message, source } = entry;
      console.push({ level, message, ...given({ source }), timestamp });
    } else if (stream === 'network') {
      const { url, method, status, durationMs } = entry;
      network.push({ url, method, status, ...given({ duration_ms: durationMs }), timestamp });
    } else if (stream === 'websocket') {
      const { event, url, id, closeCode, closeReason, message } = entry;
      const rest = { id, close_code: closeCode, close_reason: closeReason, message };
      websocket.push({ event, url, ...given(rest), timestamp });
    } else {
      const { type, url, target, value } = entry;
      actions.push({ type, ...given({ url, target, value }), timestamp });
    }
  }
  return { console, network, websocket, actions };
}

type Given<T> = { [Key in keyof T]?: Exclude<T[Key], null> };

/** Without what is not there. */
function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null),
  ) as Given<T>;
}
