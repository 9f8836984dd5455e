import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  changedOutside,
  readIgnoreFile,
  readRuleSources,
} from '../../src/watch/rules/rule-sources.js';

const GIT = '/usr/bin/git';
let base = '';

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-sources-')));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(path: string, text: string): string {
  const full = join(base, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

const environment = () => ({ HOME: join(base, 'home'), GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' });
const git = (...args: string[]) =>
  execFileSync(GIT, args, { env: { ...environment(), PATH: '/usr/bin:/bin' }, stdio: 'pipe' });
const read = (root: string, extra: object = {}) =>
  readRuleSources({
    root: join(base, root),
    home: join(base, 'home'),
    git: { path: GIT, env: environment() },
    ...extra,
  });

describe('the sources of the rules', () => {
  beforeEach(() => mkdirSync(join(base, 'home')));

  it('are only the root and the global excludes outside a repository', async () => {
    write('p/.gitignore', 'a\n');
    write('home/.config/git/ignore', 'g\n');
    const sources = await read('p');
    expect(sources).toMatchObject({ prefix: '', above: [], rootIgnore: 'a\n', ignoreCase: false });
    expect(sources.globalExcludes?.text).toBe('g\n');
    expect(sources.repository).toBeUndefined();
    expect(sources.warnings).toEqual([]);
  });

  it('include the exclude file and the ignore files above a sub-folder', async () => {
    git('init', '-q', join(base, 'r'));
    write('r/.gitignore', 'top\n');
    write('r/packages/.gitignore', 'middle\n');
    write('r/packages/app/.gitignore', 'own\n');
    write('r/.git/info/exclude', 'private\n');
    const sources = await read('r/packages/app');
    expect(sources.prefix).toBe('packages/app');
    expect(sources.above).toEqual([
      { base: '', text: 'top\n' },
      { base: 'packages', text: 'middle\n' },
    ]);
    expect(sources.infoExclude).toEqual({ source: '.git/info/exclude', text: 'private\n' });
    expect(sources.rootIgnore).toBe('own\n');
  });

  it('are shared by the work trees of a repository', async () => {
    git('init', '-q', join(base, 'r'));
    git(
      '-C',
      join(base, 'r'),
      ...'-c user.name=a -c user.email=a@b commit -q --allow-empty -m x'.split(' '),
    );
    git('-C', join(base, 'r'), 'worktree', 'add', '-q', join(base, 'w'));
    write('r/.git/info/exclude', 'shared\n');
    const sources = await read('w');
    expect(sources.infoExclude?.text).toBe('shared\n');
    expect(sources.repository?.top).toBe(join(base, 'w'));
  });

  it('follow core.excludesFile and core.ignoreCase, includes and all', async () => {
    write('home/.gitconfig', '[include]\n\tpath = more\n[core]\n\tignoreCase\n');
    write('home/more', '[core]\n\texcludesFile = ~/mine\n');
    write('home/mine', 'm\n');
    mkdirSync(join(base, 'p'));
    const sources = await read('p');
    expect(sources.globalExcludes).toEqual({ source: join(base, 'home/mine'), text: 'm\n' });
    expect(sources.ignoreCase).toBe(true);
  });

  it('look for the global excludes where XDG_CONFIG_HOME says', async () => {
    write('xdg/git/ignore', 'x\n');
    mkdirSync(join(base, 'p'));
    const sources = await read('p', { xdgConfigHome: join(base, 'xdg') });
    expect(sources.globalExcludes?.text).toBe('x\n');
  });

  it('fall back to the defaults and say so when git cannot be asked', async () => {
    mkdirSync(join(base, 'p'));
    const sources = await read('p', { git: { path: join(base, 'no-git'), env: {} } });
    expect(sources.ignoreCase).toBe(false);
    expect(sources.warnings).toMatchObject([{ code: 'GIT_CONFIG_UNREADABLE' }]);
  });

  it('stay what git last said while it cannot be asked', async () => {
    write('home/.gitconfig', '[core]\n\texcludesFile = ~/mine\n');
    write('home/mine', 'm\n');
    mkdirSync(join(base, 'p'));
    const path = join(base, 'git');
    const program = { path, env: { PATH: process.env['PATH'] ?? '', HOME: join(base, 'home') } };
    writeFileSync(path, '#!/bin/sh\nexec git "$@"\n', { mode: 0o755 });
    expect((await read('p', { git: program })).globalExcludes?.text).toBe('m\n');
    rmSync(path);
    const { globalExcludes, warnings } = await read('p', { git: program });
    expect(globalExcludes?.text).toBe('m\n');
    expect(warnings).toMatchObject([{ code: 'GIT_CONFIG_UNREADABLE' }]);
  });

  it('leave out a .gitignore that is a symlink, a folder or too large', () => {
    const real = write('real', 'a\n');
    symlinkSync(real, join(base, '.gitignore'));
    expect(readIgnoreFile(join(base, '.gitignore'))).toBeUndefined();
    mkdirSync(join(base, 'd/.gitignore'), { recursive: true });
    expect(readIgnoreFile(join(base, 'd/.gitignore'))).toBeUndefined();
    const codes: string[] = [];
    const large = write('large', '#'.repeat(2_000_000));
    expect(readIgnoreFile(large, ({ code }) => codes.push(code))).toBeUndefined();
    expect(codes).toEqual(['IGNORE_FILE_TOO_LARGE']);
  });

  it('tell when a file outside the walked tree changes, appears or goes', async () => {
    git('init', '-q', join(base, 'r'));
    mkdirSync(join(base, 'r/sub'));
    const { outside } = await read('r/sub');
    expect(changedOutside(outside)).toEqual([]);
    const above = write('r/.gitignore', 'a\n');
    const info = write('r/.git/info/exclude', 'changed\n');
    const global = write('home/.config/git/ignore', 'g\n');
    expect(changedOutside(outside).sort()).toEqual([above, info, global].sort());
  });
});
