import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newProject, projectsPerTest, type Project } from '../support/daemon-project.js';
import { embeddedDaemons } from '../support/embedded.js';
import { codeOf, HttpClient, type Ask } from '../support/http.js';
import { soon } from '../support/until.js';

let project: Project;
let http: HttpClient;

beforeAll(async () => {
  project = newProject();
  await project.startDaemon();
  http = new HttpClient(project);
});
afterAll(() => project.remove());

interface Hostile extends Ask {
  readonly path?: string;
  /** Without the token. */
  readonly bare?: boolean;
}

type Case = readonly [what: string, status: number, code: string, request: () => Hostile];

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (headers: Readonly<Record<string, string>>, body: unknown = '{}'): Hostile => {
  return { path: '/rpc/status', method: 'POST', body, headers };
};

/** A web page, a neighbour or a broken program: each is answered with its own status. */
const CASES: readonly Case[] = [
  [
    'a name that was bound to loopback',
    403,
    'FORBIDDEN',
    () => ({ headers: { host: 'evil.example' } }),
  ],
  [
    'that name with our port',
    403,
    'FORBIDDEN',
    () => ({ headers: { host: `evil.example:${http.port}` } }),
  ],
  ['our address with another port', 403, 'FORBIDDEN', () => ({ headers: { host: '127.0.0.1:1' } })],
  ['our address without a port', 403, 'FORBIDDEN', () => ({ headers: { host: '127.0.0.1' } })],
  [
    'another loopback address',
    403,
    'FORBIDDEN',
    () => ({ headers: { host: `127.0.0.2:${http.port}` } }),
  ],
  [
    'our name as part of a longer one',
    403,
    'FORBIDDEN',
    () => ({ headers: { host: `localhost:${http.port}.evil.example` } }),
  ],
  [
    'a host with a user before it',
    403,
    'FORBIDDEN',
    () => ({ headers: { host: `x@127.0.0.1:${http.port}` } }),
  ],
  ['a foreign origin', 403, 'FORBIDDEN', () => ({ headers: { origin: 'https://evil.example' } })],
  ['an origin of no page', 403, 'FORBIDDEN', () => ({ headers: { origin: 'null' } })],
  [
    'an origin on another local port',
    403,
    'FORBIDDEN',
    () => ({ headers: { origin: 'http://localhost:3000' } }),
  ],
  [
    'our origin by another scheme',
    403,
    'FORBIDDEN',
    () => ({ headers: { origin: `https://127.0.0.1:${http.port}` } }),
  ],
  [
    'our origin as the beginning of another',
    403,
    'FORBIDDEN',
    () => ({ headers: { origin: `${http.url}.evil.example` } }),
  ],
  [
    'an embedding page of another site',
    403,
    'FORBIDDEN',
    () => ({ headers: { 'sec-fetch-site': 'cross-site' } }),
  ],
  [
    'a question before a cross-origin call',
    403,
    'FORBIDDEN',
    () => ({
      bare: true,
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    }),
  ],
  [
    'events for a foreign page',
    403,
    'FORBIDDEN',
    () => ({ path: '/api/events', headers: { origin: 'https://evil.example' } }),
  ],
  ['no token', 401, 'UNAUTHORIZED', () => ({ bare: true })],
  ['no token for events', 401, 'UNAUTHORIZED', () => ({ bare: true, path: '/api/events' })],
  ['no token for numbers', 401, 'UNAUTHORIZED', () => ({ bare: true, path: '/metrics' })],
  [
    'no token for nothing at all',
    401,
    'UNAUTHORIZED',
    () => ({ bare: true, path: '/no/such/place' }),
  ],
  ['an empty token', 401, 'UNAUTHORIZED', () => ({ headers: { authorization: 'Bearer ' } })],
  [
    'a wrong token',
    401,
    'UNAUTHORIZED',
    () => ({ headers: { authorization: `Bearer ${'A'.repeat(43)}` } }),
  ],
  [
    'a part of the token',
    401,
    'UNAUTHORIZED',
    () => ({ headers: { authorization: `Bearer ${http.token.slice(0, -1)}` } }),
  ],
  [
    'the token and more',
    401,
    'UNAUTHORIZED',
    () => ({ headers: { authorization: `Bearer ${http.token}A` } }),
  ],
  [
    'the token under another scheme',
    401,
    'UNAUTHORIZED',
    () => ({ headers: { authorization: `Basic ${http.token}` } }),
  ],
  [
    'the token in the address',
    401,
    'UNAUTHORIZED',
    () => ({ bare: true, path: `/healthz?token=${http.token}` }),
  ],
  [
    'the token as a cookie',
    401,
    'UNAUTHORIZED',
    () => ({ bare: true, headers: { cookie: `smithyd_${http.port}=${http.token}` } }),
  ],
  [
    'a guessed code',
    401,
    'UNAUTHORIZED',
    () => ({ bare: true, path: `/open?code=${'A'.repeat(43)}` }),
  ],
  ['plain text', 415, 'INVALID_REQUEST', () => post({ 'content-type': 'text/plain' })],
  [
    'a form',
    415,
    'INVALID_REQUEST',
    () => post({ 'content-type': 'application/x-www-form-urlencoded' }),
  ],
  [
    'a form with files',
    415,
    'INVALID_REQUEST',
    () => post({ 'content-type': 'multipart/form-data; boundary=x' }),
  ],
  [
    'a body of no type',
    415,
    'INVALID_REQUEST',
    () => ({ ...post({ authorization: `Bearer ${http.token}` }), bare: true }),
  ],
  [
    'JSON in another charset',
    415,
    'INVALID_REQUEST',
    () => post({ 'content-type': 'application/json; charset=utf-16' }),
  ],
  [
    'a type that only begins like JSON',
    415,
    'INVALID_REQUEST',
    () => post({ 'content-type': 'application/jsonp' }),
  ],
  ['no JSON', 400, 'PARSE_ERROR', () => post(JSON_TYPE, '{')],
  ['a key twice', 400, 'PARSE_ERROR', () => post(JSON_TYPE, '{"why":"a","why":"b"}')],
  ['a prototype', 400, 'PARSE_ERROR', () => post(JSON_TYPE, '{"__proto__":{}}')],
  ['deep nesting', 400, 'PARSE_ERROR', () => post(JSON_TYPE, '['.repeat(100_000))],
  ['a list of parameters', 400, 'INVALID_PARAMS', () => post(JSON_TYPE, '[1]')],
  ['a GET of a method', 405, 'INVALID_REQUEST', () => ({ path: '/rpc/status' })],
  ['a DELETE', 405, 'INVALID_REQUEST', () => ({ path: '/api/dialogs', method: 'DELETE' })],
  [
    'a method of the language',
    404,
    'METHOD_NOT_FOUND',
    () => ({ ...post(JSON_TYPE), path: '/rpc/constructor' }),
  ],
  ['a path out of the tree', 404, 'METHOD_NOT_FOUND', () => ({ path: '/rpc/../../etc/passwd' })],
  ['a wrong escape', 400, 'INVALID_REQUEST', () => ({ path: '/api/dialogs/%E0%A4%A/session' })],
  [
    'another server as the target',
    400,
    'INVALID_REQUEST',
    () => ({ path: '//evil.example/healthz' }),
  ],
  ['a parameter nobody knows', 400, 'INVALID_PARAMS', () => ({ path: '/api/events?typs=user' })],
  ['an event nobody knows', 400, 'INVALID_PARAMS', () => ({ path: '/api/events?types=nonsense' })],
  [
    'events without a stream',
    400,
    'INVALID_REQUEST',
    () => ({ ...post(JSON_TYPE), path: '/rpc/subscribe' }),
  ],
];

