import { connect, type Socket } from 'node:net';
import { until } from './until.js';

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One frame from the daemon, its envelope taken off. */
export interface Received {
  readonly envelope: 'line' | 'node-ipc';
  /** The JSON text as it came. */
  readonly text: string;
  readonly id?: string | number | null;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: WireError;
  /** An event's content. */
  readonly event?: Readonly<Record<string, unknown>>;
  /** The answers of a batch. */
  readonly batch?: readonly Omit<Received, 'envelope' | 'text'>[];
}

/** A client that sends whatever bytes it is told to, and keeps all it gets. */
export class RawSocket {
  readonly received: Received[] = [];
  readonly net: Socket;
  isClosed = false;
  #unread: Buffer[] = [];
  #lastId = 0;

  constructor(net: Socket) {
    this.net = net;
    net.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A daemon that hangs up in the middle of our garbage is within its rights.
    net.on('error', () => undefined);
    net.on('close', () => (this.isClosed = true));
  }

  static connect(address: string, options: { allowHalfOpen?: boolean } = {}): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const net = connect({ path: address, ...options });
      net.once('error', reject);
      net.once('connect', () => {
        net.off('error', reject);
        resolve(new RawSocket(net));
      });
    });
  }

  send(bytes: string | Buffer): void {
    this.net.write(bytes);
  }

  /** Sends a JSON-RPC request and waits for its answer. */
  call(method: string, params: unknown = {}): Promise<Received> {
    const id = `call-${++this.#lastId}`;
    this.send(request(id, method, params));
    return this.answer(id);
  }

  answer(id: string | number): Promise<Received> {
    return until(`request ${id} is answered`, () => {
      const answer = this.received.find((frame) => frame.id === id);
      if (answer === undefined && this.isClosed) throw new Error(`closed before answering ${id}`);
      return answer;
    });
  }

  /** Waits until so many frames have come. */
  frames(count: number): Promise<Received[]> {
    return until(`${count} frames have come`, () => {
      if (this.received.length >= count) return this.received;
      if (this.isClosed) throw new Error(`closed after ${this.received.length} frames`);
      return undefined;
    });
  }

  event(type: string): Promise<Readonly<Record<string, unknown>>> {
    return until(`an event ${type} has come`, () => {
      return this.received.find(({ event }) => event?.['type'] === type)?.event;
    });
  }

  async closed(): Promise<void> {
    await until('the daemon has closed the connection', () => this.isClosed);
  }

  destroy(): void {
    this.net.destroy();
  }

  #receive(chunk: Buffer): void {
    let start = 0;
    for (let end = nextEnd(chunk, 0); end !== -1; end = nextEnd(chunk, start)) {
      const text = Buffer.concat([...this.#unread, chunk.subarray(start, end)]).toString('utf8');
      this.received.push(readFrame(text, chunk[end] === NEWLINE ? 'line' : 'node-ipc'));
      this.#unread = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#unread.push(chunk.subarray(start));
  }
}

const NEWLINE = 0x0a;
const FORM_FEED = 0x0c;

function nextEnd(chunk: Buffer, start: number): number {
  const ends = [chunk.indexOf(NEWLINE, start), chunk.indexOf(FORM_FEED, start)];
  const found = ends.filter((end) => end !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}

export function request(id: unknown, method: string, params: unknown = {}): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

export function ipcRequest(type: string, data: unknown): string {
  return `${JSON.stringify({ type, data })}\f`;
}

interface Body {
  readonly id?: string | number | null;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: WireError;
  readonly params?: Readonly<Record<string, unknown>>;
}

function readFrame(text: string, envelope: Received['envelope']): Received {
  const parsed = JSON.parse(text) as Body | Body[] | { type: string; data: Body };
  if (Array.isArray(parsed)) return { envelope, text, batch: parsed };
  if ('type' in parsed) {
    const { type, data } = parsed;
    return type === 'event'
      ? { envelope, text, event: data as Readonly<Record<string, unknown>> }
      : { envelope, text, ...data };
  }
  const { params, ...answer } = parsed;
  return { envelope, text, ...answer, ...(params === undefined ? {} : { event: params }) };
}
