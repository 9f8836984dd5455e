import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { path, project, type Project, type Watched } from '../support/project.js';

describe('a project folder', () => {
  let here: Project;
  let watched: Watched;
  const lost = (): boolean => watched.notices.some(({ type }) => type === 'root_lost');

  beforeEach(async () => {
    here = project();
    mkdirSync(`${here.root}/src`);
    for (const name of ['a', 'src/b']) writeFileSync(`${here.root}/${name}`, name);
    watched = await here.watch();
  });
  afterEach(async () => {
    await here.end();
    rmSync(`${here.root}.moved`, { recursive: true, force: true });
  });

  it('that is moved away is lost, and nothing in it is called deleted', async () => {
    const known = watched.state();
    renameSync(here.root, `${here.root}.moved`);
    expect(await watched.watcher.settle()).toEqual({ fresh: false });
    expect(lost()).toBe(true);
    expect(watched.batches).toEqual([]);
    expect(watched.state()).toEqual(known);
    expect(watched.watcher.health()).toMatchObject({ state: 'degraded', reason: 'root_lost' });
  });

  it('that is removed is lost; only what went before it may be called deleted', async () => {
    // Like `rm -rf` again, when a thread of ours was just putting a file there.
    rmSync(here.root, { recursive: true, maxRetries: 5 });
    expect(await watched.watcher.settle()).toEqual({ fresh: false });
    expect(lost()).toBe(true);
    await watched.watcher.rescan();
    expect(watched.batches).toEqual([]);
  });

  it('that is replaced by another one is lost', async () => {
    renameSync(here.root, `${here.root}.moved`);
    mkdirSync(`${here.root}/src`, { recursive: true });
    expect(await watched.watcher.settle()).toEqual({ fresh: false });
    expect(lost()).toBe(true);
    expect(watched.batches).toEqual([]);
  });

  it('that comes back is taken up again, with what happened meanwhile', async () => {
    renameSync(here.root, `${here.root}.moved`);
    await watched.watcher.settle();
    writeFileSync(`${here.root}.moved/src/b`, 'edited while away');
    renameSync(`${here.root}.moved`, here.root);
    await watched.settle();
    expect(watched.changes().map(({ change, path: at }) => `${change} ${at}`)).toEqual([
      'modified src/b',
    ]);
    expect(watched.notices.map(({ type }) => type)).toContain('root_found');
    writeFileSync(`${here.root}/a`, 'later');
    await watched.settle();
    expect(watched.watcher.get(path('a'))?.size).toBe(5);
  });
});