describe('a hostile request', () => {
  it.each(CASES)('with %s is answered %i %s', async (...[, status, code, make]) => {
    const { path = '/healthz', bare = false, ...ask } = make();
    const answer = await (bare ? http.bare(path, ask) : http.ask(path, ask));
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    const names = Object.keys(answer.headers);
    expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(answer.text).not.toContain(http.token);
    if (status === 405) expect(answer.headers.allow).toMatch(/^(GET|POST)(, POST)?$/u);
    if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  const raw: readonly (readonly [string, number, () => string])[] = [
    ['no HTTP at all', 400, () => '{"jsonrpc":"2.0"}\r\n\r\n'],
    ['two hosts', 400, () => head(`Host: 127.0.0.1:${http.port}`, 'Host: evil.example')],
    [
      'a target with a host',
      400,
      () => head(`Host: 127.0.0.1:${http.port}`).replace('/healthz', 'http://evil.example/healthz'),
    ],
    ['no host', 400, () => head()],
    ['an empty host', 403, () => head('Host: ')],
    ['no host in an old version', 403, () => head().replace('HTTP/1.1', 'HTTP/1.0')],
    [
      'a length twice',
      400,
      () => head(`Host: 127.0.0.1:${http.port}`, 'Content-Length: 1', 'Content-Length: 2'),
    ],
    [
      'a length and chunks',
      400,
      () => head(`Host: 127.0.0.1:${http.port}`, 'Content-Length: 1', 'Transfer-Encoding: chunked'),
    ],
    ['headers without end', 431, () => head(`X: ${'x'.repeat(100_000)}`)],
    ['a body that is announced too large', 413, () => announced(1e12)],
  ];

  it.each(raw)('with %s is answered %i', async (_what, status, make) => {
    expect(await http.raw(make())).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `, 'u'));
    expect((await http.ask('/healthz')).status).toBe(200);
  });

  function head(...lines: string[]): string {
    const all = ['GET /healthz HTTP/1.1', 'Connection: close', ...lines];
    return `${all.join('\r\n')}\r\n\r\n`;
  }

  function announced(bytes: number): string {
    const lines = [
      'POST /rpc/status HTTP/1.1',
      `Host: 127.0.0.1:${http.port}`,
      `Authorization: Bearer ${http.token}`,
      'Content-Type: application/json',
      `Content-Length: ${bytes}`,
      'Connection: close',
    ];
    return `${lines.join('\r\n')}\r\n\r\n{`;
  }
});

describe('limits', () => {
  const freshProject = projectsPerTest();
  const start = embeddedDaemons();

  async function limited(limits: Parameters<typeof start>[1]): Promise<HttpClient> {
    const own = freshProject();
    await start(own, limits);
    return new HttpClient(own);
  }

  it('hold for a body in chunks whose length nobody announced', async () => {
    const client = await limited({ maxFrameBytes: 1024 });
    const answer = await client.ask('/rpc/status', {
      body: `{"why":"${'x'.repeat(5000)}"}`,
      headers: { 'transfer-encoding': 'chunked' },
    });
    expect([answer.status, codeOf(answer)]).toEqual([413, 'FRAME_TOO_LARGE']);
  });

  it('end a body that never comes', async () => {
    const client = await limited({ partialFrameMs: 200 });
    const text = await client.raw(
      [
        'POST /rpc/status HTTP/1.1',
        `Host: 127.0.0.1:${client.port}`,
        `Authorization: Bearer ${client.token}`,
        'Content-Type: application/json',
        'Content-Length: 10',
        '',
        '{',
      ].join('\r\n'),
    );
    expect(text).toMatch(/^HTTP\/1\.1 408 /u);
    expect(text).toContain('"TIMEOUT"');
  });

  it('end headers that never end', async () => {
    const client = await limited({ partialFrameMs: 200 });
    expect(await client.raw('GET /healthz HTTP/1.1\r\nHost: ')).toMatch(/^HTTP\/1\.1 408 /u);
  });

  it('end a connection that says nothing', async () => {
    const client = await limited({ partialFrameMs: 200 });
    const closed = new Promise((resolve) => {
      connect(client.port, '127.0.0.1').resume().on('close', resolve);
    });
    await soon('the end of a silent connection', closed);
  });
});
