import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { SmithyError } from '../../core/errors.js';
import { shuttingDown } from '../../workspace/workspace.js';
import { failure, HttpRefusal } from './answers.js';
import { unreadable } from './body.js';
import { LOOPBACK, type Gate } from './gate.js';
import { createHandler, type HandlerDeps } from './handler.js';
import type { SseReader } from './sse.js';

export interface HttpServerDeps extends Omit<HandlerDeps, 'refuse' | 'readers'> {
  readonly gate: Omit<Gate, 'port'>;
}

export interface HttpServer {
  readonly port: number;
  /** Stops accepting, lets requests under way end, then closes. Resolves at the deadline at the latest. */
  close(deadlineMs: number): Promise<void>;
}

/** Far beyond any honest use; keeps a runaway client from eating all descriptors. */
const MOST_CONNECTIONS = 512;
const MOST_HEADER_BYTES = 16 * 1024;
const MOST_UNDER_WAY = 256;
const BEAT_MS = 15_000;
/** A refused body is read on for a moment, or its sender would see a reset instead of the answer. */
const LAST_WORDS_MS = 1_000;

/** Listens on loopback; port 0 picks a free one. Throws what `listen` throws. */
export async function openHttpServer(deps: HttpServerDeps, port: number): Promise<HttpServer> {
  const readers = new Set<SseReader>();
  let underWay = 0;
  let stopping = false;
  let onQuiet: () => void = () => undefined;
  const handle = createHandler({
    ...deps,
    readers,
    refuse: () => (stopping ? shuttingDown() : underWay > MOST_UNDER_WAY ? busy() : undefined),
  });
  const withinMs = deps.limits.partialFrameMs;
  const server = createServer({
    maxHeaderSize: MOST_HEADER_BYTES,
    headersTimeout: withinMs,
    // The time for bodies is kept where they are read.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(withinMs, 30_000),
  });
  server.maxConnections = MOST_CONNECTIONS;

  function accept(request: IncomingMessage, response: ServerResponse): void {
    underWay++;
    const { port: own } = server.address() as AddressInfo;
    // A client that hangs up in the middle of an answer is within its rights.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    response.once('finish', () => cutOff(request));
    void handle({ request, response }, { ...deps.gate, port: own }).finally(() => {
      underWay--;
      if (underWay === 0) onQuiet();
    });
  }

  server.on('request', accept);
  server.on('clientError', refuseUnreadable);
  await listening(server, port);
  // An accept that fails (EMFILE) must not end the daemon; the client sees a refusal.
  server.on('error', (error) =>
    deps.log.write('error', 'accepting failed', { error: error.message }),
  );
  const beat = setInterval(() => {
    for (const reader of readers) reader.beat();
  }, BEAT_MS).unref();

  return {
    port: (server.address() as AddressInfo).port,
    async close(deadlineMs) {
      stopping = true;
      clearInterval(beat);
      server.close();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, deadlineMs)));
      const quiet = new Promise<void>((resolve) => (onQuiet = resolve));
      if (underWay > 0) await Promise.race([quiet, late]);
      for (const reader of readers) reader.end();
      server.closeIdleConnections();
      const closed = new Promise<void>((resolve) => server.once('close', resolve));
      if (server.listening || (await connections(server)) > 0) await Promise.race([closed, late]);
      clearTimeout(timer);
      server.closeAllConnections();
    },
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((_, count) => resolve(count));
  });
}

function cutOff(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS);
  socket.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
}

/** The parser gave up: the answer is written by hand. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status = 400, why } = unreadable(error.code);
  const refusal = new HttpRefusal(
    new SmithyError('INVALID_REQUEST', `The request cannot be read: ${why}.`),
    status,
  );
  const { type, body } = failure(refusal);
  const head = [
    `HTTP/1.1 ${status} Refused`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function busy(): SmithyError {
  return new SmithyError('BUSY', 'Too many requests are under way.', {
    hint: 'Wait for answers before asking more.',
    data: { retry_after_ms: 200 },
  });
}
