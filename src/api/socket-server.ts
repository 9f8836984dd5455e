import { createServer, type Server, type Socket } from 'node:net';
import { shuttingDown } from '../workspace/workspace.js';
import { Connection, type ConnectionDeps } from './connection.js';

export interface SocketServer {
  open(): Promise<void>;
  /** Stops accepting, lets requests under way end, then closes. Resolves at the deadline at the latest. */
  close(deadlineMs: number): Promise<void>;
  /** Listens again at the same address after its file was taken away; open connections go on. */
  reopen(): Promise<void>;
}

export interface SocketServerDeps extends Pick<
  ConnectionDeps,
  'limits' | 'dispatch' | 'workspace' | 'log' | 'onDropped'
> {
  readonly address: string;
  /** Runs right after the address exists, before anybody is answered. */
  readonly protect: (address: string) => void;
}

/** Far beyond any honest use; keeps a runaway client from eating all descriptors. */
const MOST_CONNECTIONS = 512;

export function createSocketServer(deps: SocketServerDeps): SocketServer {
  const connections = new Set<Connection>();
  let server: Server | undefined;
  let stopping = false;
  let onQuiet: (() => void) | undefined;

  const isQuiet = (): boolean => [...connections].every(({ inFlight }) => inFlight === 0);

  function accept(socket: Socket): void {
    const connection = new Connection(socket, {
      ...deps,
      refuse: () => (stopping ? shuttingDown() : undefined),
      onIdle: () => {
        if (onQuiet !== undefined && isQuiet()) onQuiet();
      },
    });
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  }

  async function open(): Promise<void> {
    const fresh = createServer(accept);
    fresh.maxConnections = MOST_CONNECTIONS;
    await new Promise<void>((resolve, reject) => {
      fresh.once('error', reject);
      fresh.listen(deps.address, resolve);
    });
    deps.protect(deps.address);
    // An accept that fails (EMFILE) must not end the daemon; the client sees a refusal.
    fresh.on('error', (error) =>
      deps.log.write('error', 'accepting failed', { error: error.message }),
    );
    server = fresh;
  }

  return {
    open,
    async reopen() {
      server?.close();
      await open();
    },
    async close(deadlineMs) {
      stopping = true;
      server?.close();
      const deadline = after(deadlineMs);
      await Promise.race([quiet(), deadline.passed]);
      const leaving = [...connections].filter(({ lingers }) => !lingers);
      await Promise.race([Promise.all(leaving.map((one) => one.end())), deadline.passed]);
      deadline.cancel();
      for (const connection of leaving) connection.destroy();
    },
  };

  function quiet(): Promise<void> {
    if (isQuiet()) return Promise.resolve();
    return new Promise((resolve) => (onQuiet = resolve));
  }
}

function after(milliseconds: number): { passed: Promise<void>; cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  return { passed, cancel: () => clearTimeout(timer) };
}
