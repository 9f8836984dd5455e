import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { flush } from '../../src/git/files.js';
import { DIALOG, file, git, hashOf, onTop, openStore } from './helpers.js';

/** The git children of this process, by their command. */
function children(command: string): number[] {
  const lines = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], {
    encoding: 'utf8',
  });
  return lines
    .split('\n')
    .filter((line) => line.includes(command))
    .map((line) => Number.parseInt(line, 10));
}

const killAll = (command: string): number => {
  const found = children(command);
  for (const pid of found) process.kill(pid, 'SIGKILL');
  return found.length;
};

describe('a store whose children are killed', () => {
  it('goes on with new ones, again and again', async () => {
    const { store } = await openStore();
    let tip = await store.commit(onTop(null, [file('a', '0')]));
    for (let round = 1; round <= 5; round++) {
      const reading = store.readCommit(tip);
      expect(killAll('cat-file')).toBeGreaterThan(0);
      expect((await reading).id).toBe(tip);
      tip = await store.commit(onTop(tip, [file('a', `${round}`), file(`f${round}`, 'x')]));
    }
    expect((await store.tree(tip)).size).toBe(6);
  });

  it('repeats a commit whose child dies in the middle', async () => {
    const { store } = await openStore();
    const first = await store.commit(onTop(null, [file('a', '0')]));
    let kills = 0;
    const large = Buffer.alloc(3 * 1024 * 1024, 'content ');
    function* chunks(): Generator<Buffer> {
      yield large.subarray(0, 1024 * 1024);
      if (kills === 0) kills += killAll('fast-import');
      yield large.subarray(1024 * 1024);
    }
    const trap = {
      ...file('b', large),
      content: () => ({ size: large.length, chunks: Readable.from(chunks()) }),
    };
    const second = await store.commit(onTop(first, [file('c', '1'), trap]));
    expect(kills).toBeGreaterThan(0);
    expect([...(await store.tree(second)).keys()]).toEqual(['a', 'b', 'c']);
  });

  it('leaves no child behind when it is closed', async () => {
    const { store } = await openStore();
    const tip = await store.commit(onTop(null, [file('a', '0')]));
    await store.readCommit(tip);
    await store.close();
    // It is told to go, and takes its moment; the test's own limit is the longest.
    while (children('cat-file').length > 0) await new Promise(setImmediate);
    expect((await store.readCommit(tip)).id).toBe(tip);
  });
});

describe('a store after a power cut', () => {
  const cuts: readonly (readonly [string, string, (whole: Buffer) => Buffer])[] = [
    ['an index of no bytes', '.idx', () => Buffer.alloc(0)],
    ['half an index', '.idx', (whole) => whole.subarray(0, whole.length / 2)],
    ['a pack of no bytes', '.pack', () => Buffer.alloc(0)],
    ['half a pack', '.pack', (whole) => whole.subarray(0, whole.length / 2)],
    ['a pack of zeros', '.pack', (whole) => Buffer.alloc(whole.length)],
  ];

  it.each(cuts)('sets %s aside and takes the same content again', async (_, end, cut) => {
    const { store, state, checkpoints } = await openStore();
    const tip = await store.commit(onTop(null, [file('a', '0')]));
    const packs = join(state, 'store/objects/pack');
    const before = new Set(readdirSync(packs));
    // Never acknowledged: the content is in a pack, but nothing refers to it.
    const content = Buffer.from('content '.repeat(100));
    await store.writeBlobs([{ hash: hashOf(content), content: () => content }]);
    await store.close();
    const fresh = readdirSync(packs).find((name) => !before.has(name) && name.endsWith(end)) ?? '';
    expect(fresh).not.toBe('');
    writeFileSync(join(packs, fresh), cut(readFileSync(join(packs, fresh))));
    const { removed } = await store.open();
    expect(removed).toContain(join(packs, fresh));
    const next = await store.commit(onTop(tip, [file('b', content)]));
    expect([...(await store.tree(next)).keys()]).toEqual(['a', 'b']);
    expect(git(checkpoints, 'fsck', '--strict', '--full')).not.toContain('error');
    expect((await store.open()).removed).toEqual([]);
  });
});

