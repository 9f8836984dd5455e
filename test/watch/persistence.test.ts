import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Watcher } from '../../src/core/watching.js';
import { KnownDecoder, KnownEncoder } from '../../src/watch/known/known-format.js';
import { KnownTree, Leaf } from '../../src/watch/known/tree.js';
import { CONFIG, path, project, type Project } from '../support/project.js';

describe('what was known before a restart', () => {
  let here: Project;
  const file = (name: string): string => `${here.root}/${name}`;
  const saved = (): string => `${here.stateDir}/known.bin`;

  /** Runs a watcher once, when no stamp is so young that it would be doubted. */
  async function runOnce(use: (watcher: Watcher) => void = () => undefined): Promise<void> {
    const { watcher } = await here.watch();
    while (Date.now() <= statSync(here.root).ctimeMs + 100) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await watcher.rescan();
    use(watcher);
    await watcher.stop();
  }

  beforeEach(() => {
    here = project();
    mkdirSync(file('src/deep'), { recursive: true });
    for (const name of ['a', 'src/b', 'src/deep/c']) writeFileSync(file(name), name);
  });
  afterEach(() => here.end());

  it('is known again, with nothing to report', async () => {
    await runOnce();
    const watched = await here.watch();
    await watched.settle();
    expect([...watched.state().keys()].sort()).toEqual(['a', 'src/b', 'src/deep/c']);
    expect(watched.batches).toEqual([]);
  });

  it('is believed without reading a file whose stamp did not move', async () => {
    await runOnce();
    const tree = new KnownTree();
    const decoder = new KnownDecoder(readFileSync(saved()));
    expect([...decoder.readInto(tree)].length).toBe(3);
    const leaf = tree.leaf('src/b');
    if (leaf === undefined) throw new Error('src/b was not saved');
    leaf.hash = 'f'.repeat(40);
    const encoder = new KnownEncoder(decoder.binding);
    for (const folder of tree.folders.values()) writeAll(encoder.add(folder));
    writeFileSync(saved(), encoder.finish());
    const watched = await here.watch();
    expect(watched.watcher.get(path('src/b'))?.hash).toBe('f'.repeat(40));
  });

  it('is compared with the disk: edits made meanwhile are offline changes', async () => {
    await runOnce();
    writeFileSync(file('a'), 'edited');
    rmSync(file('src/b'));
    writeFileSync(file('src/deep/new'), 'new');
    renameSync(file('src/deep/c'), file('src/deep/d'));
    const watched = await here.watch();
    await watched.settle();
    expect(
      watched.changes().map((change) => `${change.origin} ${change.change} ${change.path}`),
    ).toEqual([
      'offline modified a',
      'offline deleted src/b',
      'offline deleted src/deep/c',
      'offline created src/deep/d',
      'offline created src/deep/new',
    ]);
  });

  it('gives way to an ignore file written meanwhile', async () => {
    await runOnce();
    writeFileSync(file('src/.gitignore'), 'deep/\n');
    const watched = await here.watch();
    await watched.settle();
    expect([...watched.state().keys()].sort()).toEqual(['a', 'src/.gitignore', 'src/b']);
    expect(watched.batches.flatMap(({ untracked }) => untracked)).toEqual(['src/deep/c']);
  });

  it('gives way to an ignore file of the root edited meanwhile', async () => {
    writeFileSync(file('.gitignore'), '');
    await runOnce();
    writeFileSync(file('.gitignore'), 'src/\n');
    const watched = await here.watch();
    await watched.settle();
    expect([...watched.state().keys()].sort()).toEqual(['.gitignore', 'a']);
    expect(watched.changes().map((change) => `${change.change} ${change.path}`)).toEqual([
      'modified .gitignore',
    ]);
  });

  it('includes that a file was too large: one that shrank meanwhile is found', async () => {
    writeFileSync(file('src/big'), 'x'.repeat(1_000_001));
    await runOnce();
    writeFileSync(file('src/big'), 'small');
    const watched = await here.watch();
    expect(watched.watcher.get(path('src/big'))?.size).toBe(5);
  });

  it('includes that a file was too large: it is listed as such again', async () => {
    writeFileSync(file('src/big'), 'x'.repeat(1_000_001));
    await runOnce();
    const watched = await here.watch();
    expect(watched.watcher.skipped()).toEqual([{ path: 'src/big', reason: 'too_large' }]);
  });

  it('includes names that are no UTF-8: they are listed again', async () => {
    writeFileSync(Buffer.concat([Buffer.from(file('src/bad-')), Buffer.from([0xff])]), 'x');
    await runOnce();
    const watched = await here.watch();
    expect(watched.watcher.skipped()).toEqual([{ path: 'src/bad-\\xff', reason: 'not_utf8' }]);
  });

  it('includes projects of their own: one that is none any more is tracked', async () => {
    mkdirSync(file('src/inner/.agentsmithy'), { recursive: true });
    writeFileSync(file('src/inner/file'), '1');
    await runOnce();
    const again = await here.watch();
    expect(again.watcher.health().nestedRoots).toEqual(['src/inner']);
    await again.watcher.stop();
    rmSync(file('src/inner/.agentsmithy'), { recursive: true });
    const watched = await here.watch();
    expect(watched.watcher.get(path('src/inner/file'))?.size).toBe(1);
  });

  it('is worth nothing when damaged anywhere: everything is read again', async () => {
    await runOnce();
    const good = readFileSync(saved());
    for (const at of [0, 9, Math.floor(good.length / 2), good.length - 1]) {
      const bad = Buffer.from(good);
      bad.writeUInt8(bad.readUInt8(at) ^ 0xff, at);
      writeFileSync(saved(), bad);
      const lines: string[] = [];
      const { watcher } = await here.watch({ log: { write: (level) => lines.push(level) } });
      expect([...watcher.entries()]).toHaveLength(3);
      expect(lines).toContain('warn');
      await watcher.stop();
    }
    writeFileSync(saved(), good.subarray(0, 50));
    const { watcher } = await here.watch();
    expect([...watcher.entries()]).toHaveLength(3);
  });

  it('belongs to its folder alone', async () => {
    await runOnce();
    const other = project();
    try {
      writeFileSync(`${other.stateDir}/known.bin`, readFileSync(saved()));
      const watched = await other.watch();
      expect(watched.state().size).toBe(0);
      expect(watched.batches).toEqual([]);
    } finally {
      await other.end();
    }
  });

  it('is read for its owner only', async () => {
    await runOnce();
    expect(statSync(saved()).mode & 0o777).toBe(0o600);
  });

  it('follows a changed size limit', async () => {
    writeFileSync(file('big'), 'x'.repeat(5_000));
    await runOnce();
    const watched = await here.watch({ config: { ...CONFIG, maxFileBytes: 1_000 } });
    expect(watched.watcher.get(path('big'))).toBeUndefined();
    expect(watched.watcher.skipped()).toEqual([{ path: 'big', reason: 'too_large' }]);
    await watched.watcher.reconfigure(CONFIG);
    expect(watched.watcher.get(path('big'))?.size).toBe(5_000);
  });
});

