import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { run } from '../support/processes.js';
import { projectsPerTest, REPOSITORY } from '../support/daemon-project.js';

const newProject = projectsPerTest();

interface Said {
  readonly replies: Readonly<Record<string, { result?: unknown; error?: unknown }>>;
  readonly event: unknown;
}

describe('a stock node-ipc client', () => {
  it('calls methods, is told errors and receives events', async () => {
    const project = newProject();
    const { pid, socket } = await project.startDaemon();
    const calls = [
      { type: 'status', params: {} },
      { type: 'get_config' },
      { type: 'stauts', params: {} },
      { type: 'subscribe', params: { types: ['config_changed'] } },
      { type: 'update_config', params: { maxCheckpointAge: 9 } },
    ];
    const client = join(REPOSITORY, 'test/fixtures/node-ipc-client.mjs');
    const words = [process.execPath, '--no-deprecation', client, socket, JSON.stringify(calls)];
    const { code, stdout, stderr } = await run(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { replies, event } = JSON.parse(stdout) as Said;
    expect(replies).toMatchObject({
      0: { result: { pid, root: project.root } },
      1: { result: { maxCheckpointAge: 7 } },
      2: { error: { code: -32601, data: { code: 'METHOD_NOT_FOUND' } } },
      3: { result: { gap: false } },
      4: { result: { maxCheckpointAge: 9 } },
    });
    expect(event).toMatchObject({ type: 'config_changed', keys: ['maxCheckpointAge'] });
  });
});

describe('the lockfile', () => {
  interface Lock {
    readonly packages: Readonly<
      Record<string, { version?: string; dev?: boolean; resolved?: string }>
    >;
  }
  const lock = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8')) as Lock;

  it('holds no node-ipc but 9.2.1, and that for development only', () => {
    const found = Object.entries(lock.packages).filter(([path]) => path.endsWith('/node-ipc'));
    expect(found.map(([path, { version, dev }]) => ({ path, version, dev }))).toEqual([
      { path: 'node_modules/node-ipc', version: '9.2.1', dev: true },
    ]);
  });

  it('holds nothing of what later versions of it brought along', () => {
    const names = Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1));
    const unwanted = [
      'peacenotwar',
      'oneday-test',
      'strong-type',
      '@achrinza/node-ipc',
      '@node-ipc/compat',
    ];
    expect(names.filter((name) => unwanted.includes(name ?? ''))).toEqual([]);
    expect(JSON.stringify(lock)).not.toContain('peacenotwar');
  });
});
