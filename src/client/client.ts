import type { Answer, MethodName, Params } from '../api/table.js';
import { SmithyError } from '../core/errors.js';
import type { StreamedEvent } from '../core/events.js';
import { bracket, type EditOptions, type EditOutcome, type EditWork } from './edit-bracket.js';
import { reachDaemon, type ReachOptions } from './reach.js';
import type { Wire } from './wire.js';

/** Every method of the table as a function of its own name, plus what a connection needs. */
export type Client = {
  readonly [Name in Exclude<MethodName, 'subscribe'>]: (
    ...params: object extends Params<Name> ? [Params<Name>?] : [Params<Name>]
  ) => Promise<Answer<Name>>;
} & {
  /**
   * Calls `listener` for every event from now on, across reconnects; the answer ends it. `connection`
   * hears when the daemon went away and when it is there again.
   */
  subscribe(
    params: Params<'subscribe'>,
    listener: EventListener,
    connection?: (isThere: boolean) => void,
  ): Promise<() => Promise<void>>;
  /**
   * Brackets `work` as an edit: announced before, recorded after. When it throws, the files are put
   * back as they were, and its error is thrown on.
   */
  withEdit<T>(
    what: readonly string[] | EditOptions,
    work: (edit: Answer<'start_edit'>) => Promise<T> | T,
  ): Promise<EditOutcome<T>>;
  close(): Promise<void>;
};

export type EventListener = (event: StreamedEvent) => void;

export interface ClientOptions extends Omit<ReachOptions, 'onEvent'> {
  /** How long one call may take, and reaching the daemon before it. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const FIRST_RETRY_MS = 100;
const SLOWEST_RETRY_MS = 5_000;

export async function createClient(options: ClientOptions): Promise<Client> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let wire: Promise<Wire> | undefined;
  let isClosed = false;
  const subscriptions = new Set<() => Promise<void>>();

  /** The open connection, or a new one: a daemon that was stopped or killed comes back here. */
  async function connection(): Promise<Wire> {
    const known = wire;
    const present = await known?.catch(() => undefined);
    if (isClosed) throw closed();
    if (present?.isOpen === true) return present;
    // Another call may have begun to reach it while this one looked.
    if (wire === undefined || wire === known) {
      wire = reachDaemon(options).then((reached) => reached.wire);
    }
    return wire;
  }

  async function call(method: string, params: unknown = {}): Promise<unknown> {
    return (await connection()).call(method, params, timeoutMs);
  }

  const own = {
    async subscribe(
      params: Params<'subscribe'>,
      listener: EventListener,
      connection: (isThere: boolean) => void = () => undefined,
    ) {
      const end = await subscribeForGood({ options, timeoutMs, params, listener, connection });
      subscriptions.add(end);
      return async () => {
        subscriptions.delete(end);
        await end();
      };
    },

    async withEdit<T>(what: readonly string[] | EditOptions, work: EditWork<T>) {
      if (isClosed) throw closed();
      return bracket({ options, timeoutMs, what, work });
    },

    async close() {
      isClosed = true;
      await Promise.all([...subscriptions].map((end) => end()));
      const last = await wire?.catch(() => undefined);
      last?.close();
      await last?.closed;
    },
  };

  await connection();
  // The table itself stays out of this process: a name is looked up by the daemon.
  return new Proxy(own, {
    get(target, name) {
      if (typeof name === 'symbol' || name in target) return Reflect.get(target, name) as unknown;
      // Otherwise `await client` would call a method named "then".
      return name === 'then' ? undefined : (params?: unknown) => call(name, params);
    },
  }) as unknown as Client;
}

function closed(): SmithyError {
  return new SmithyError('DAEMON_UNAVAILABLE', 'This client was closed.');
}

interface Standing {
  readonly options: ClientOptions;
  readonly timeoutMs: number;
  readonly params: Params<'subscribe'>;
  readonly listener: EventListener;
  readonly connection: (isThere: boolean) => void;
}

/** A connection of its own per subscription, opened again from the last cursor when it ends. */
async function subscribeForGood(standing: Standing): Promise<() => Promise<void>> {
  const { options, timeoutMs, params, listener, connection } = standing;
  let since = params.since;
  let isOver = false;
  let wire: Wire;
  let retry: NodeJS.Timeout | undefined;

  async function open(startFrom: ClientOptions['startFrom']): Promise<void> {
    const onEvent = (event: StreamedEvent): void => {
      since = event.cursor;
      listener(event);
    };
    wire = (await reachDaemon({ ...options, startFrom, onEvent })).wire;
    const request = since === undefined ? params : { ...params, since };
    const answer = await wire.call('subscribe', request, timeoutMs).catch((error: unknown) => {
      wire.close();
      throw error;
    });
    since ??= (answer as Answer<'subscribe'>).cursor;
    void wire.closed.then(() => {
      if (!isOver) connection(false);
      void reopen(FIRST_RETRY_MS);
    });
    if (isOver) wire.close();
  }

  /**
   * Somebody stopped the daemon, and listening is no reason to start it against their will. One
   * that is away for a while must not cost more than a look every few seconds.
   */
  async function reopen(retryMs: number): Promise<void> {
    if (isOver) return;
    try {
      await open(undefined);
      connection(true);
    } catch {
      retry = setTimeout(() => void reopen(Math.min(retryMs * 2, SLOWEST_RETRY_MS)), retryMs);
    }
  }

  await open(options.startFrom);
  return async () => {
    isOver = true;
    clearTimeout(retry);
    wire.close();
    await wire.closed;
  };
}
