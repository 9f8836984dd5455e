import { createHash } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** One end of a WebSocket (RFC 6455): it opens, and it ends as the test wants it to. */
export interface ServedSocket {
  readonly path: string;
  /** With a close frame. */
  close(code: number, reason: string): void;
  /** Without a word. */
  drop(): void;
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const FINAL_CLOSE = 0x88;
const OPCODE = 0x0f;
const CLOSE = 0x08;

/** Answers every request to upgrade; gives the sockets in the order in which they came. */
export function serveWebSockets(server: Server): ServedSocket[] {
  const served: ServedSocket[] = [];
  server.on('upgrade', (request: IncomingMessage, stream: Socket) => {
    const key = request.headers['sec-websocket-key'] ?? '';
    const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
    stream.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    stream.on('error', () => undefined);
    let isClosing = false;
    const close = (code: number, reason: string): void => {
      isClosing = true;
      stream.write(closeFrame(code, reason));
    };
    // Whoever hears a close answers it, once, and the server hangs up.
    stream.on('data', (chunk: Buffer) => {
      if (((chunk[0] ?? 0) & OPCODE) !== CLOSE) return;
      if (!isClosing) close(1000, '');
      stream.end();
    });
    served.push({
      path: request.url ?? '',
      close,
      drop: () => stream.destroy(),
    });
  });
  return served;
}

function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const head = Buffer.from([FINAL_CLOSE, text.length + 2, code >> 8, code & 0xff]);
  return Buffer.concat([head, text]);
}
