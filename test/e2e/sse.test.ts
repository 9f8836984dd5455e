import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { embeddedDaemons } from '../support/embedded.js';
import { codeOf, HttpClient } from '../support/http.js';
import { request } from '../support/raw-socket.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();
const start = embeddedDaemons();

async function served(): Promise<{ project: Project; http: HttpClient }> {
  const project = newProject();
  await project.startDaemon();
  return { project, http: new HttpClient(project) };
}

const texts = (events: readonly Readonly<Record<string, unknown>>[]): unknown[] =>
  events.flatMap((event) => (event['type'] === 'note' ? [event['text']] : []));

describe('a stream of events over HTTP', () => {
  it('tells what a subscriber of the socket is told, its ids are the cursors', async () => {
    const { project, http } = await served();
    const socket = await project.socket();
    const types = ['note', 'dialog'];
    const { result } = await socket.call('subscribe', { types });
    const sse = await http.events(`/api/events?types=${types.join(',')}`);
    expect(await sse.subscribed()).toEqual(result);
    await http.rpc('create_dialog', { title: 'one' });
    await http.rpc('note', { text: 'a remark\nof two lines' });
    const told = await sse.event('note');
    await socket.event('note');
    const heard = socket.received.flatMap(({ event }) => (event === undefined ? [] : [event]));
    expect(sse.told).toEqual(heard);
    expect(told).toMatchObject({ text: 'a remark\nof two lines' });
    const numbered = sse.messages.filter(({ event }) => event === undefined);
    expect(numbered.map(({ id }) => id)).toEqual(heard.map(({ cursor }) => cursor));
  });

  it('of one dialog leaves out those of others', async () => {
    const { http } = await served();
    const { json: one } = await http.rpc('create_dialog', { title: 'one' });
    const { json: two } = await http.rpc('create_dialog', { title: 'two' });
    const id = String(one['dialog_id']);
    const streams = await Promise.all(
      [`/api/dialogs/${id}/events`, `/api/events?dialog_id=${id.slice(0, -1)}`].map((path) =>
        http.events(path),
      ),
    );
    await Promise.all(streams.map((sse) => sse.subscribed()));
    await http.rpc('note', { text: 'theirs', dialog_id: two['dialog_id'] });
    await http.rpc('note', { text: 'ours', dialog_id: one['dialog_id'] });
    await Promise.all(streams.map((sse) => sse.event('note')));
    expect(streams.map(({ told }) => texts(told))).toEqual([['ours'], ['ours']]);
  });

  it('of a dialog that is not there is refused', async () => {
    const { project, http } = await served();
    expect(codeOf(await http.ask('/api/dialogs/nonsense/events'))).toBe('DIALOG_NOT_FOUND');
    const { error } = await (await project.socket()).call('subscribe', { dialog_id: 'nonsense' });
    expect(error?.data['code']).toBe('DIALOG_NOT_FOUND');
  });

  it('goes on after a restart of the daemon where it stopped, and misses nothing', async () => {
    const { project, http } = await served();
    const sse = await http.events();
    await sse.subscribed();
    await http.rpc('note', { text: '1' });
    await sse.event('note');
    sse.close();
    await http.rpc('note', { text: '2' });
    await project.cli(['stop']);
    await project.startDaemon();
    const next = new HttpClient(project);
    await next.rpc('note', { text: '3' });
    const more = await next.events('/api/events', { 'last-event-id': sse.lastId ?? '' });
    expect(await more.subscribed()).toMatchObject({ gap: false });
    await next.rpc('note', { text: '4' });
    await until('all have come', () => texts(more.told).length === 3);
    expect(texts(more.told)).toEqual(['2', '3', '4']);
    // The old token went with the old daemon.
    expect(
      (await next.ask('/healthz', { headers: { authorization: `Bearer ${http.token}` } })).status,
    ).toBe(401);
  });

  it('says that something may be missing after a cursor it does not know', async () => {
    const { http } = await served();
    const sse = await http.events('/api/events', { 'last-event-id': 'no-such-cursor' });
    expect(await sse.subscribed()).toMatchObject({ gap: true });
    expect((await http.events('/api/events?since=0')).isClosed).toBe(false);
  });

  it('ends with the daemon, after saying so', async () => {
    const { project, http } = await served();
    const sse = await http.events();
    await sse.subscribed();
    await project.cli(['stop']);
    await until('the stream has ended', () => sse.isClosed);
    expect(sse.told.at(-1)).toMatchObject({ type: 'shutting_down' });
  });
});

describe('a reader that does not read', () => {
  it('is dropped and counted; its buffer is bounded and the others miss nothing', async () => {
    const project = newProject();
    await start(project, { unsentBytes: 500_000 });
    const http = new HttpClient(project);
    const good = await http.events();
    await good.subscribed();
    const stalled = await http.events();
    await stalled.subscribed();
    stalled.response.pause();
    const socket = await project.socket();
    const before = (await project.status()).memory_bytes;
    const dropped = async (): Promise<number> => {
      const { text } = await http.ask('/metrics');
      return Number(/smithyd_dropped_total\{queue="subscriber"\} (\d+)/u.exec(text)?.[1]);
    };
    expect(await dropped()).toBe(0);
    let sent = 0;
    // The kernel takes some megabytes before anything waits in the daemon. A round fits the buffer, so
    // that whoever reads is never dropped.
    while ((await dropped()) === 0) {
      if (sent > 5_000) throw new Error('it was never dropped');
      for (let more = 0; more < 25; more++) {
        socket.send(request(++sent, 'note', { text: `${sent} `.padEnd(10_000, 'x') }));
      }
      await socket.answer(sent);
      await until('the good reader has all', () => texts(good.told).length === sent);
    }
    expect(await dropped()).toBe(1);
    stalled.response.resume();
    await until('the stalled one is cut off', () => stalled.isClosed);
    expect(texts(stalled.told).length).toBeLessThan(sent);
    const numbers = texts(good.told).map((text) => Number(String(text).split(' ')[0]));
    expect(numbers).toEqual(Array.from({ length: sent }, (_, at) => at + 1));
    expect((await project.status()).memory_bytes - before).toBeLessThan(200e6);
    expect((await http.rpc('status')).status).toBe(200);
  });
});
