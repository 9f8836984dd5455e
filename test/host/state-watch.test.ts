import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { statePaths } from '../../src/host/state-folder.js';
import { holdState, watchState } from '../../src/host/state-watch.js';
import { until } from '../support/until.js';

const roots: string[] = [];
const ends: (() => void)[] = [];

function setUp() {
  const root = mkdtempSync(join(tmpdir(), 'smithyd-state-'));
  roots.push(root);
  const paths = statePaths(root);
  mkdirSync(paths.run, { recursive: true });
  const address = join(paths.run, 'smithyd.sock');
  for (const file of [paths.lock, paths.daemon, paths.token, address]) writeFileSync(file, '');
  const isOurs = holdState(paths);
  const told: string[] = [];
  const begin = (): void => {
    const listener = {
      doorGone: (path: string) => void told.push(path),
      stateGone: () => void told.push('all of it'),
      configChanged: () => undefined,
    };
    ends.push(watchState({ paths, address, isOurs }, listener));
  };
  return { paths, told, begin };
}

describe('the watch over the state folder', () => {
  afterEach(() => {
    for (const end of ends.splice(0)) end();
    for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
  });

  it('tells of what was removed before it began', async () => {
    const { paths, told, begin } = setUp();
    rmSync(paths.state, { recursive: true });
    begin();
    await until('somebody is told', () => told.includes('all of it'));
  });

  it('tells of a file that was removed before it began', async () => {
    const { paths, told, begin } = setUp();
    rmSync(paths.daemon);
    begin();
    await until('somebody is told', () => told.includes(paths.daemon));
    expect(told).toEqual([paths.daemon]);
  });

  it('tells of what is removed later, and of nothing else', async () => {
    const { paths, told, begin } = setUp();
    begin();
    writeFileSync(join(paths.run, 'another'), '');
    rmSync(paths.token);
    await until('somebody is told', () => told.length > 0);
    expect(told).toEqual([paths.token]);
    rmSync(paths.state, { recursive: true });
    await until('somebody is told', () => told.includes('all of it'));
  });
});