describe('the format', () => {
  it('keeps every file of a folder too large to write at once', () => {
    const tree = new KnownTree();
    for (let index = 0; index < 3_000; index += 1) {
      const leaf = new Leaf();
      leaf.hash = index.toString(16).padStart(40, '0').replace(/^0/u, 'f');
      tree.root.children.set(`file-${index}`, leaf);
    }
    const encoder = new KnownEncoder({});
    expect([...encoder.add(tree.root)].length).toBeGreaterThan(2);
    const read = new KnownTree();
    expect([...new KnownDecoder(encoder.finish()).readInto(read)].length).toBeGreaterThan(2);
    expect(read.files).toBe(3_000);
    expect([...read.entries()]).toEqual([...tree.entries()]);
  });

  it('keeps names, stamps and hashes of a tree', () => {
    const tree = new KnownTree();
    const folder = tree.addFolder(tree.root, 'ordner-ä');
    folder.ino = 2 ** 40;
    const leaf = new Leaf();
    Object.assign(leaf, { mtimeMs: -5.5, ctimeMs: 1e12 + 0.25, size: 2 ** 40, ino: 2 ** 33 });
    Object.assign(leaf, { mode: 0o100755, hash: 'ab'.repeat(20), racy: false, nlink: 3 });
    folder.children.set('l\u0301\n"', leaf);
    const encoder = new KnownEncoder({ any: 'thing' });
    for (const each of tree.folders.values()) writeAll(encoder.add(each));
    const read = new KnownTree();
    const decoder = new KnownDecoder(encoder.finish());
    expect([...decoder.readInto(read)].length).toBe(2);
    expect(decoder.binding).toEqual({ any: 'thing' });
    expect(read.leaf('ordner-ä/l\u0301\n"')).toEqual(Object.assign(leaf, { nlink: 2 }));
    expect(read.linked.size).toBe(1);
    expect(read.files).toBe(1);
  });
});

/** To the end, without the pauses. */
function writeAll(steps: Iterator<void>): void {
  while (steps.next().done !== true);
}
