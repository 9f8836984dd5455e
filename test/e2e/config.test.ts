import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Config } from '../../src/core/config.js';
import { projectsPerTest, REPOSITORY, type Project } from '../support/daemon-project.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();

/** A project whose repository brought this config.json along. */
function withFile(content: string): Project {
  const project = newProject();
  mkdirSync(project.path(), { mode: 0o700 });
  writeFileSync(project.path('config.json'), content);
  return project;
}

describe('settings', () => {
  it('are the defaults when there is no file, and none is made by reading', async () => {
    const project = newProject();
    expect(await project.json(['config', 'get'])).toEqual(Config.parse({}));
    expect(existsSync(project.path('config.json'))).toBe(false);
  });

  it('take effect at once and survive a kill -9 right after the answer', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    const socket = await project.socket();
    const { result } = await socket.call('update_config', {
      edits: { ttlMs: 5 },
      exclude: ['dist/**'],
    });
    process.kill(pid, 'SIGKILL');
    expect(result).toMatchObject({ edits: { ttlMs: 5, waitMs: 0 }, exclude: ['dist/**'] });
    expect(await project.json(['config', 'get'])).toEqual(result);
    expect(JSON.parse(readFileSync(project.path('config.json'), 'utf8'))).toEqual({
      edits: { ttlMs: 5 },
      exclude: ['dist/**'],
    });
    expect(statSync(project.path('config.json')).mode & 0o777).toBe(0o600);
  });

  it('of a group that are not named stay as they were', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    await socket.call('update_config', { snapshots: { keepLast: 3 } });
    const { result } = await socket.call('update_config', { snapshots: { keepEvery: 4 } });
    expect(result?.['snapshots']).toMatchObject({ keepLast: 3, keepEvery: 4, everyEvents: 80 });
  });

  it('that are unknown or wrong are refused together, and nothing changes', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    const { error } = await socket.call('update_config', {
      maxCheckpointAge: 30,
      exclud: [],
      edits: { ttlMS: 1 },
      http: { port: 70_000 },
    });
    const issues = error?.data['issues'] as { path: string; hint?: string }[];
    expect(issues.map(({ path }) => path).sort()).toEqual(['edits.ttlMS', 'exclud', 'http.port']);
    expect(issues.find(({ path }) => path === 'exclud')?.hint).toContain('"exclude"');
    expect(issues.find(({ path }) => path === 'edits.ttlMS')?.hint).toContain('"ttlMs"');
    expect((await socket.call('get_config')).result).toEqual(Config.parse({}));
    expect(existsSync(project.path('config.json'))).toBe(false);
  });

  it('changed by many at once are all kept', async () => {
    const project = newProject();
    await project.startDaemon();
    const sockets = await Promise.all([project.socket(), project.socket(), project.socket()]);
    await Promise.all([
      sockets[0].call('update_config', { maxCheckpointAge: 21 }),
      sockets[1].call('update_config', { edits: { ttlMs: 22 } }),
      sockets[2].call('update_config', { edits: { waitMs: 23 } }),
    ]);
    const written = JSON.parse(readFileSync(project.path('config.json'), 'utf8')) as unknown;
    expect(written).toEqual({ maxCheckpointAge: 21, edits: { ttlMs: 22, waitMs: 23 } });
  });
});

