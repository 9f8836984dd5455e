import type { ServerResponse } from 'node:http';
import { ERRORS, SmithyError } from '../../core/errors.js';

type Headers = Readonly<Record<string, string>>;

/** A failure whose HTTP status says more than that of its code: 405, 408, 415. */
export class HttpRefusal extends Error {
  readonly error: SmithyError;
  readonly status: number;
  readonly headers: Headers;

  constructor(error: SmithyError, status: number, headers: Headers = {}) {
    super(error.message);
    this.error = error;
    this.status = status;
    this.headers = headers;
  }
}

/**
 * No page of another origin may read, frame or embed an answer, and nothing of it stays in a cache.
 * There are no CORS headers at all.
 */
export const SAFE_HEADERS: Headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Who has not taken a whole answer by then will not. */
const STALLED_MS = 60_000;

export interface Content {
  readonly type: string;
  readonly body: string;
  readonly status?: number;
  readonly headers?: Headers;
}

export function send(response: ServerResponse, content: Content): void {
  const { type, body, status = 200, headers = {} } = content;
  if (response.destroyed) return;
  if (response.headersSent) {
    // The rest of what was begun will not come; whoever waits for it must learn that.
    response.destroy();
    return;
  }
  const bytes = Buffer.from(body);
  const stalled = setTimeout(() => response.destroy(), STALLED_MS);
  response.once('close', () => clearTimeout(stalled));
  response.writeHead(status, {
    ...SAFE_HEADERS,
    'content-type': type,
    'content-length': bytes.length,
    ...headers,
  });
  response.end(bytes);
}

export function json(body: unknown): Content {
  return { type: 'application/json; charset=utf-8', body: `${JSON.stringify(body)}\n` };
}

export function html(body: string): Content {
  return { type: 'text/html; charset=utf-8', body };
}

/** The one form that every failure has on this border. */
export function failure(thrown: unknown): Content {
  const refusal = thrown instanceof HttpRefusal ? thrown : undefined;
  const error = refusal?.error ?? SmithyError.from(thrown);
  const { code, hint, ...data } = error.toWire().data;
  const body = { error: { code, message: error.message, hint, ...data } };
  const retry = data['retry_after_ms'];
  return {
    ...json(body),
    status: refusal?.status ?? ERRORS[error.code].http,
    headers: {
      ...(error.code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer' } : {}),
      ...(typeof retry === 'number' ? { 'retry-after': `${Math.ceil(retry / 1000)}` } : {}),
      ...refusal?.headers,
    },
  };
}
