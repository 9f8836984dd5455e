import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Path } from '../../src/core/model.js';
import type { Step } from '../../src/core/restore-plan.js';
import type { Content } from '../../src/core/tree-writer.js';
import { until } from '../support/until.js';
import { createProject, entryOf, hashOf, stepsBetween, told } from './project.js';
import type { Project, Words } from './project.js';

const path = (text: string) => text as Path;

describe.each(['descriptor', 'check'] as const)('a tree written by %s', (hold) => {
  let project: Project;
  beforeEach(() => {
    project = createProject(hold);
  });
  afterEach(() => project.remove());

  const NAMES = [
    'with space',
    ' leading and trailing ',
    '-rf',
    '--',
    ':(glob)*',
    '"quoted" \'too\'',
    'back\\slash',
    'new\nline and\ttab',
    '.hidden',
    'trailing.',
    '\u00e9 composed',
    'e\u0301 composed',
    '\u{1f600}',
    '$(x) `y` %s *?[a]',
    '.smithyd-but-not-ours',
    'n'.repeat(255),
    '\u00e9'.repeat(127),
  ];

  it('13-16: keeps every odd name apart and exact', async () => {
    const first: Words = Object.fromEntries(NAMES.map((name, n) => [`${name}/${name}`, `a${n}`]));
    const second: Words = Object.fromEntries(NAMES.map((name, n) => [`${name}/${name}`, `b${n}`]));
    await project.restore({}, first);
    expect(project.tree()).toEqual(first);
    await project.restore(first, second);
    expect(project.tree()).toEqual(second);
    await project.restore(second, {});
    expect(project.tree()).toEqual({});
  });

  const SHAPES: Record<string, Words> = {
    nothing: {},
    file: { x: 'f', 'in/x': 'f', 'in/deep/x': 'f' },
    other: { x: '!g', 'in/x': 'g\r\n\0', 'in/deep/x': '' },
    folder: { 'x/a': '1', 'x/b/c': '2', 'in/x/a': '1', 'in/deep/x/y/z/a': '!3' },
    link: { x: '@in', 'in/x': '@../gone', 'in/deep/x': '@/etc/hosts' },
    empty: { x: null, 'in/x': null, 'in/deep/x/y': null },
  };
  const PAIRS = Object.keys(SHAPES).flatMap((a) => Object.keys(SHAPES).map((b) => [a, b]));

  it.each(PAIRS)('21-27: turns %s into %s and back', async (a = '', b = '') => {
    const [from, to] = [SHAPES[a] ?? {}, SHAPES[b] ?? {}];
    project.put(from);
    await project.restore(from, to);
    expect(project.tree()).toEqual(to);
    await project.restore(to, from);
    expect(project.tree()).toEqual(from);
  });

  it('62: finds nothing to do when it is done twice', async () => {
    const [from, to] = [SHAPES['folder'] ?? {}, SHAPES['link'] ?? {}];
    project.put(from);
    await project.restore(from, to);
    const again = await project.restore(from, to);
    expect(new Set(Object.values(again))).toEqual(new Set(['unchanged']));
    expect(project.tree()).toEqual(to);
  });

  it('56: leaves the time of every other file alone', async () => {
    project.put({ a: '1', b: '1', 'c/d': '1' });
    for (const name of ['a', 'b', 'c/d']) utimesSync(project.at(name), 1, 1);
    await project.restore({ a: '1', b: '1', 'c/d': '1' }, { a: '2', b: '1', 'c/d': '1' });
    const changed = ['a', 'b', 'c/d'].filter((name) => statSync(project.at(name)).mtimeMs !== 1000);
    expect(changed).toEqual(['a']);
  });

  it('leaves what somebody wrote meanwhile, and says so', async () => {
    project.put({ a: 'theirs', b: '1', c: '!1', d: 'theirs', 'e/f': '1' });
    const from = { a: '1', b: '1', c: '1', d: '1', 'e/f': '1' };
    const answer = await project.restore(from, { a: '2', b: '2', c: '2', 'e/f': '!1' });
    expect(answer).toEqual({
      a: 'changed_meanwhile',
      b: 'restored',
      c: 'changed_meanwhile',
      d: 'changed_meanwhile',
      'e/f': 'restored',
    });
    expect(project.tree()).toEqual({ a: 'theirs', b: '2', c: '!1', d: 'theirs', 'e/f': '!1' });
  });

  it.each([
    ['writes it', (place: string) => writeFileSync(place, 'theirs'), 'theirs'],
    ['replaces it', (place: string) => replaceBy(place, 'theirs'), 'theirs'],
    ['makes it executable', (place: string) => chmodSync(place, 0o755), '!old'],
  ])('leaves a file when somebody %s while its content comes in', async (_, meddle, left) => {
    project.put({ a: 'old' });
    const content = async function* () {
      yield Buffer.from('ne');
      await Promise.resolve();
      meddle(project.at('a'));
      yield Buffer.from('w');
    };
    const steps = stepsBetween({ a: 'old' }, { a: 'new' });
    const answer = await project.writer.apply(steps, () => Promise.resolve(content()));
    expect(told(answer)).toEqual({ a: 'changed_meanwhile' });
    expect(project.tree()).toEqual({ a: left });
  });

  it('never replaces a file that came while the content did', async () => {
    const content = async function* () {
      await Promise.resolve();
      writeFileSync(project.at('a'), 'theirs');
      yield Buffer.from('new');
    };
    const answer = await project.writer.apply(stepsBetween({}, { a: 'new' }), () =>
      Promise.resolve(content()),
    );
    expect(told(answer)).toEqual({ a: 'in_the_way' });
    expect(project.tree()).toEqual({ a: 'theirs' });
  });

  it('notices that the folder it works in was swapped for a link', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'smithyd-outside-'));
    project.put({ 'd/a': 'old' });
    const content = async function* () {
      await Promise.resolve();
      renameSync(project.at('d'), project.at('away'));
      symlinkSync(outside, project.at('d'));
      yield Buffer.from('new');
    };
    const answer = await project.writer.apply(
      stepsBetween({ 'd/a': 'old' }, { 'd/a': 'new' }),
      () => Promise.resolve(content()),
    );
    expect(told(answer)['d/a']).not.toBe('restored');
    expect(readdirSync(outside)).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  it('58: never touches what it was not told of', async () => {
    project.put({
      new: 'ignored',
      'sub/new': 'ignored',
      link: '@sub',
      'old/x': '1',
      'old/y': 'own',
    });
    const to = { new: '2', 'sub/new/deep': '2', 'link/z': '2', sub: '2' };
    const answer = await project.restore({ 'old/x': '1' }, to);
    expect(answer).toEqual({
      new: 'in_the_way',
      'sub/new/deep': 'in_the_way',
      'link/z': 'in_the_way',
      sub: 'in_the_way',
      'old/x': 'deleted',
      old: 'unchanged',
    });
    expect(project.tree()).toEqual({
      new: 'ignored',
      'sub/new': 'ignored',
      link: '@sub',
      'old/y': 'own',
    });
  });

  it.each([
    ['one level', 'a/f'],
    ['two levels', 'a/b/f'],
    ['three levels', 'a/b/c/f'],
  ])('23: does not go through a link %s up', async (_, file) => {
    const outside = mkdtempSync(join(tmpdir(), 'smithyd-outside-'));
    mkdirSync(join(outside, 'b/c'), { recursive: true });
    for (const place of ['f', 'b/f', 'b/c/f']) writeFileSync(join(outside, place), 'old');
    const before = readTree(outside);
    symlinkSync(outside, project.at('a'));
    const changes: [Words, Words, string][] = [
      [{ [file]: 'old' }, { [file]: 'new' }, 'changed_meanwhile'],
      [{}, { [file]: 'new' }, 'in_the_way'],
      [{ [file]: 'old' }, {}, 'unchanged'],
      [{ [file]: 'old' }, { [file]: '!old' }, 'changed_meanwhile'],
      [{}, { [dirname(file)]: null, [`${file}/x`]: null }, 'in_the_way'],
    ];
    for (const [from, to, expected] of changes) {
      expect(Object.values(await project.restore(from, to))).toContain(expected);
    }
    expect(readTree(outside)).toEqual(before);
    expect(await project.writer.readFile(path(file))).toBeNull();
    rmSync(outside, { recursive: true });
  });

  it.each([
    '.git/config',
    'sub/.git/hooks/x',
    '.GIT/x',
    'a/../b',
    '/etc/x',
    'a//b',
    '.agentsmithy/x',
    'a\0b',
    '\ud800',
  ])('89: refuses %j whoever planned it', async (name) => {
    project.put({ keep: '1' });
    const steps: Step[] = [
      { kind: 'write', path: path(name), ...entryOf('x'), expect: null },
      { kind: 'delete', path: path(`${name}2/.git`), expect: entryOf('x') },
      { kind: 'make_folder', path: path(`.git/${name}`) },
      { kind: 'remove_folder', path: path('.git') },
    ];
    mkdirSync(project.at('.git'));
    project.remember({ x: 'x' });
    const answer = await project.writer.apply(steps, project.content);
    expect(new Set(Object.values(told(answer)))).toEqual(new Set(['protected']));
    expect(project.tree()).toEqual({ keep: '1', '.git': null });
    await expect(project.writer.readFile(path(name))).rejects.toThrow('off limits');
  });

  it('25: leaves a FIFO and a socket alone and never waits for them', async () => {
    expect(spawnSync('mkfifo', [project.at('fifo')]).status).toBe(0);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(project.at('socket'), resolve));
    for (const name of ['fifo', 'socket']) {
      const answer = await project.restore({ [name]: 'old' }, { [name]: 'new' });
      const more = await project.restore({}, { [name]: 'new', [`${name}/x`]: 'new' });
      const gone = await project.restore({ [name]: 'old' }, {});
      expect([answer, more, gone]).toEqual([
        { [name]: 'changed_meanwhile' },
        { [name]: 'in_the_way', [`${name}/x`]: 'in_the_way' },
        { [name]: 'changed_meanwhile' },
      ]);
      expect(await project.writer.readFile(path(name))).toBeNull();
    }
    expect(lstatSync(project.at('fifo')).isFIFO()).toBe(true);
    expect(lstatSync(project.at('socket')).isSocket()).toBe(true);
    await new Promise((resolve) => server.close(resolve));
  });

  it('replaces one name of a hard-linked file, not the other', async () => {
    project.put({ a: 'old' });
    linkSync(project.at('a'), project.at('twin'));
    await project.restore({ a: 'old' }, { a: 'new' });
    expect(project.tree()).toEqual({ a: 'new', twin: 'old' });
  });

  it('keeps the permissions of a replaced file apart from the executable bit', async () => {
    project.put({ a: '1', b: '1', c: '!1', d: '1' });
    chmodSync(project.at('a'), 0o600);
    chmodSync(project.at('b'), 0o640);
    chmodSync(project.at('c'), 0o4750);
    chmodSync(project.at('d'), 0o600);
    const to = { a: '2', b: '!2', c: '!2', d: '!1' };
    await project.restore({ a: '1', b: '1', c: '!1', d: '1' }, to);
    const modes = ['a', 'b', 'c', 'd'].map((name) => statSync(project.at(name)).mode & 0o7777);
    expect(modes).toEqual([0o600, 0o750, 0o750, 0o700]);
  });

  it('restores a link whose target is no text', async () => {
    const target = Buffer.from([0x66, 0xff, 0xfe, 0x6f]);
    project.store.set(hashOf(target), target);
    const step: Step = {
      kind: 'write',
      path: path('l'),
      mode: '120000',
      hash: hashOf(target),
      expect: null,
    };
    expect(told(await project.writer.apply([step], project.content))).toEqual({ l: 'restored' });
    const read = await project.writer.readFile(path('l'));
    expect(Buffer.from(read?.content ?? [])).toEqual(target);
  });

  it('goes on with the rest when the store cannot give one content, or gives another', async () => {
    const steps = stepsBetween(
      { a: '1', b: '1', c: '1' },
      { a: '2', b: '2', c: '2', d: '@2', e: '3' },
    );
    project.put({ a: '1', b: '1', c: '1' });
    const sources: Content[] = [
      Buffer.from('2'),
      Buffer.from('no'),
      Buffer.from('2'),
      Buffer.from('x'),
    ];
    const answer = await project.writer.apply(steps, () => {
      const next = sources.shift();
      return next === undefined ? Promise.reject(new Error('gone')) : Promise.resolve(next);
    });
    expect(told(answer)).toEqual({
      a: 'restored',
      b: expect.stringContaining('STORE_CORRUPT: '),
      c: 'restored',
      d: expect.stringContaining('STORE_CORRUPT: '),
      e: 'ERROR: gone',
    });
    expect(project.tree()).toEqual({ a: '2', b: '1', c: '2' });
  });

  it('writes content that comes in pieces, and large content', async () => {
    const large = Buffer.alloc(5 * 1024 * 1024 + 7, 'abcdefg');
    const steps: Step[] = [
      { kind: 'write', path: path('large'), mode: '100644', hash: hashOf(large), expect: null },
    ];
    const pieces = async function* () {
      for (let at = 0; at < large.length; at += 1_500_000) {
        await Promise.resolve();
        yield large.subarray(at, at + 1_500_000);
      }
    };
    const first = await project.writer.apply(steps, () => Promise.resolve(pieces()));
    rmSync(project.at('large'));
    const second = await project.writer.apply(steps, () => Promise.resolve(large));
    expect([told(first), told(second)]).toEqual([{ large: 'restored' }, { large: 'restored' }]);
    expect(readFileSync(project.at('large')).equals(large)).toBe(true);
    const read = await project.writer.readFile(path('large'));
    expect(read).toMatchObject({ mode: '100644', hash: hashOf(large) });
    expect(large.equals(read?.content ?? Buffer.alloc(0))).toBe(true);
  });

  it('reads many files through one walk: links as targets, large ones in pieces, no others', async () => {
    const large = randomBytes(2_500_000);
    project.put({ 'a/b/one': 'first', 'a/b/two': 'second', 'a/link': '@b/one' });
    writeFileSync(project.at('a/large'), large);
    const paths = ['a/b/one', 'a/b/two', 'a/link', 'a/large', 'a/b', 'a/none', 'x/y'];
    const read = await project.writer.reading(async (readContent) => {
      const found: (string | null)[] = [];
      for (const name of paths) {
        const content = await readContent(path(name));
        if (content === null || !('chunks' in content)) {
          found.push(content === null ? null : Buffer.from(content).toString());
          continue;
        }
        const pieces: Uint8Array[] = [];
        for await (const piece of content.chunks) pieces.push(piece);
        found.push(Buffer.concat(pieces).equals(large) ? `${content.size} bytes` : 'wrong');
      }
      return found;
    });
    expect(read).toEqual(['first', 'second', 'b/one', '2500000 bytes', null, null, null]);
    await expect(
      project.writer.reading((readContent) => readContent(path('.git/config'))),
    ).rejects.toThrow('off limits');
  });

  it('keeps no file open that it replaced or deleted', async () => {
    const names = Array.from({ length: 40 }, (_, number) => `d/${number}`);
    const words = (word: string) => Object.fromEntries(names.map((name) => [name, word]));
    project.put(words('old'));
    await project.restore(words('old'), { 'd/0': 'new', 'd/1': 'new' });
    expect(project.tree()).toEqual({ 'd/0': 'new', 'd/1': 'new' });
    const openHere = () =>
      process.platform === 'linux'
        ? readdirSync('/proc/self/fd').filter((fd) => {
            try {
              return readlinkSync(`/proc/self/fd/${fd}`).startsWith(project.root);
            } catch {
              return false;
            }
          })
        : [];
    await until('every one is let go', () => openHere().length === 0);
  });

  it('stops between two files when it is told to, and counts what is done', async () => {
    const controller = new AbortController();
    const seen: number[] = [];
    const answer = await project.restore(
      {},
      { a: '1', b: '1', c: '1' },
      {
        signal: controller.signal,
        onProgress: (done) => {
          seen.push(done);
          if (done === 2) controller.abort();
        },
      },
    );
    expect(answer).toEqual({ a: 'restored', b: 'restored', c: 'cancelled' });
    expect(seen).toEqual([1, 2, 3]);
    expect(project.tree()).toEqual({ a: '1', b: '1' });
  });

  it('leaves no part behind when it is told to stop in the middle of a file', async () => {
    const controller = new AbortController();
    const content = async function* () {
      yield Buffer.from('ne');
      await Promise.resolve();
      controller.abort();
      yield Buffer.from('w');
    };
    const { signal } = controller;
    const steps = stepsBetween({}, { a: 'new', b: 'new' });
    const answer = await project.writer.apply(steps, () => Promise.resolve(content()), { signal });
    expect(told(answer)).toEqual({ a: 'cancelled', b: 'cancelled' });
    expect(project.tree()).toEqual({});
  });

  it('touches nothing when the whole does not fit on the disk', async () => {
    project.put({ a: '1', b: '1' });
    const restore = project.restore({ a: '1', b: '1' }, { a: '2' }, { bytes: 2 ** 60 });
    await expect(restore).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    expect(project.tree()).toEqual({ a: '1', b: '1' });
  });

  it('refuses when another folder took the place of the root', async () => {
    const away = `${project.root}-away`;
    renameSync(project.root, away);
    mkdirSync(project.root);
    await expect(project.restore({}, { a: '1' })).rejects.toMatchObject({
      code: 'RESTORE_BLOCKED',
    });
    expect(project.tree()).toEqual({});
    rmSync(away, { recursive: true });
  });

  it('sweeps what a killed restore left, and nothing else', async () => {
    const own = { '.smithyd-notes': '1', 'sub/.smithyd-0123456789ab.txt': '1', 'sub/x': '1' };
    const left = { '.smithyd-0123456789ab': '1', 'sub/.smithyd-fedcba987654': '@gone' };
    const unlisted = { 'else/.smithyd-0123456789ab': '1' };
    project.put({ ...own, ...left, ...unlisted, 'dir/.smithyd-0123456789ab': null });
    const removed = await project.writer.sweep(
      ['a', 'sub/x', 'sub/y', 'dir/x', 'gone/x'].map(path),
    );
    expect(removed.sort()).toEqual(Object.keys(left).sort());
    expect(Object.keys(project.tree()).sort()).toEqual(
      [...Object.keys(own), ...Object.keys(unlisted), 'dir/.smithyd-0123456789ab'].sort(),
    );
  });

  it('goes 500 folders deep', async () => {
    const deep = { [`${'d/'.repeat(500)}x`]: '1' };
    await project.restore({}, deep);
    expect(await project.writer.readFile(path(Object.keys(deep)[0] ?? ''))).toMatchObject(
      entryOf('1'),
    );
    await project.restore(deep, {});
    expect(project.tree()).toEqual({});
  });

  it('reads a file, a link and nothing', async () => {
    project.put({ a: '!text', l: '@a', 'd/x': '1' });
    const read = async (name: string) => {
      const found = await project.writer.readFile(path(name));
      return found === null ? null : [found.mode, Buffer.from(found.content).toString()];
    };
    expect(await Promise.all(['a', 'l', 'd', 'none', 'a/x', 'l/x'].map(read))).toEqual([
      ['100755', 'text'],
      ['120000', 'a'],
      null,
      null,
      null,
      null,
    ]);
  });
});

function replaceBy(place: string, text: string): void {
  writeFileSync(`${place}.new`, text);
  renameSync(`${place}.new`, place);
}

function readTree(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .map((place) => [place, `${statSync(place).mode} ${readFileSync(place, 'utf8')}`]),
  );
}