describe('a store after a kill', () => {
  it('removes locks and unfinished files, and says so', async () => {
    const { store, state, checkpoints } = await openStore();
    const tip = await store.commit(onTop(null, [file('a', '0')]));
    const packs = join(state, 'store/objects/pack');
    const [pack = ''] = readdirSync(packs).filter((name) => name.endsWith('.pack'));
    await store.close();
    const planted = [
      join(packs, 'tmp_pack_abc'),
      join(packs, 'tmp_idx_abc'),
      join(packs, '.tmp-77-pack-x.pack'),
      join(packs, pack.replace('.pack', '.keep')),
      join(checkpoints, '.git/refs/heads/session_1.lock'),
      join(checkpoints, '.git/HEAD.lock'),
      join(checkpoints, '.git/packed-refs.lock'),
      join(state, 'store/engine/fast_import_crash_77'),
    ];
    for (const path of planted) writeFileSync(path, '');
    writeFileSync(join(checkpoints, '.git/refs/heads/torn'), '');
    const { removed } = await store.open();
    expect(removed).toEqual(expect.arrayContaining(planted));
    expect(planted.filter((path) => existsSync(path))).toEqual([]);
    expect([...(await store.branches(DIALOG)).keys()]).toEqual(['session_1']);
    await store.commit(onTop(tip, [file('b', '1')]));
  });

  it('completes a repository that was half made', async () => {
    const { store, state, checkpoints } = await openStore();
    const half = join(state, 'dialogs', 'HALF', 'checkpoints');
    mkdirSync(join(half, '.git/objects/info'), { recursive: true });
    for (const name of ['HEAD', 'config', 'objects/info/alternates']) {
      rmSync(join(checkpoints, '.git', name));
    }
    expect((await store.open()).mended).toEqual([DIALOG, 'HALF']);
    await store.commit(onTop(null, [file('a', '0')], { dialog: 'HALF' }));
    expect(git(half, 'log', 'session_1', '--oneline')).toContain('a checkpoint');
  });

  it('finishes a removal that was interrupted', async () => {
    const { store, state } = await openStore();
    const gone = join(state, 'dialogs', '.deleted-GONE');
    mkdirSync(join(gone, 'checkpoints', '.git'), { recursive: true });
    expect((await store.open()).removed).toContain(gone);
    expect(existsSync(gone)).toBe(false);
  });

  it('puts its own configuration back and sets a changed one aside', async () => {
    const { store, checkpoints } = await openStore();
    const path = join(checkpoints, '.git/config');
    const ours = readFileSync(path, 'utf8');
    writeFileSync(path, `${ours}[core]\n\tfsmonitor = touch /tmp/never\n`);
    expect((await store.open()).mended).toEqual([DIALOG]);
    expect(readFileSync(path, 'utf8')).toBe(ours);
    expect(readFileSync(`${path}.foreign`, 'utf8')).toContain('fsmonitor = touch');
    expect((await store.open()).mended).toEqual([]);
  });

  it('reports a lock that another process holds as busy', async () => {
    const { store, checkpoints } = await openStore();
    const lock = join(checkpoints, '.git/refs/heads/session_1.lock');
    writeFileSync(lock, '');
    await expect(store.commit(onTop(null, [file('a', '0')]))).rejects.toMatchObject({
      code: 'BUSY',
      data: { lock },
    });
    rmSync(lock);
    await store.commit(onTop(null, [file('a', '0')]));
  });
});

describe('a store whose flush fails', () => {
  it('acknowledges nothing more until it is opened again, and has lost nothing', async () => {
    let isBroken = false;
    const { store } = await openStore({
      flush: (path) =>
        isBroken && path.endsWith('.pack')
          ? Promise.reject(Object.assign(new Error('injected'), { code: 'EIO' }))
          : flush(path),
    });
    const tip = await store.commit(onTop(null, [file('a', '1')]));
    isBroken = true;
    const next = onTop(tip, [file('a', '2')]);
    await expect(store.commit(next)).rejects.toMatchObject({ code: 'STORAGE_IO' });
    isBroken = false;
    await expect(store.commit(next)).rejects.toMatchObject({ code: 'STORAGE_IO' });
    expect((await store.branches(DIALOG)).get('session_1')).toBe(tip);
    expect(await store.has([hashOf('1'), hashOf('2')])).toEqual(new Set([hashOf('1')]));
    await store.open();
    const again = await store.commit(next);
    expect((await store.readCommit(again)).parents).toEqual([tip]);
    expect((await store.readBlob(hashOf('2'))).toString()).toBe('2');
  });

  it('keeps a branch that its line in the ledger tells of, and takes no more', async () => {
    let isBroken = false;
    const flushed: string[] = [];
    const { store } = await openStore({
      flush: async (path) => {
        if (isBroken && path.endsWith('heads')) {
          throw Object.assign(new Error('injected'), { code: 'EIO' });
        }
        await flush(path);
        flushed.push(basename(path));
      },
    });
    const tip = await store.commit(onTop(null, [file('a', '1')]));
    expect(flushed).toContain('heads');
    flushed.length = 0;
    const told = await store.commit({ ...onTop(tip, [file('a', '2')]), isTold: true });
    expect(flushed).not.toContain('heads');
    await Promise.all([store.lasting(), store.lasting()]);
    expect(flushed).toContain('heads');
    isBroken = true;
    const last = await store.commit({ ...onTop(told, [file('a', '3')]), isTold: true });
    await store.lasting();
    isBroken = false;
    const next = onTop(last, [file('a', '4')]);
    await expect(store.commit(next)).rejects.toMatchObject({ code: 'STORAGE_IO' });
    expect((await store.branches(DIALOG)).get('session_1')).toBe(last);
    await store.open();
    await store.commit(next);
  });

  it('flushes a branch later that could not be opened for it, and goes on', async () => {
    let isMissing = false;
    const flushed: string[] = [];
    const { store } = await openStore({
      flush: async (path) => {
        const isIt = path.endsWith('heads');
        await flush(isIt && isMissing ? `${path}/missing` : path);
        flushed.push(basename(path));
      },
    });
    const tip = await store.commit(onTop(null, [file('a', '1')]));
    const told = await store.commit({ ...onTop(tip, [file('a', '2')]), isTold: true });
    flushed.length = 0;
    isMissing = true;
    await store.lasting();
    isMissing = false;
    expect(flushed).not.toContain('heads');
    await store.lasting();
    expect(flushed).toContain('heads');
    await store.commit(onTop(told, [file('a', '3')]));
  });
});
