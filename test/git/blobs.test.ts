import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { CommitId, Hash } from '../../src/core/model.js';
import type { CheckpointStore, NewBlob } from '../../src/core/store.js';
import { flush } from '../../src/git/files.js';
import { DIALOG, file, git, GIT, hashOf, onTop, openStore, temporaryFolder } from './helpers.js';
import { until } from '../support/until.js';

function blob(content: Uint8Array | string): NewBlob {
  const bytes = Buffer.from(content);
  return { hash: hashOf(bytes), content: () => bytes, size: bytes.length };
}

const packsOf = (state: string): string[] =>
  readdirSync(join(state, 'store/objects/pack')).filter((name) => name.endsWith('.pack'));

async function expectAll(store: CheckpointStore, contents: readonly string[]): Promise<void> {
  for (const content of contents) {
    expect((await store.readBlob(hashOf(content))).toString()).toBe(content);
  }
}

/** A flush that waits for its release, and says how often it was asked. */
function gatedFlush() {
  let release: () => void = () => undefined;
  let gate: Promise<void> | undefined;
  let reached: () => void = () => undefined;
  return {
    flush: async (path: string): Promise<void> => {
      reached();
      await gate;
      await flush(path);
    },
    shut(): Promise<void> {
      gate = new Promise((resolve) => (release = resolve));
      return new Promise((resolve) => (reached = resolve));
    },
    open(): void {
      gate = undefined;
      release();
    },
  };
}

