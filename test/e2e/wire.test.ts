import { describe, expect, it, beforeAll, afterAll, afterEach } from '@jest/globals';
import { newProject, type Project } from '../support/daemon-project.js';
import { ipcRequest, RawSocket, request } from '../support/raw-socket.js';

let project: Project;
let pid: number;
const open: RawSocket[] = [];

beforeAll(async () => {
  project = newProject();
  ({ pid } = await project.startDaemon());
});
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});
afterAll(() => project.remove());

async function connect(): Promise<RawSocket> {
  const socket = await RawSocket.connect(project.path('run/smithyd.sock'));
  open.push(socket);
  return socket;
}

/** The error that one raw line is answered with; the connection must still be good after it. */
async function errorFor(
  line: string | Buffer,
): Promise<{ code: number; name: unknown; message: string }> {
  const socket = await connect();
  socket.send(line);
  socket.send('\n');
  const [frame] = await socket.frames(1);
  expect((await socket.call('status')).result?.['pid']).toBe(pid);
  expect(socket.received).toHaveLength(2);
  expect(frame?.result).toBeUndefined();
  const { code = 0, message = '', data } = frame?.error ?? {};
  return { code, name: data?.['code'], message };
}

describe('requests on one connection', () => {
  it('may be sent without waiting for answers', async () => {
    const socket = await connect();
    const ids = Array.from({ length: 2000 }, (_, at) => at);
    socket.send(ids.map((id) => request(id, id % 2 === 0 ? 'status' : 'get_config')).join(''));
    const frames = await socket.frames(ids.length);
    expect(frames.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(ids);
    for (const { id, result } of frames) {
      expect(Object.hasOwn(result ?? {}, Number(id) % 2 === 0 ? 'pid' : 'wire')).toBe(true);
    }
  });

  it('may arrive in pieces of one byte', async () => {
    const socket = await connect();
    socket.net.setNoDelay(true);
    for (const byte of Buffer.from(request('ä', 'status'))) socket.send(Buffer.of(byte));
    expect((await socket.answer('ä')).result?.['pid']).toBe(pid);
  });

  it.each([0, -7, 1.5, '', 'x', 'ü "quoted" \n', null])('get their id %j back', async (id) => {
    const socket = await connect();
    socket.send(request(id, 'status'));
    const [frame] = await socket.frames(1);
    expect(frame?.id).toBe(id);
    expect(frame?.result?.['pid']).toBe(pid);
  });

  it('are not answered when they are notifications, even wrong ones', async () => {
    const socket = await connect();
    socket.send('{"jsonrpc":"2.0","method":"status"}\n');
    socket.send('{"jsonrpc":"2.0","method":"no_such_method"}\n');
    socket.send('{"jsonrpc":"2.0","method":"status","params":{"no":1}}\n');
    await socket.call('status');
    expect(socket.received).toHaveLength(1);
  });

  it('may be separated by blank lines and carriage returns', async () => {
    const socket = await connect();
    socket.send(`\n\r\n  \n${request(1, 'status').replace('\n', '\r\n')}\n`);
    expect((await socket.answer(1)).result?.['pid']).toBe(pid);
    expect(socket.received).toHaveLength(1);
  });
});

describe('a batch', () => {
  it('is answered by one frame without the notifications', async () => {
    const socket = await connect();
    const notification = '{"jsonrpc":"2.0","method":"status"}';
    const bad = request('b', 'no_such').trim();
    socket.send(`[${request('a', 'status').trim()},${notification},${bad},5]\n`);
    const [frame] = await socket.frames(1);
    expect(frame?.batch?.map(({ id, error }) => [id, error?.data['code']])).toEqual([
      ['a', undefined],
      ['b', 'METHOD_NOT_FOUND'],
      [null, 'INVALID_REQUEST'],
    ]);
  });

  it('of notifications only is not answered', async () => {
    const socket = await connect();
    socket.send('[{"jsonrpc":"2.0","method":"status"},{"jsonrpc":"2.0","method":"status"}]\n');
    await socket.call('status');
    expect(socket.received).toHaveLength(1);
  });

  it('that is empty is no request', async () => {
    expect(await errorFor('[]')).toMatchObject({ code: -32600, name: 'INVALID_REQUEST' });
  });

  it('of more than 256 requests is refused as a whole', async () => {
    const many = Array.from({ length: 257 }, (_, id) => request(id, 'status').trim());
    expect(await errorFor(`[${many.join(',')}]`)).toMatchObject({ name: 'LIMIT_EXCEEDED' });
  });
});

describe("node-ipc's envelope", () => {
  it('shares a connection with JSON lines, each answered in its own', async () => {
    const socket = await connect();
    socket.send(
      request(1, 'status') + ipcRequest('status', { id: 2, params: {} }) + request(3, 'status'),
    );
    await socket.frames(3);
    const envelopes = socket.received.map(({ id, envelope }) => [id, envelope]);
    expect(Object.fromEntries(envelopes)).toEqual({ 1: 'line', 2: 'node-ipc', 3: 'line' });
    for (const { result } of socket.received) expect(result?.['pid']).toBe(pid);
  });

  it('carries errors by name too', async () => {
    const socket = await connect();
    socket.send(ipcRequest('stauts', { id: 'x' }));
    const { envelope, error } = await socket.answer('x');
    expect(envelope).toBe('node-ipc');
    expect(error?.data).toMatchObject({ code: 'METHOD_NOT_FOUND', near: ['status'] });
  });

  it('is answered without an id as well', async () => {
    const socket = await connect();
    socket.send(ipcRequest('status', {}));
    const [frame] = await socket.frames(1);
    expect(frame).toMatchObject({ envelope: 'node-ipc', id: null, result: { pid } });
  });
});

describe('a wrong request', () => {
  it('for an unknown method names the near ones', async () => {
    const socket = await connect();
    const { error } = await socket.call('get_confg');
    expect(error?.code).toBe(-32601);
    expect(error?.data).toMatchObject({ code: 'METHOD_NOT_FOUND', near: ['get_config'] });
    expect(error?.data['hint']).toContain('"get_config"');
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])(
    'for the method %j finds nothing',
    async (method) => {
      const socket = await connect();
      const { error } = await socket.call(method);
      expect(error?.data['code']).toBe('METHOD_NOT_FOUND');
    },
  );

  it('names every parameter that is wrong, and the nearest right one', async () => {
    const socket = await connect();
    const { error } = await socket.call('subscribe', { typs: [], since: 5, dialog: 'x' });
    expect(error?.code).toBe(-32602);
    expect(error?.data['code']).toBe('INVALID_PARAMS');
    const issues = error?.data['issues'] as { path: string; hint?: string }[];
    expect(issues.map(({ path }) => path).sort()).toEqual(['dialog', 'since', 'typs']);
    expect(issues.find(({ path }) => path === 'typs')?.hint).toContain('"types"');
  });

  it.each(['[]', '5', '"x"', 'true'])('with the parameters %s is refused', async (params) => {
    const socket = await connect();
    socket.send(`{"jsonrpc":"2.0","id":1,"method":"status","params":${params}}\n`);
    expect((await socket.answer(1)).error?.data['code']).toBe('INVALID_PARAMS');
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', 'prototype'])(
    'with the parameter %s is refused by name',
    async (key) => {
      const socket = await connect();
      const { error } = await socket.call('status', { [key]: 1 });
      expect(error?.data['issues']).toEqual([expect.objectContaining({ path: key })]);
    },
  );

  it.each([
    ['a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"status"}', 'twice'],
    ['a key twice, once escaped', '{"id":1,"\\u0069d":2}', 'twice'],
    ['a prototype key', '{"jsonrpc":"2.0","id":1,"params":{"__proto__":{}}}', '__proto__'],
    ['an escaped prototype key', '{"params":{"\\u005f_proto__":{}}}', '__proto__'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'UTF-8'],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'UTF-8'],
    ['depth', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'deeper'],
    ['width', `[${'1,'.repeat(600_000)}1]`, 'elements'],
    ['no JSON at all', 'GET / HTTP/1.1', 'cannot be read'],
    ['half of an object', '{"jsonrpc":"2.0"', 'cannot be read'],
  ])('is answered, and the connection stays good: %s', async (_, line, why) => {
    const { code, name, message } = await errorFor(line);
    expect({ code, name }).toEqual({ code: -32700, name: 'PARSE_ERROR' });
    expect(message).toContain(why);
  });

  it.each([
    ['a number', '5'],
    ['null', 'null'],
    ['a string', '"status"'],
    ['no method', '{"jsonrpc":"2.0","id":null}'],
    ['the old protocol', '{"id":null,"method":"status"}'],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"status"}'],
    ['a novel as id', `{"jsonrpc":"2.0","id":"${'x'.repeat(300)}","method":"status"}`],
  ])('is told to be none: %s', async (_, line) => {
    expect(await errorFor(line)).toMatchObject({ code: -32600, name: 'INVALID_REQUEST' });
  });

  it('never shows the inside of the daemon', async () => {
    const { message } = await errorFor('{"jsonrpc":');
    expect(message).not.toMatch(/\bat .*\.js|node_modules|Error:/u);
  });
});
