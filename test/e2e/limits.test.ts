import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { embeddedDaemons } from '../support/embedded.js';
import { projectsPerTest } from '../support/daemon-project.js';
import { ipcRequest, RawSocket, request } from '../support/raw-socket.js';
import { soon, until } from '../support/until.js';

const newProject = projectsPerTest();
const start = embeddedDaemons();
const name = (socket: RawSocket, at: number): unknown => socket.received[at]?.error?.data['code'];

describe('a frame over the limit', () => {
  it('is refused by a limit that was just set, and the next frame is answered', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    await socket.call('update_config', { wire: { maxFrameBytes: 2048 } });
    socket.send(request('big', 'status', { padding: 'x'.repeat(100_000) }));
    const { result } = await socket.call('status');
    expect(result?.['root']).toBe(project.root);
    const [, refusal] = socket.received;
    expect(refusal).toMatchObject({ id: null, error: { code: -32001 } });
    expect(refusal?.error?.data).toMatchObject({
      code: 'FRAME_TOO_LARGE',
      limit: 'wire.maxFrameBytes',
      value: 2048,
    });
    expect(socket.received).toHaveLength(3);
  });

  it('just at the limit is still read', async () => {
    const project = newProject();
    await start(project, { maxFrameBytes: 1024 });
    const socket = await project.socket();
    const line = request(1, 'status').trimEnd();
    socket.send(`${line}${' '.repeat(1024 - line.length)}\n`);
    expect((await socket.answer(1)).error).toBeUndefined();
    socket.send(`${line}${' '.repeat(1025 - line.length)}\n`);
    await socket.frames(2);
    expect(name(socket, 1)).toBe('FRAME_TOO_LARGE');
  });

  it("is refused in node-ipc's envelope when it came in it", async () => {
    const project = newProject();
    await start(project, { maxFrameBytes: 1024 });
    const socket = await project.socket();
    socket.send(ipcRequest('status', { id: 1, params: { padding: 'x'.repeat(200_000) } }));
    socket.send(ipcRequest('status', { id: 2 }));
    await socket.answer(2);
    expect(socket.received.map(({ envelope, id }) => [envelope, id])).toEqual([
      ['node-ipc', null],
      ['node-ipc', 2],
    ]);
    expect(name(socket, 0)).toBe('FRAME_TOO_LARGE');
  });
});

describe('a client that holds a connection for nothing', () => {
  it('is told and cut off when it never ends a frame', async () => {
    const project = newProject();
    await start(project, { partialFrameMs: 200 });
    const socket = await project.socket();
    socket.send('{"jsonrpc":"2.0",');
    await socket.closed();
    expect(socket.received.map(({ error }) => error?.data['code'])).toEqual(['TIMEOUT']);
  });

  it('is cut off when it never ends a frame that is too large', async () => {
    const project = newProject();
    await start(project, { partialFrameMs: 200, maxFrameBytes: 1024 });
    const socket = await project.socket();
    socket.send('x'.repeat(5000));
    await socket.closed();
  });

  it('is cut off when it says nothing for too long', async () => {
    const project = newProject();
    await start(project, { idleMs: 200 });
    const socket = await project.socket();
    await socket.closed();
    expect(socket.received).toEqual([]);
  });

  it('is cut off even when it does not hang up in return', async () => {
    const project = newProject();
    await start(project, { idleMs: 200 });
    const socket = await RawSocket.connect(project.path('run/smithyd.sock'), {
      allowHalfOpen: true,
    });
    await soon('the end of the daemon’s side', once(socket.net, 'end'));
    await until('our side is refused', () => {
      if (!socket.isClosed) socket.send('\n');
      return socket.isClosed;
    });
  });

  it('stays connected as long as it is subscribed', async () => {
    const project = newProject();
    await start(project, { idleMs: 500 });
    // On a machine that stalls, a connection may be cut off before its first word: then once more.
    const saying = (method: string, params = {}): Promise<RawSocket> =>
      until(`${method} is answered`, async () => {
        const socket = await project.socket();
        const isAnswered = await socket.call(method, params).then(
          () => true,
          () => false,
        );
        return isAnswered ? socket : undefined;
      });
    const subscriber = await saying('subscribe');
    const idle = await project.socket();
    // The idle one came later and is cut off: so the subscriber had its time as well.
    await idle.closed();
    await saying('update_config', { maxCheckpointAge: 9 });
    expect(await subscriber.event('config_changed')).toMatchObject({ keys: ['maxCheckpointAge'] });
  });
});

describe('a client that asks for more than it takes', () => {
  it('gets every answer although few may be under way at once', async () => {
    const project = newProject();
    await start(project, { inFlight: 2 });
    const socket = await project.socket();
    const ids = Array.from({ length: 500 }, (_, id) => id);
    socket.send(ids.map((id) => request(id, id % 50 === 0 ? 'doctor' : 'status')).join(''));
    const frames = await socket.frames(ids.length);
    expect(frames.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(ids);
    expect(frames.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it('is not read from while its answers pile up, and loses none of them', async () => {
    const project = newProject();
    await start(project, { unsentBytes: 65_536 });
    const greedy = await project.socket();
    const honest = await project.socket();
    greedy.net.pause();
    const count = 60_000;
    for (let id = 0; id < count; id++) greedy.send(request(id, 'get_config'));
    for (let look = 0; look < 300; look++) await honest.call('status');
    expect(greedy.net.writableLength).toBeGreaterThan(0);
    greedy.net.resume();
    await greedy.frames(count);
    expect(new Set(greedy.received.map(({ id }) => id)).size).toBe(count);
  });

  it('is dropped when it subscribes and does not read', async () => {
    const project = newProject();
    await start(project, { unsentBytes: 65_536 });
    const slow = await project.socket();
    // Two hundred times over, so that few changes make much to read.
    for (let times = 0; times < 200; times++) await slow.call('subscribe');
    slow.net.pause();
    const busy = await project.socket();
    const dropped = (): boolean =>
      readFileSync(project.path('run/daemon.log'), 'utf8').includes('dropped a subscriber');
    for (let age = 1; !dropped() && age < 2000; age++) {
      await busy.call('update_config', { maxCheckpointAge: 1 + (age % 2) });
    }
    expect(dropped()).toBe(true);
    slow.net.resume();
    await slow.closed();
    const { result } = await busy.call('get_metrics');
    expect(result?.['text']).toMatch(/^smithyd_dropped_total\{queue="subscriber"\} [1-9]/mu);
  });
});
