import { describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { projectsPerTest } from '../support/daemon-project.js';
import { mcpOnStdio, mcpOverHttp } from '../support/doorsteps.js';
import { HttpClient } from '../support/http.js';
import { pushStage } from '../support/push-stage.js';
import { SCENARIOS, type Changes } from '../support/s0-scenarios.js';
import { sharedWork, Work } from '../support/work.js';

const newProject = projectsPerTest();

const fail = (work: Work, message: string) =>
  work.call('push_telemetry', { console: [{ level: 'error', message }] });
const errors = ({ console }: Changes): string[] =>
  (console?.errors ?? []).map(({ message }) => message);
const since = (work: Work, params: object = {}) =>
  work.call<Changes>('get_changes_since', { include: ['console'], ...params });

describe('the scenarios of the source, told by a program', () => {
  const shared = sharedWork();

  // One for all: what it makes up has not been there before.
  const stage = pushStage((method, params) => shared().call(method, params));

  it.each(SCENARIOS)('%s', async (_, play) => {
    await play(stage);
  });
});

describe('whoever asks again', () => {
  const shared = sharedWork();

  it('is known by connection, and each connection by itself', async () => {
    const work = shared();
    const other = new Work(work.project, await work.project.socket());
    await since(work);
    await since(other);
    await fail(work, 'by connection');
    expect(errors(await since(work))).toEqual(['by connection']);
    expect(errors(await since(work))).toEqual([]);
    expect(errors(await since(other))).toEqual(['by connection']);
  });

  it('gets everything that is there at the first look', async () => {
    const work = shared();
    await fail(work, 'before anybody looked');
    const other = new Work(work.project, await work.project.socket());
    expect(errors(await since(other))).toContain('before anybody looked');
    expect(errors(await since(other))).toEqual([]);
  });

  it('is known by name over connections, HTTP and the command line', async () => {
    const work = shared();
    const http = new HttpClient(work.project);
    const asked = async () => {
      const { json } = await http.rpc('get_changes_since', { client: 'me', include: ['console'] });
      return errors(json as unknown as Changes);
    };
    await asked();
    await fail(work, 'by name');
    expect(errors(await since(work, { client: 'me' }))).toEqual(['by name']);
    expect(await asked()).toEqual([]);
    await fail(work, 'once more');
    expect(await asked()).toEqual(['once more']);
    const line = async () =>
      errors(await work.project.json<Changes>(['changes', '--include', 'console,network']));
    await line();
    await fail(work, 'on the command line');
    expect(await line()).toEqual(['on the command line']);
    expect(await line()).toEqual([]);
  });

  it.each([
    ['stdio', mcpOnStdio],
    ['HTTP', mcpOverHttp],
  ] as const)('is known as a model over %s', async (_, connect) => {
    const work = shared();
    const client = await connect(work.project, 'legacy');
    try {
      const asked = async () => {
        const { structuredContent } = await client.callTool({
          name: 'get_changes_since',
          arguments: { include: ['console'] },
        });
        return errors(structuredContent as Changes);
      };
      await asked();
      await fail(work, 'to a model');
      expect(await asked()).toEqual(['to a model']);
      expect(await asked()).toEqual([]);
    } finally {
      await client.close();
    }
  });

  it('is not moved by asking about a named point, a time or a cursor', async () => {
    const work = shared();
    const { cursor } = await since(work, { client: 'still' });
    const time = new Date(Date.now() - 60_000).toISOString();
    await work.call('mark', { name: 'not_moved' });
    await fail(work, 'still there');
    for (const checkpoint of [cursor, time, 'not_moved']) {
      const found = await since(work, { client: 'still', checkpoint });
      expect(errors(found)).toContain('still there');
    }
    expect(errors(await since(work, { client: 'still' }))).toEqual(['still there']);
  });

  it('is told which names are near when there is no such point', async () => {
    const work = shared();
    await work.call('mark', { name: 'before_refactor' });
    const { data } = await work.refusal('get_changes_since', { checkpoint: 'before_refaktor' });
    expect(data).toMatchObject({ code: 'MARK_NOT_FOUND', near: ['before_refactor'] });
    for (const checkpoint of [
      'nothing_like_it',
      'c1.zz.zz',
      '2026-13-77',
      '2026-99',
      '....',
      'evt-999999',
    ]) {
      const refusal = await work.refusal('get_changes_since', { checkpoint });
      expect(refusal.data['code']).toMatch(/_NOT_FOUND$/u);
    }
  });

  it('gets a tiny answer when nothing happened', async () => {
    const work = shared();
    const { cursor } = await work.call<Changes>('get_changes_since');
    const again = await work.call<Changes>('get_changes_since', { checkpoint: cursor });
    expect(again.summary).toBe('No significant changes.');
    expect(Buffer.byteLength(JSON.stringify(again))).toBeLessThan(700);
  });

  it('is refused a cursor that this ledger never came to', async () => {
    const work = shared();
    const { cursor } = await since(work);
    const [sign, run, , ...rest] = cursor.split('.');
    for (const other of [run, 'abcdef']) {
      const checkpoint = [sign, other, 'zzzzzz', ...rest].join('.');
      const { data, message } = await work.refusal('get_changes_since', { checkpoint });
      expect(data['code']).toBe('MARK_NOT_FOUND');
      expect(message).toContain('cursor');
    }
  });
});

describe('over a restart', () => {
  it('a cursor tells that what programs said is forgotten, and files are not', async () => {
    const project = newProject();
    const work = await Work.start(project);
    await work.fresh({ a: '1\n' });
    await fail(work, 'heard by the first');
    const { cursor } = await since(work, { client: 'lasting' });
    await project.cli(['stop']);
    work.put({ a: '2\n' });
    const again = await Work.start(project);
    await fail(again, 'heard by the second');
    for (const who of [{ checkpoint: cursor }, { client: 'lasting' }]) {
      const found = await again.call<Changes>('get_changes_since', who);
      expect(errors(found)).toEqual(['heard by the second']);
      expect(found.evicted).toEqual(['console', 'network', 'websocket', 'actions']);
      expect(found.files?.changed).toMatchObject([{ path: 'a', by: 'unknown' }]);
    }
  });

  it('a client whose place is beyond the ledger begins anew', async () => {
    const project = newProject();
    const work = await Work.start(project);
    await work.fresh({ a: '1\n' });
    await since(work, { client: 'lasting' });
    await project.cli(['stop']);
    rmSync(project.path('ledger'), { recursive: true });
    rmSync(project.path('dialogs'), { recursive: true });
    const again = await Work.start(project);
    await fail(again, 'here');
    expect(errors(await since(again, { client: 'lasting' }))).toEqual(['here']);
  });
});

describe('after gc', () => {
  it('an old cursor still tells every file; counts that nobody can know any more are null', async () => {
    const project = newProject();
    const work = await Work.start(project);
    await work.fresh({ a: '1\n' });
    const { cursor } = await since(work);
    work.put({ a: '2\n', b: 'b\n' });
    await work.save('saved');
    await work.call('gc');
    const found = await work.call<Changes>('get_changes_since', { checkpoint: cursor });
    expect(found.files?.changed.map(({ path }) => path)).toEqual(['a', 'b']);
  });
});