describe('a config.json written by hand', () => {
  it('takes effect without a restart and is announced', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    await socket.call('subscribe');
    writeFileSync(project.path('config.json'), '{"maxFileBytes": 77}');
    expect(await socket.event('config_changed')).toMatchObject({ keys: ['maxFileBytes'] });
    expect((await socket.call('get_config')).result?.['maxFileBytes']).toBe(77);
    // One that cannot be carried out to the end is only written down.
    rmSync(project.path('run/daemon.json'));
    mkdirSync(project.path('run/daemon.json'));
    writeFileSync(project.path('config.json'), '{"http": {"enabled": false}}');
    await until('the log says so', async () => {
      expect((await socket.call('status')).error).toBeUndefined();
      return readFileSync(project.path('run/daemon.log'), 'utf8').includes('could not be taken up');
    });
  });

  it('keeps its content when a setting is changed right after', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    for (let round = 1; round <= 20; round++) {
      const byHand = { maxFileBytes: 100 + round };
      writeFileSync(project.path('config.json'), JSON.stringify(byHand));
      const { result } = await socket.call('update_config', { maxCheckpointAge: round });
      expect(result).toMatchObject({ ...byHand, maxCheckpointAge: round });
    }
  });

  it.each([
    ['no JSON', '{"http": ', 'JSON'],
    ['no object', '[1, 2]', 'JSON object'],
    ['an unknown key', '{"exclud": ["x"]}', 'exclud'],
    ['a wrong value', '{"maxFileBytes": "many"}', 'maxFileBytes'],
    ['a prototype key', '{"__proto__": {"maxFileBytes": 1}}', ''],
  ])('that holds %s is reported and not fatal', async (_, content, named) => {
    const project = withFile(content);
    const { warnings } = await project.status();
    expect(warnings.join('\n')).toContain(named);
    expect(await project.json(['config', 'get'])).toEqual(Config.parse({}));
    expect((await project.cli(['status'])).stdout).toContain(named === '' ? '' : '! config.json');
  });

  it('counts where it is right although a part is wrong', async () => {
    const project = withFile('{"maxFileBytes": 5, "http": {"port": "x"}, "surprise": 1}');
    const { warnings } = await project.status();
    expect(warnings).toHaveLength(2);
    const told = await project.cli(['doctor']);
    expect(told.stdout).toMatch(/^FAIL configuration .*surprise.*move it away$/mu);
    const config = await project.json<Config>(['config', 'get']);
    expect(config.maxFileBytes).toBe(5);
    expect(config.http).toEqual({ enabled: true, port: 0 });
  });

  it.each([
    ['no JSON', '{"exclude": ["secret/"],}\n'],
    ['no object', '["secret/"]'],
    ['nothing', ''],
  ])('that holds %s is not overwritten by a change of a setting', async (_, content) => {
    const project = withFile(content);
    await project.startDaemon();
    const socket = await project.socket();
    await socket.call('subscribe');
    const before = (await socket.call('get_config')).result;
    const { error } = await socket.call('update_config', { maxCheckpointAge: 8 });
    expect(error?.data).toMatchObject({ code: 'STORE_CORRUPT', path: project.path('config.json') });
    expect(error?.data['hint']).toContain('config.json');
    expect(readFileSync(project.path('config.json'), 'utf8')).toBe(content);
    expect((await socket.call('get_config')).result).toEqual(before);
    const { code, stderr } = await project.cli(['config', 'set', 'maxCheckpointAge', '9']);
    expect([code, stderr]).toEqual([74, expect.stringContaining('config.json')]);
    expect(socket.received.map(({ event }) => event?.['type'])).not.toContain('config_changed');
    writeFileSync(project.path('config.json'), '{"maxFileBytes": 5}');
    const { result } = await socket.call('update_config', { maxCheckpointAge: 10 });
    expect(result).toMatchObject({ maxFileBytes: 5, maxCheckpointAge: 10 });
  });

  it('stops being reported once it is mended', async () => {
    const project = withFile('{');
    expect((await project.status()).warnings).not.toEqual([]);
    writeFileSync(project.path('config.json'), '{}');
    await until('the warning is gone', async () => (await project.status()).warnings.length === 0);
  });
});

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

/** Every setting with its dotted name. */
function leaves(schema: Schema, prefix = ''): [key: string, schema: Schema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    inner.properties === undefined
      ? [[`${prefix}${name}`, inner] as [string, Schema]]
      : leaves(inner, `${prefix}${name}.`),
  );
}

const SETTINGS = leaves(z.toJSONSchema(Config, { io: 'input' }) as Schema);

describe('no setting can name a command', () => {
  it('because each is a number or none, a switch, a choice, or a list of patterns or names', () => {
    const plain = ['integer', 'number', 'boolean', 'null'];
    const free = SETTINGS.filter(([, { enum: choices, anyOf, ...only }]) => {
      const types = (anyOf ?? [only]).map(({ type = '' }) => type);
      return choices === undefined && !types.every((type) => plain.includes(type));
    });
    expect(free.map(([key]) => key)).toEqual([
      'excludeFromChecking',
      'include',
      'exclude',
      'noise.rules',
      'noise.disabled',
      'redact.personal',
      'redact.patterns',
    ]);
  });

  it('and none sounds like one', () => {
    const suspicious =
      /command|cmd|exec|shell|program|script|hook|binary|editor|pager|loader|plugin/iu;
    expect(SETTINGS.map(([key]) => key).filter((key) => suspicious.test(key))).toEqual([]);
  });
});

describe('.agentsmithy.example', () => {
  const folder = join(REPOSITORY, '.agentsmithy.example');

  it('shows exactly the defaults', () => {
    const example = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as unknown;
    expect(example).toEqual(Config.parse({}));
  });

  it('explains every setting and none that does not exist', () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    const explained = [...readme.matchAll(/^\| `([\w.]+)` +\|/gmu)].map(([, key]) => key);
    expect(explained).toEqual(SETTINGS.map(([key]) => key));
  });
});
