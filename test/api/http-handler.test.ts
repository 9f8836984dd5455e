import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Dispatch } from '../../src/api/dispatch.js';
import { createHandler, type HandlerDeps } from '../../src/api/http/handler.js';
import type { SseReader } from '../../src/api/http/sse.js';
import { Visits } from '../../src/api/http/visits.js';
import { SmithyError } from '../../src/core/errors.js';
import { systemClock } from '../../src/host/clock.js';
import { soon } from '../support/until.js';

const TOKEN = 'token';
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A server whose only method is the given one, and who reads events of it. */
async function serve(dispatch: Dispatch) {
  const readers = new Set<SseReader>();
  const handle = createHandler({
    ...{ dispatch, readers },
    limits: { unsentBytes: 1e6 } as HandlerDeps['limits'],
    workspace: {} as HandlerDeps['workspace'],
    log: { write: () => undefined },
    onDropped: () => undefined,
    refuse: () => undefined,
  });
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const visits = new Visits(systemClock);
  const ended = new Promise<void>((resolve) => {
    server.on('request', (request, response) => {
      void handle({ request, response }, { port, visits, token: TOKEN }).then(resolve);
    });
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const asked = get({ host: '127.0.0.1', port, path: '/api/events', headers, agent: false });
  asked.on('error', () => undefined);
  return { asked, readers, ended };
}

describe('a reader of events', () => {
  it('that hangs up while history is read back is forgotten', async () => {
    let hungUp: () => void = () => undefined;
    const { asked, readers, ended } = await serve(async (_, { peer }) => {
      const gone = new Promise<void>((resolve) => (hungUp = resolve));
      peer.onGone(() => hungUp());
      asked.destroy();
      await gone;
      return { cursor: '1', gap: false };
    });
    await soon('the end of the request', ended);
    expect(readers.size).toBe(0);
  });

  it('is cut off when history breaks off after its first event', async () => {
    const { asked, readers } = await serve((_, { peer }) => {
      peer.deliver({ type: 'note', cursor: '1', at: '' });
      return Promise.reject(new SmithyError('STORAGE_IO', 'The disk refused.'));
    });
    const response = await soon(
      'the answer',
      new Promise<IncomingMessage>((resolve) => asked.on('response', resolve)),
    );
    response.on('error', () => undefined).resume();
    await soon('its end', new Promise<void>((resolve) => response.on('close', () => resolve())));
    expect(readers.size).toBe(0);
  });
});
