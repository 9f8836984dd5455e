import type { ServerResponse } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { SAFE_HEADERS } from '../http/answers.js';
import type { Ask } from './resources.js';
import { createMcpServer } from './server.js';

export interface McpPost {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Read, bounded and checked already. */
  readonly body: unknown;
}

export type McpOverHttp = (post: McpPost, response: ServerResponse) => Promise<void>;

/** Streamable HTTP without sessions: each request is answered by itself, whichever year's client sends it. */
export function createMcpOverHttp(version: string, ask: Ask): McpOverHttp {
  const handler = createMcpHandler(() => createMcpServer(version, ask), {
    responseMode: 'json',
    // Nothing that could be listened to ever changes.
    maxSubscriptions: 0,
  });
  return async ({ url, headers, body }, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const init = { method: 'POST', headers: toHeaders(headers), signal: gone.signal };
    const request = new Request(url, { ...init, body: JSON.stringify(body) });
    const answer = await handler.fetch(request, { parsedBody: body });
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...SAFE_HEADERS });
    // One message, and bounded by the answer it holds.
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
}

/** The length was that of the body as it came. */
function toHeaders({ 'content-length': _, 'transfer-encoding': __, ...rest }: IncomingHttpHeaders) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  return headers;
}
