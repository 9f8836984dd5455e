import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../src/core/model.js';
import { path, project, type Project } from '../support/project.js';

describe('the origin of a change', () => {
  let here: Project;
  const file = (name: string): string => `${here.root}/${name}`;
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.invalid', ...args], {
      cwd: here.root,
      encoding: 'utf8',
    });

  beforeEach(() => {
    here = project();
  });
  afterEach(() => here.end());

  it("is git when the user's git rewrites the tree, in one batch", async () => {
    git('init', '-q', '-b', 'main');
    for (let index = 0; index < 200; index += 1) writeFileSync(file(`f${index}`), 'one');
    git('add', '.');
    git('commit', '-qm', 'one');
    git('checkout', '-qb', 'other');
    for (let index = 0; index < 200; index += 1) writeFileSync(file(`f${index}`), 'two');
    git('commit', '-qam', 'two');
    const watched = await here.watch();
    git('checkout', '-q', 'main');
    await watched.settle();
    expect(new Set(watched.changes().map(({ origin }) => origin))).toEqual(new Set(['git']));
    expect(watched.changes()).toHaveLength(200);
    writeFileSync(file('f0'), 'by hand');
    await watched.settle();
    expect(watched.changes().at(-1)).toMatchObject({ path: 'f0', origin: 'live' });
  });

  it('is git when a hook says so, for what was done before and until it is known', async () => {
    const watched = await here.watch();
    writeFileSync(file('a'), 'by git, in a repository nobody watches');
    writeFileSync(file('b'), 'the same');
    await watched.watcher.gitOperation();
    writeFileSync(file('c'), 'by hand');
    await watched.settle();
    expect(watched.changes().map(({ path: at, origin }) => [at, origin])).toEqual([
      ['a', 'git'],
      ['b', 'git'],
      ['c', 'live'],
    ]);
  });

  it('is an echo when the content is the announced one, however late it is seen', async () => {
    writeFileSync(file('a'), 'old');
    const watched = await here.watch();
    const id = git('hash-object', '--no-filters', 'a').trim() as Hash;
    writeFileSync(file('a'), 'new');
    await watched.settle();
    const over = watched.watcher.announce(path('a'), id);
    const gone = watched.watcher.announce(path('b'), undefined);
    writeFileSync(file('a'), 'by somebody else');
    await watched.settle();
    writeFileSync(file('a'), 'old');
    writeFileSync(file('b'), 'x');
    await watched.settle();
    rmSync(file('b'));
    await watched.settle();
    over();
    gone();
    writeFileSync(file('a'), 'not announced');
    await watched.settle();
    writeFileSync(file('a'), 'old');
    await watched.settle();
    expect(watched.changes().map(({ path: at, change, echo }) => [at, change, echo])).toEqual([
      ['a', 'modified', false],
      ['a', 'modified', false],
      ['a', 'modified', true],
      ['b', 'created', false],
      ['b', 'deleted', true],
      ['a', 'modified', false],
      ['a', 'modified', false],
    ]);
  });
});
