import { readFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Project } from './daemon-project.js';
import { soon, until } from './until.js';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Ask {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ErrorBody {
  readonly code?: unknown;
}

/** A client of the project's HTTP server, made from nothing but its files. */
export class HttpClient {
  readonly port: number;
  readonly token: string;
  readonly url: string;

  constructor(project: Project) {
    const { http } = JSON.parse(readFileSync(project.path('run/daemon.json'), 'utf8')) as {
      http: { url: string } | null;
    };
    if (http === null) throw new Error('HTTP is off');
    this.url = http.url;
    this.port = Number(new URL(http.url).port);
    this.token = readFileSync(project.path('run/token'), 'utf8').trim();
  }

  /** With the token; a body makes it a POST with JSON. */
  ask(path: string, { method, body, headers = {} }: Ask = {}): Promise<HttpAnswer> {
    return this.bare(path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      body,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
  }

  async rpc(method: string, params: unknown = {}): Promise<HttpAnswer> {
    return this.ask(`/rpc/${method}`, { body: params });
  }

  bare(path: string, { method = 'GET', body, headers = {} }: Ask = {}): Promise<HttpAnswer> {
    const answered = new Promise<HttpAnswer>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, path, method, headers, agent: false };
      const sent = request(options, (response) => void whole(response).then(resolve, reject));
      sent.once('error', reject);
      sent.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
    });
    return soon(`an answer to ${method} ${path}`, answered);
  }

  /** Sends bytes as they are and gives all that comes back until the server closes. */
  raw(bytes: string): Promise<string> {
    const answered = new Promise<string>((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write(bytes));
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    return soon('the end of a raw connection', answered);
  }

  /** An open stream of events. */
  events(path = '/api/events', headers: Readonly<Record<string, string>> = {}): Promise<SseClient> {
    const opened = new Promise<SseClient>((resolve, reject) => {
      const all = { authorization: `Bearer ${this.token}`, ...headers };
      const options = { host: '127.0.0.1', port: this.port, path, headers: all, agent: false };
      const sent = request(options, (response) => {
        if (response.statusCode === 200) resolve(new SseClient(response));
        else reject(new Error(`refused with ${response.statusCode ?? 0}`));
      });
      sent.once('error', reject);
      sent.end();
    });
    return soon('a stream of events', opened);
  }
}

async function whole(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const isJson = response.headers['content-type']?.startsWith('application/json') === true;
  const json = isJson ? (JSON.parse(text) as Readonly<Record<string, unknown>>) : {};
  return { status: response.statusCode ?? 0, headers: response.headers, text, json };
}

export function codeOf({ json }: HttpAnswer): unknown {
  return (json['error'] as ErrorBody | undefined)?.code;
}

export interface SseMessage {
  readonly event?: string;
  readonly id?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads a stream as the standard for EventSource has it. */
export class SseClient {
  readonly messages: SseMessage[] = [];
  readonly response: IncomingMessage;
  isClosed = false;
  #unread = '';

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    response.on('error', () => undefined);
    response.on('close', () => (this.isClosed = true));
  }

  /** What `subscribe` answers on the socket. */
  async subscribed(): Promise<Readonly<Record<string, unknown>>> {
    const first = await until('the stream says where it begins', () =>
      this.messages.find(({ event }) => event === 'subscribed'),
    );
    return first.data;
  }

  get told(): Readonly<Record<string, unknown>>[] {
    return this.messages.filter(({ event }) => event === undefined).map(({ data }) => data);
  }

  get lastId(): string | undefined {
    return this.messages.findLast(({ id }) => id !== undefined)?.id;
  }

  event(type: string): Promise<Readonly<Record<string, unknown>>> {
    return until(`an event ${type} has come`, () =>
      this.told.find((event) => event['type'] === type),
    );
  }

  close(): void {
    this.response.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#unread + text).split('\n\n');
    this.#unread = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = Object.fromEntries(
        block.split('\n').map((line) => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /u, '')];
        }),
      ) as { event?: string; id?: string; data?: string };
      const { data, ...rest } = fields;
      if (data === undefined) continue;
      this.messages.push({ ...rest, data: JSON.parse(data) as Readonly<Record<string, unknown>> });
    }
  }
}
