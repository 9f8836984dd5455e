import { isUtf8 } from 'node:buffer';
import { SmithyError } from '../core/errors.js';
import type { StreamedEvent } from '../core/events.js';
import { isRecord } from '../core/is-record.js';
import { findJsonProblem } from '../core/json-guard.js';
import type { Envelope } from './framing.js';

export type RequestId = string | number | null;

/** One call as a transport understood it. `id` is absent for a notification: nobody waits. */
export interface Request {
  readonly id?: RequestId;
  readonly method: string;
  readonly params: unknown;
}

/** A member of a batch, or a whole message, that is no request; answered with its error. */
export interface Refusal {
  readonly id: RequestId;
  readonly error: SmithyError;
}

export type Parsed =
  | { readonly kind: 'single'; readonly item: Request | Refusal }
  | { readonly kind: 'batch'; readonly items: readonly (Request | Refusal)[] };

/** More requests than a connection may have under way at once would only wait in memory. */
const MOST_IN_BATCH = 256;
/** An id is sent back with the answer; nobody needs a novel as one. */
const LONGEST_ID = 256;
const BAD_ID = Symbol('bad id');

export function parseMessage(bytes: Buffer, envelope: Envelope): Parsed {
  try {
    const message = parseJson(bytes);
    if (envelope === 'node-ipc') return { kind: 'single', item: readIpcEnvelope(message) };
    return Array.isArray(message) ? readBatch(message) : { kind: 'single', item: readRpc(message) };
  } catch (error) {
    return { kind: 'single', item: { id: null, error: SmithyError.from(error) } };
  }
}

export function isRefusal(item: Request | Refusal): item is Refusal {
  return 'error' in item;
}

/** The JSON of one message, of whatever carries it. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw unparsable('it is not valid UTF-8');
  const text = bytes.toString('utf8');
  const problem = findJsonProblem(text);
  if (problem !== undefined) throw unparsable(problem);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw unparsable(error instanceof Error ? error.message.slice(0, 200) : 'it is not JSON');
  }
}

function unparsable(why: string): SmithyError {
  return new SmithyError('PARSE_ERROR', `The frame cannot be read: ${why}.`, {
    hint: 'Send one JSON object per line, UTF-8, without duplicate or prototype keys.',
  });
}

function readBatch(members: readonly unknown[]): Parsed {
  if (members.length === 0) throw invalid('the batch is empty');
  if (members.length > MOST_IN_BATCH) {
    throw new SmithyError('LIMIT_EXCEEDED', `The batch holds ${members.length} requests.`, {
      hint: `Send at most ${MOST_IN_BATCH} at once.`,
      data: { limit: 'batch', value: MOST_IN_BATCH },
    });
  }
  return { kind: 'batch', items: members.map(readRpc) };
}

function readRpc(message: unknown): Request | Refusal {
  if (!isRecord(message)) return { id: null, error: invalid('it is not an object') };
  const id = readId(message['id']);
  if (id === BAD_ID) return { id: null, error: invalid('"id" must be a string, a number or null') };
  if (message['jsonrpc'] !== '2.0')
    return { id: id ?? null, error: invalid('"jsonrpc" is not "2.0"') };
  if (typeof message['method'] !== 'string') {
    return { id: id ?? null, error: invalid('"method" must be a string') };
  }
  return request(id, message['method'], message['params']);
}

function readIpcEnvelope(message: unknown): Request | Refusal {
  if (!isRecord(message) || typeof message['type'] !== 'string') {
    return { id: null, error: invalid('"type" must be a string') };
  }
  const data = message['data'];
  if (!isRecord(data)) return request(null, message['type'], undefined);
  const id = readId(data['id']);
  if (id === BAD_ID) return { id: null, error: invalid('"data.id" must be a string or a number') };
  // A node-ipc sender always listens for "reply", so a missing id still gets an answer.
  return request(id ?? null, message['type'], data['params']);
}

function request(id: RequestId | undefined, method: string, params: unknown): Request {
  return id === undefined ? { method, params } : { id, method, params };
}

function readId(id: unknown): RequestId | undefined | typeof BAD_ID {
  if (id === undefined || id === null || typeof id === 'number') return id;
  return typeof id === 'string' && id.length <= LONGEST_ID ? id : BAD_ID;
}

export function tooLarge(limit: number): SmithyError {
  return new SmithyError('FRAME_TOO_LARGE', `The request passes the limit of ${limit} bytes.`, {
    hint: 'Split it, or raise wire.maxFrameBytes with `smithyd config set`.',
    data: { limit: 'wire.maxFrameBytes', value: limit, setting: 'wire.maxFrameBytes' },
  });
}

function invalid(why: string): SmithyError {
  return new SmithyError('INVALID_REQUEST', `This is not a request: ${why}.`, {
    hint: '{"jsonrpc":"2.0","id":1,"method":"status","params":{}}',
  });
}

/** The body of one answer, before its envelope. */
export function answerBody(
  id: RequestId,
  outcome: { result: unknown } | { error: SmithyError },
): string {
  const body =
    'error' in outcome
      ? `"error":${JSON.stringify(outcome.error.toWire())}`
      : `"result":${JSON.stringify(outcome.result)}`;
  return `"id":${JSON.stringify(id)},${body}`;
}

export function frameAnswer(envelope: Envelope, body: string): string {
  return envelope === 'jsonrpc'
    ? `{"jsonrpc":"2.0",${body}}\n`
    : `{"type":"reply","data":{${body}}}\f`;
}

export function frameBatch(bodies: readonly string[]): string {
  return `[${bodies.map((body) => `{"jsonrpc":"2.0",${body}}`).join(',')}]\n`;
}

export function frameEvent(envelope: Envelope, event: StreamedEvent): string {
  const body = JSON.stringify(event);
  return envelope === 'jsonrpc'
    ? `{"jsonrpc":"2.0","method":"event","params":${body}}\n`
    : `{"type":"event","data":${body}}\f`;
}
