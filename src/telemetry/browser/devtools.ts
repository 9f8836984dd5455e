import { SmithyError } from '../../core/errors.js';
import { fieldsOf, textOf, type DevtoolsEvent, type Fields } from './message.js';

/** An open connection to a browser as a whole. It ends once. */
export interface Devtools {
  /** What the browser calls itself. */
  readonly product: string;
  readonly closed: Promise<void>;
  /** To a tab, frame or worker, or to the browser itself. */
  send(method: string, params?: Fields, session?: string): Promise<Fields>;
  close(): Promise<void>;
}

/** Only what is on this machine: whoever speaks this protocol rules over the browser. */
const HOST = '127.0.0.1';
const PATIENCE_MS = 15_000;
/** Commands are sent by their names: the description of all of them is a megabyte nobody needs. */
const NO_DESCRIPTION = { version: { major: '1', minor: '3' }, domains: [] };

interface Raw {
  on(name: 'event', take: (message: object) => void): void;
  on(name: 'disconnect', take: () => void): void;
  send(method: string, params: Fields, session?: string): Promise<unknown>;
  close(): Promise<void>;
}

/** @throws SmithyError when nobody listens there, or something else than a browser. */
export async function openDevtools(
  port: number,
  onEvent: (event: DevtoolsEvent) => void,
): Promise<Devtools> {
  // Only this command pays for it.
  const { default: CDP } = await import('chrome-remote-interface');
  try {
    const version = await within(CDP.Version({ host: HOST, port }));
    // The path is what counts; where else such an address may lead is not for others to say.
    const { pathname } = new URL(version.webSocketDebuggerUrl);
    const target = `ws://${HOST}:${port}${pathname}`;
    const raw = (await within(CDP({ target, protocol: NO_DESCRIPTION }))) as unknown as Raw;
    return wrapped(raw, version.Browser, onEvent);
  } catch (cause) {
    throw new SmithyError('BROWSER_UNAVAILABLE', `No browser answers on ${HOST}:${port}.`, {
      hint: `Start it with --remote-debugging-port=${port} and a profile of its own (--user-data-dir=DIR).`,
      data: { port },
      cause,
    });
  }
}

function wrapped(raw: Raw, product: string, onEvent: (event: DevtoolsEvent) => void): Devtools {
  let end: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (end = resolve));
  raw.on('disconnect', end);
  raw.on('event', (message) => {
    const { method, params, sessionId } = fieldsOf(message);
    onEvent({
      method: textOf(method) ?? '',
      params: fieldsOf(params),
      session: textOf(sessionId),
    });
  });
  return {
    product,
    closed,
    async send(method, params = {}, session) {
      return fieldsOf(await within(raw.send(method, params, session)));
    },
    async close() {
      await within(raw.close()).catch(() => undefined);
      end();
    },
  };
}

/** A command that was on its way when the connection broke is never answered. */
async function within<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new SmithyError('TIMEOUT', `The browser did not answer within ${PATIENCE_MS} ms.`));
    }, PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