describe('contents without a commit', () => {
  it('are there for the reader and for plain git when they are acknowledged', async () => {
    const { store, checkpoints } = await openStore();
    const contents = ['', 'x', 'a line\n', '\0\u{1f600}'.repeat(9), 'long '.repeat(20_000)];
    for (const content of contents) {
      await store.writeBlobs([blob(content)]);
      await expectAll(store, [content]);
      expect(git(checkpoints, 'cat-file', 'blob', hashOf(content))).toBe(content);
    }
    const bytes = randomBytes(70_000);
    await store.writeBlobs([blob(bytes), blob(bytes), blob('twice'), blob('twice')]);
    expect((await store.readBlob(hashOf(bytes))).equals(bytes)).toBe(true);
  });

  it('share one pack when they come while another is being written', async () => {
    const gate = gatedFlush();
    const { store, state } = await openStore({ flush: gate.flush });
    const flushing = gate.shut();
    const first = store.writeBlobs([blob('first')]);
    await flushing;
    const contents = Array.from({ length: 20 }, (_, number) => `content ${number % 15}`);
    let answered = 0;
    const others = contents.map((content) =>
      store.writeBlobs([blob(content)]).then(() => answered++),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(0);
    gate.open();
    await Promise.all([first, ...others]);
    expect(packsOf(state).length).toBe(2);
    await expectAll(store, contents);
  });

  it('fail for the caller whose content is wrong, and for nobody else', async () => {
    const gate = gatedFlush();
    const { store } = await openStore({ flush: gate.flush });
    const flushing = gate.shut();
    const first = store.writeBlobs([blob('first')]);
    await flushing;
    const unreadable = Object.assign(new Error('gone'), { code: 'ENOENT' });
    const calls = [
      [blob('good 1')],
      [blob('part of a bad call'), { ...blob('promised'), content: () => Buffer.from('other') }],
      [{ ...blob('unreadable'), content: () => Promise.reject(unreadable) }],
      // The same name, this time with what it promises.
      [blob('promised')],
      [blob('good 2')],
    ];
    const outcomes = Promise.allSettled(calls.map((call) => store.writeBlobs(call)));
    gate.open();
    await first;
    expect(await outcomes).toMatchObject([
      { status: 'fulfilled' },
      {
        status: 'rejected',
        reason: { code: 'STALE_READ', data: { expected: hashOf('promised') } },
      },
      { status: 'rejected', reason: { code: 'ENOENT' } },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ]);
    await expectAll(store, ['first', 'good 1', 'promised', 'good 2']);
    expect(await store.has([hashOf('other')])).toEqual(new Set());
  });

  it('do not wait for another caller whose content takes long to read', async () => {
    const { store } = await openStore();
    let deliver: (bytes: Buffer) => void = () => undefined;
    const late = new Promise<Buffer>((resolve) => (deliver = resolve));
    const slow = store.writeBlobs([{ hash: hashOf('slow'), content: () => late }]);
    await store.writeBlobs([blob('quick')]);
    await expectAll(store, ['quick']);
    deliver(Buffer.from('slow'));
    await slow;
    await expectAll(store, ['slow']);
  });

  it('are neither read nor written when the store has them', async () => {
    const { store, state } = await openStore();
    const unread = (content: string): NewBlob => ({
      hash: hashOf(content),
      content: () => Promise.reject(new Error('nobody should read this')),
    });
    await store.commit(onTop(null, [file('a', 'of a commit')]));
    await store.writeBlobs([blob('of a call')]);
    const before = packsOf(state);
    await store.writeBlobs([unread('of a commit'), unread('of a call')]);
    await store.open();
    await store.writeBlobs([unread('of a commit')]);
    await store.writeBlobs([unread('of a call'), unread('of a commit')]);
    expect(packsOf(state)).toEqual(before);
    await expect(store.writeBlobs([unread('neither')])).rejects.toThrow('nobody');
  });

  it('of any size and kind are streamed, alone or among small ones', async () => {
    const { store } = await openStore();
    const large = randomBytes(3 * 1024 * 1024);
    let opened = 0;
    const source = {
      hash: hashOf('from a source'),
      content: () => {
        opened++;
        return { size: 13, chunks: Readable.from([Buffer.from('from a '), Buffer.from('source')]) };
      },
    };
    await Promise.all([
      store.writeBlobs([blob('small'), blob(large), blob('small too')]),
      store.writeBlobs([blob('beside it')]),
      store.writeBlobs([{ ...blob(large), size: 0 }]),
      store.writeBlobs([blob('before it'), source]),
    ]);
    expect(opened).toBe(1);
    expect((await store.readBlob(hashOf(large))).equals(large)).toBe(true);
    await expectAll(store, ['small', 'small too', 'beside it', 'before it', 'from a source']);
    const wrong = { ...source, hash: hashOf('something else') };
    await expect(store.writeBlobs([wrong])).rejects.toMatchObject({ code: 'STALE_READ' });
  });

  it('can be named by a commit that comes right after them, or with them', async () => {
    const { store } = await openStore();
    let tip: CommitId | null = null;
    for (let round = 0; round < 40; round++) {
      const content = `round ${round}`;
      const together = store.writeBlobs([blob(`other ${round}`)]);
      await store.writeBlobs([blob(content)]);
      const { path, mode, hash } = file(`f${round}`, content) as never;
      tip = await store.commit(onTop(tip, [{ path, mode, hash }]));
      await together;
    }
    expect((await store.tree(tip as unknown as CommitId)).size).toBe(40);
  });
});

describe('many contents without a commit', () => {
  it('leave few packs, all of them sound, while they are written and repacked', async () => {
    const { store, state, checkpoints } = await openStore();
    const contents: string[] = [];
    let most = 0;
    const write = async (count: number): Promise<void> => {
      for (let number = 0; number < count; number++) {
        const content = `content ${contents.length}`;
        contents.push(content);
        await store.writeBlobs([blob(content)]);
        most = Math.max(most, store.sizes().packs);
      }
    };
    await write(300);
    expect(most).toBeLessThan(32);
    expect(store.sizes()).toMatchObject({ objects: 300 });
    // What was rolled up leaves the folder a little later.
    await until('only counted packs are left', () =>
      packsOf(state).length === store.sizes().packs ? true : undefined,
    );
    const repacked = store.maintain();
    await write(150);
    await repacked;
    await write(50);
    await store.maintain();
    expect(packsOf(state).length).toBeLessThan(32);
    await expectAll(store, contents);
    expect(git(checkpoints, 'fsck', '--full', '--strict').match(/^dangling blob/gmu)?.length).toBe(
      contents.length,
    );
  });

  it('stay through a prune while they are pinned or just acknowledged', async () => {
    const pinned = new Set<Hash>();
    const { store } = await openStore({ pins: () => () => pinned });
    const contents = Array.from({ length: 100 }, (_, number) => `pinned ${number}`);
    for (const content of contents) {
      await store.writeBlobs([blob(content)]);
      pinned.add(hashOf(content));
    }
    await store.open();
    // Known to be stored, so nothing is written; not in the ledger yet either.
    pinned.delete(hashOf('pinned 7'));
    await store.writeBlobs([blob('pinned 7')]);
    const during = store.prune();
    const more = store.writeBlobs([blob('during the prune'), blob('pinned 8')]);
    await Promise.all([during, more]);
    await expectAll(store, [...contents, 'during the prune']);
    await store.maintain();
    await store.prune();
    await expectAll(store, [...contents, 'during the prune']);
  });

  it('leave the store when nobody has pinned them for many calls', async () => {
    const { store } = await openStore({ pins: () => () => [] });
    await store.writeBlobs([blob('forgotten')]);
    for (let call = 0; call < 70; call++) {
      const names = Array.from({ length: 300 }, (_, number) => blob(`call ${call}, ${number}`));
      await store.writeBlobs(names);
    }
    await store.prune();
    expect(await store.has([hashOf('forgotten'), hashOf('call 69, 299')])).toEqual(
      new Set([hashOf('call 69, 299')]),
    );
    await store.writeBlobs([blob('forgotten')]);
    await expectAll(store, ['forgotten']);
  });
});

describe('a store that fails', () => {
  it('answers every caller of a group with the failed flush, and has none of it', async () => {
    let isBroken = false;
    const { store } = await openStore({
      flush: (path) =>
        isBroken && path.endsWith('.idx')
          ? Promise.reject(Object.assign(new Error('injected'), { code: 'EIO' }))
          : flush(path),
    });
    await store.writeBlobs([blob('safe')]);
    isBroken = true;
    const calls = ['a', 'b', 'c'].map((content) => store.writeBlobs([blob(content)]));
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_IO' } });
    }
    isBroken = false;
    await expect(store.writeBlobs([blob('d')])).rejects.toMatchObject({ code: 'STORAGE_IO' });
    expect(await store.has(['a', 'b', 'c', 'd'].map(hashOf))).toEqual(new Set());
    await store.open();
    await store.writeBlobs(['a', 'safe'].map(blob));
    await expectAll(store, ['safe', 'a']);
  });

  it('says so when its folder cannot be written, and goes on when it can', async () => {
    const { store, state } = await openStore();
    const packs = join(state, 'store/objects/pack');
    renameSync(packs, `${packs}-away`);
    const calls = ['a', 'b'].map((content) => store.writeBlobs([blob(content)]));
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_IO' } });
    }
    renameSync(`${packs}-away`, packs);
    await store.writeBlobs([blob('a')]);
    await expectAll(store, ['a']);
  });

  it('flushes what an earlier life left before it calls that stored', async () => {
    const earlier = await openStore();
    await earlier.store.writeBlobs([blob('left')]);
    await earlier.store.close();
    const flushed: string[] = [];
    let isBroken = false;
    const { store, state } = await openStore(
      {
        flush: (path) => {
          flushed.push(path);
          if (isBroken) return Promise.reject(Object.assign(new Error('bad'), { code: 'EIO' }));
          return flush(path);
        },
      },
      earlier.state,
    );
    // A second flush after one that failed may call safe what is lost.
    isBroken = true;
    await expect(store.writeBlobs([blob('left')])).rejects.toMatchObject({ code: 'STORAGE_IO' });
    isBroken = false;
    await expect(store.writeBlobs([blob('left')])).rejects.toMatchObject({ code: 'STORAGE_IO' });
    await store.open();
    flushed.length = 0;
    await store.writeBlobs([blob('left')]);
    const [pack = ''] = packsOf(state);
    expect(flushed).toContain(join(state, 'store/objects/pack', pack));
    flushed.length = 0;
    await store.writeBlobs([blob('left')]);
    expect(flushed).toEqual([]);
  });

  it('keeps everything it acknowledged when it is killed', async () => {
    const state = join(temporaryFolder(), '.agentsmithy');
    const script = fileURLToPath(new URL('../fixtures/blob-writer.mjs', import.meta.url));
    const acknowledged: string[] = [];
    for (const lines of [1, 60, 200]) {
      const child = spawn(process.execPath, [script, state, GIT, '8'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'close');
      let count = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(line);
        if (++count === lines) child.kill('SIGKILL');
      }
      await ended;
      expect(count).toBeGreaterThanOrEqual(lines);
      const checkpoints = join(state, 'dialogs/KILLED/checkpoints');
      const report = git(checkpoints, 'fsck', '--full', '--strict');
      expect(report.replace(/^(dangling|notice).*\n?/gmu, '')).toBe('');
      const types = execFileSync(GIT, ['cat-file', '--batch-check=%(objecttype)'], {
        cwd: checkpoints,
        input: acknowledged.join('\n'),
        encoding: 'utf8',
      });
      expect(types).toBe('blob\n'.repeat(acknowledged.length));
    }
    const { store } = await openStore({}, state);
    expect((await store.has(acknowledged as Hash[])).size).toBe(acknowledged.length);
    expect(readdirSync(join(state, 'store/objects/pack')).join()).not.toMatch(/tmp_|keep/u);
    expect(await store.dialogs()).toEqual([DIALOG, 'KILLED']);
  });

  (canMount() ? it : it.skip)('refuses on a full disk and goes on later (needs root)', async () => {
    const mount = mountSmall();
    try {
      const { store, checkpoints } = await openStore({}, join(mount, 'state'));
      await store.writeBlobs([blob('before')]);
      const filler = join(mount, 'filler');
      execFileSync('sh', ['-c', 'head -c 40m /dev/zero > "$1" 2>/dev/null || true', 'sh', filler]);
      const outcomes = await Promise.allSettled([
        store.writeBlobs([blob('small')]),
        store.writeBlobs([blob(randomBytes(900_000))]),
        store.writeBlobs([blob('before')]),
      ]);
      expect(outcomes).toMatchObject([
        { status: 'rejected', reason: { code: 'STORAGE_FULL' } },
        { status: 'rejected', reason: { code: 'STORAGE_FULL' } },
        { status: 'fulfilled' },
      ]);
      rmSync(filler);
      await store.writeBlobs([blob('small')]);
      await expectAll(store, ['before', 'small']);
      expect(git(checkpoints, 'fsck', '--full')).toMatch(/^(dangling blob \w+\n){2}$/u);
      await store.close();
    } finally {
      execFileSync('umount', ['-l', mount]);
      rmSync(mount, { recursive: true });
    }
  });
});

function mountSmall(): string {
  const mount = mkdtempSync(join(tmpdir(), 'smithyd-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', mount], { stdio: 'ignore' });
  return mount;
}

function canMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    const mount = mountSmall();
    execFileSync('umount', [mount]);
    rmSync(mount, { recursive: true });
    return true;
  } catch {
    return false;
  }
}
