import type { IncomingMessage, ServerResponse } from 'node:http';
import { SmithyError } from '../../core/errors.js';
import type { Log } from '../../core/ports.js';
import type { Workspace } from '../../workspace/workspace.js';
import type { WireLimits } from '../connection.js';
import { reportBug, type Dispatch } from '../dispatch.js';
import type { McpOverHttp } from '../mcp/over-http.js';
import type { Ask } from '../mcp/resources.js';
import type { Context } from '../method.js';
import { failure, html, HttpRefusal, json, send, type Content } from './answers.js';
import { readJson } from './body.js';
import { cookieName, requireCaller, requireOwnHost, requireOwnOrigin, type Gate } from './gate.js';
import { page, welcome, type PageFacts } from './page.js';
import { findRoute, readTarget, type Found, type Target } from './routes.js';
import { SseReader } from './sse.js';

export interface HandlerDeps {
  readonly dispatch: Dispatch;
  readonly workspace: Workspace;
  readonly limits: WireLimits;
  readonly log: Log;
  readonly onDropped: () => void;
  /** The error for new requests while the server closes; undefined otherwise. */
  readonly refuse: () => SmithyError | undefined;
  readonly readers: Set<SseReader>;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What a reader of events may leave untaken: less than a socket, because there are many of them. */
const SSE_UNSENT_BYTES = 4 * 1024 * 1024;

/** One request from its first header to its answer. */
export function createHandler(
  deps: HandlerDeps,
): (exchange: Exchange, gate: Gate) => Promise<void> {
  const { dispatch, workspace, limits, log } = deps;
  /** Loaded by the first who needs it. */
  let mcp: Promise<McpOverHttp> | undefined;

  function context(): Context {
    const peer = {
      identity: {},
      isBrief: true,
      deliver: () => undefined,
      drained: () => Promise.resolve(),
      onGone: () => undefined,
      linger: () => undefined,
    };
    return { transport: 'http', workspace, peer };
  }

  const ask = (method: string, params: unknown): Promise<unknown> =>
    dispatch({ method, params }, context());

  async function showPage(): Promise<Content> {
    const { dialogs, current_dialog_id: current } = (await ask('list_dialogs', {})) as Pick<
      PageFacts,
      'dialogs'
    > & { current_dialog_id: string | null };
    const { sessions } =
      current === null
        ? { sessions: [] }
        : ((await ask('list_sessions', { all: true, dialog_id: current })) as PageFacts);
    return html(page({ root: workspace.status().root, dialogs, sessions }));
  }

  async function streamEvents({ request, response }: Exchange, { params }: Found): Promise<void> {
    const last = request.headers['last-event-id'];
    const since = typeof last === 'string' && last !== '' ? { since: last } : {};
    const unsentBytes = Math.min(limits.unsentBytes, SSE_UNSENT_BYTES);
    const reader = new SseReader(response, { ...deps, unsentBytes });
    // Before anything is waited for: who hangs up meanwhile would never be taken out again.
    deps.readers.add(reader);
    response.once('close', () => deps.readers.delete(reader));
    const call = { method: 'subscribe', params: { ...params, ...since } };
    const answer = await dispatch(call, { ...context(), peer: reader.peer });
    reader.subscribed(answer as { cursor: string });
  }

  async function speakMcp({ request, response }: Exchange): Promise<void> {
    const body = await readJson(request, limits);
    mcp ??= import('../mcp/over-http.js').then(({ createMcpOverHttp }) => {
      const asModel: Context = { ...context(), transport: 'mcp' };
      const own: Ask = (method, params) => dispatch({ method, params }, asModel);
      return createMcpOverHttp(workspace.status().version, own);
    });
    const url = `http://${request.headers.host ?? ''}/mcp`;
    await (
      await mcp
    )({ url, headers: request.headers, body }, response);
  }

  /** Undefined when it answers for itself. */
  async function answer(exchange: Exchange, found: Found): Promise<Content | undefined> {
    const { goal, params } = found;
    const { request } = exchange;
    if ('method' in goal) {
      const body = request.method === 'POST' ? await readParams(request) : {};
      return json(await ask(goal.method, merge(body, params)));
    }
    switch (goal.special) {
      case 'rpc':
        return json(await ask(String(params['method']), await readParams(request)));
      case 'events':
        await streamEvents(exchange, found);
        return undefined;
      case 'metrics': {
        const { text } = (await ask('get_metrics', {})) as { text: string };
        return { type: 'text/plain; version=0.0.4; charset=utf-8', body: text };
      }
      case 'health': {
        const { version, uptime_ms } = workspace.status();
        return json({ ok: true, version, uptime_ms });
      }
      case 'mcp':
        await speakMcp(exchange);
        return undefined;
      case 'page':
        return showPage();
    }
  }

  async function readParams(request: IncomingMessage): Promise<Record<string, unknown>> {
    const params = await readJson(request, limits);
    if (typeof params === 'object' && params !== null && !Array.isArray(params)) {
      return params as Record<string, unknown>;
    }
    throw new SmithyError('INVALID_PARAMS', 'The body must be an object of parameters.', {
      hint: 'Send {} for none.',
      data: { issues: [{ path: '', message: 'not an object' }] },
    });
  }

  async function serve(exchange: Exchange, gate: Gate): Promise<Content | undefined> {
    const { request } = exchange;
    requireOwnHost(request, gate);
    const refusal = deps.refuse();
    if (refusal !== undefined) throw refusal;
    const target = readTarget(request.url ?? '');
    if (target.path === '/open') return letIn(request, target, gate);
    requireOwnOrigin(request, gate);
    requireCaller(request, gate);
    return answer(exchange, findRoute(request.method ?? '', target));
  }

  return async (exchange, gate) => {
    try {
      const content = await serve(exchange, gate);
      if (content !== undefined) send(exchange.response, content);
    } catch (thrown) {
      // What a method did wrong is reported where it ran; this is what went wrong around it.
      if (!(thrown instanceof HttpRefusal || thrown instanceof SmithyError)) {
        // Without the query: a code that lets somebody in may be there.
        const [place = ''] = (exchange.request.url ?? '').split('?');
        reportBug(log, place, SmithyError.from(thrown));
      }
      send(exchange.response, failure(thrown));
    }
  };
}

/** The path says which dialog; a body that says it too could mean another one. */
function merge(
  body: Readonly<Record<string, unknown>>,
  params: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const twice = Object.keys(params).find((name) => Object.hasOwn(body, name));
  if (twice === undefined) return { ...body, ...params };
  throw new SmithyError('INVALID_PARAMS', `The path has ${twice} already.`, {
    hint: `Leave ${twice} out of the body.`,
    data: { issues: [{ path: twice, message: 'unknown key' }] },
  });
}

/**
 * Exchanges the code of `smithyd open` for a cookie. The next page comes by `Refresh` and not by a
 * status: the browser was led here by a local file, and after a redirect from there it would keep
 * the strict cookie to itself. The code in the address is worth nothing any more.
 */
function letIn(request: IncomingMessage, { query }: Target, { port, visits }: Gate): Content {
  if (request.method !== 'GET') {
    const error = new SmithyError('INVALID_REQUEST', 'This is to be opened, nothing else.');
    throw new HttpRefusal(error, 405, { allow: 'GET' });
  }
  const secret = visits.exchange(query.get('code') ?? '');
  if (secret === undefined) {
    throw new SmithyError('UNAUTHORIZED', 'This address was used already, or is too old.', {
      hint: 'Run `smithyd open` again.',
    });
  }
  const cookie = `${cookieName(port)}=${secret}; HttpOnly; SameSite=Strict; Path=/`;
  return { ...html(welcome()), headers: { 'set-cookie': cookie, refresh: '0; url=/' } };
}
