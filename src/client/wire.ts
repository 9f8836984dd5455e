import { connect as connectSocket, type Socket } from 'node:net';
import { SmithyError, type WireError } from '../core/errors.js';
import type { StreamedEvent } from '../core/events.js';

/** One open connection to a daemon. It ends once; the client above it opens the next. */
export interface Wire {
  call(method: string, params: unknown, timeoutMs: number): Promise<unknown>;
  readonly closed: Promise<void>;
  readonly isOpen: boolean;
  /** Also one whose other side has stopped answering: `closed` comes all the same. */
  close(): void;
  /** The bare connection, for what is no call; this wire is over then. */
  release(): Socket;
}

/** How long the other side may take to hang up. */
const CLOSE_MS = 1_000;

interface Waiter {
  resolve(result: unknown): void;
  reject(error: SmithyError): void;
  timer: NodeJS.Timeout;
}

interface Message {
  readonly id?: number | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: WireError;
}

export async function openWire(
  address: string,
  onEvent: (event: StreamedEvent) => void = () => undefined,
): Promise<Wire> {
  const socket = await connected(address);
  const waiters = new Map<number, Waiter>();
  let lastId = 0;
  let unread = '';

  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = (unread + text).split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines) receive(JSON.parse(line) as Message);
  });
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const waiter of waiters.values()) settle(waiter).reject(connectionLost());
      waiters.clear();
      resolve();
    });
  });

  function receive(message: Message): void {
    if (message.method === 'event') {
      onEvent(message.params as StreamedEvent);
      return;
    }
    if (message.id === null && message.error !== undefined) {
      refuseAll(message.error);
      return;
    }
    const waiter = typeof message.id === 'number' ? take(message.id) : undefined;
    if (waiter === undefined) return;
    if (message.error === undefined) waiter.resolve(message.result);
    else waiter.reject(SmithyError.fromWire(message.error));
  }

  /** The daemon could not read a frame, and so not tell whose it was: nobody may wait for ever. */
  function refuseAll(error: WireError): void {
    for (const id of [...waiters.keys()]) take(id)?.reject(SmithyError.fromWire(error));
  }

  function take(id: number): Waiter | undefined {
    const waiter = waiters.get(id);
    waiters.delete(id);
    return waiter === undefined ? undefined : settle(waiter);
  }

  return {
    closed,
    get isOpen() {
      return !socket.destroyed && socket.writable;
    },
    call(method, params, timeoutMs) {
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => take(id)?.reject(timedOut(method, timeoutMs)), timeoutMs);
        waiters.set(id, { resolve, reject, timer });
        if (!socket.writable) {
          take(id)?.reject(connectionLost());
          return;
        }
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      });
    },
    close() {
      socket.end();
      const timer = setTimeout(() => socket.destroy(), CLOSE_MS);
      void closed.then(() => clearTimeout(timer));
    },
    release() {
      socket.removeAllListeners('data');
      return socket;
    },
  };
}

function settle(waiter: Waiter): Waiter {
  clearTimeout(waiter.timer);
  return waiter;
}

function connected(address: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(address);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

function connectionLost(): SmithyError {
  return new SmithyError('DAEMON_UNAVAILABLE', 'The connection to the daemon was lost.', {
    hint: 'The call may or may not have happened: look, then call again.',
    data: { sent: true },
  });
}

function timedOut(method: string, timeoutMs: number): SmithyError {
  return new SmithyError('TIMEOUT', `${method} was not answered within ${timeoutMs} ms.`, {
    hint: 'See `smithyd status`; the call may still finish.',
    data: { retry_after_ms: 1000 },
  });
}
