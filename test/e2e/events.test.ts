import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { ipcRequest } from '../support/raw-socket.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();

describe('a subscriber', () => {
  it('hears of what happens after it subscribed, and of nothing before', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    await socket.call('update_config', { maxCheckpointAge: 8 });
    const { result } = await socket.call('subscribe');
    expect(result).toEqual({ cursor: expect.any(String), gap: false });
    await socket.call('update_config', { http: { enabled: false } });
    const event = await socket.event('config_changed');
    expect(event).toEqual({
      type: 'config_changed',
      keys: ['http'],
      cursor: expect.any(String),
      at: expect.stringMatching(/Z$/u),
    });
    expect(event['cursor']).not.toBe(result?.['cursor']);
  });

  it('resumes from a cursor without losing or repeating an event', async () => {
    const project = newProject();
    await project.startDaemon();
    const first = await project.socket();
    const { result } = await first.call('subscribe');
    await first.call('update_config', { maxCheckpointAge: 11 });
    const { cursor } = await first.event('config_changed');
    first.destroy();

    const other = await project.socket();
    for (const age of [12, 13, 14]) await other.call('update_config', { maxCheckpointAge: age });
    const resumed = await project.socket();
    const answer = await resumed.call('subscribe', { since: cursor });
    expect(answer.result?.['gap']).toBe(false);
    await other.call('update_config', { maxCheckpointAge: 15 });
    const cursors = await until('four events have come', () => {
      const seen = resumed.received.filter(({ event }) => event !== undefined);
      return seen.length >= 4 ? seen.map(({ event }) => event?.['cursor']) : undefined;
    });
    expect(cursors).toHaveLength(4);
    expect(new Set(cursors).size).toBe(4);
    expect(cursors).not.toContain(cursor);

    const fromTheStart = await project.socket();
    await fromTheStart.call('subscribe', { since: result?.['cursor'] });
    const events = fromTheStart.received.filter(({ event }) => event !== undefined);
    expect(events.map(({ event }) => event?.['cursor'])).toEqual([cursor, ...cursors]);
  });

  it('is told of a gap when its cursor is from before a restart', async () => {
    const project = newProject();
    await project.startDaemon();
    const before = await project.socket();
    const cursor = (await before.call('subscribe')).result?.['cursor'];
    await project.cli(['stop']);
    await project.startDaemon();
    const after = await project.socket();
    const { result } = await after.call('subscribe', { since: cursor });
    expect(result?.['gap']).toBe(true);
  });

  it.each(['nonsense', 'abc-99999999999999999999', 'a'.repeat(200), '-', '__proto__'])(
    'is told of a gap when its cursor is %j',
    async (since) => {
      const project = newProject();
      await project.startDaemon();
      const socket = await project.socket();
      expect((await socket.call('subscribe', { since })).result?.['gap']).toBe(true);
    },
  );

  it('hears only of the types it asked for', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    await socket.call('subscribe', { types: ['shutting_down'] });
    await socket.call('update_config', { maxCheckpointAge: 8 });
    await project.cli(['stop']);
    await socket.event('shutting_down');
    expect(socket.received.filter(({ event }) => event !== undefined)).toHaveLength(1);
  });

  it('gets events in the envelope it subscribed in', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    socket.send(ipcRequest('subscribe', { id: 1 }));
    await socket.answer(1);
    await socket.call('update_config', { maxCheckpointAge: 8 });
    await socket.event('config_changed');
    const envelopes = socket.received
      .filter(({ event }) => event !== undefined)
      .map(({ envelope }) => envelope);
    expect(envelopes).toEqual(['node-ipc']);
  });
});
