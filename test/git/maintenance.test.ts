import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { CommitId, Hash } from '../../src/core/model.js';
import { KEPT, type FileChange } from '../../src/core/store.js';
import { DIALOG, file, git, hashOf, onTop, openStore, OTHER, temporaryFolder } from './helpers.js';

const NOTHING = { names: [], runs: [] };

describe('maintenance', () => {
  it('rolls the packs of 200 commits up, while others are made, and loses none', async () => {
    const { store, state } = await openStore();
    const commits: { id: CommitId; content: string }[] = [];
    let tip: CommitId | null = null;
    const add = async (number: number): Promise<void> => {
      const content = `version ${number}\n`;
      tip = await store.commit(onTop(tip, [file(`d${number % 7}/f`, content)]));
      commits.push({ id: tip, content });
    };
    for (let number = 0; number < 200; number++) await add(number);
    expect(store.sizes().packs).toBe(200);
    const running = store.maintain();
    for (let number = 200; number < 220; number++) await add(number);
    const { packsBefore, packsAfter } = await running;
    expect(packsBefore).toBe(200);
    expect(packsAfter).toBeLessThan(40);
    for (let number = 220; number < 225; number++) await add(number);
    for (const { id, content } of commits) {
      await store.readCommit(id);
      expect((await store.readBlob(hashOf(content))).toString()).toBe(content);
    }
    await store.maintain();
    expect(
      readdirSync(join(state, 'store/objects/pack')).filter((name) => name.startsWith('tmp')),
    ).toEqual([]);
    expect((await store.log(DIALOG, { branch: 'session_1', limit: 500 })).length).toBe(225);
    const { bytes, objects } = store.sizes();
    await store.open();
    expect(store.sizes()).toMatchObject({ bytes, objects });
  });

  it('keeps contents that nothing reaches', async () => {
    const { store } = await openStore();
    const tip = await store.commit(onTop(null, [file('a', '1')]));
    await store.writeBlobs([
      { hash: hashOf('pre-image'), content: () => Buffer.from('pre-image') },
    ]);
    await store.commit(onTop(tip, [file('a', '2')]));
    await store.maintain();
    expect((await store.readBlob(hashOf('pre-image'))).toString()).toBe('pre-image');
  });
});

describe('two dialogs', () => {
  it('share contents and see nothing of each other', async () => {
    const { store } = await openStore();
    await store.createRepository(OTHER);
    const big = randomBytes(500_000);
    const first = await store.commit(onTop(null, [file('big', big)]));
    const { bytes } = store.sizes();
    const second = await store.commit(onTop(null, [file('big', big)], { dialog: OTHER }));
    expect(store.sizes().bytes - bytes).toBeLessThan(5000);
    expect(await store.branches(DIALOG)).toEqual(new Map([['session_1', first]]));
    expect(await store.branches(OTHER)).toEqual(new Map([['session_1', second]]));
  });

  it('give back the space that only one of them used', async () => {
    const { store, state } = await openStore();
    await store.createRepository(OTHER);
    const [shared, own] = [randomBytes(200_000), randomBytes(300_000)];
    const kept = await store.commit(onTop(null, [file('shared', shared)]));
    await store.commit(onTop(null, [file('shared', shared), file('own', own)], { dialog: OTHER }));
    await store.deleteRepository(OTHER);
    const { freedBytes } = await store.prune();
    expect(freedBytes).toBeGreaterThan(290_000);
    expect(freedBytes).toBeLessThan(320_000);
    expect(await store.dialogs()).toEqual([DIALOG]);
    expect(await store.has([hashOf(shared), hashOf(own)])).toEqual(new Set([hashOf(shared)]));
    expect((await store.readBlob(hashOf(shared))).equals(shared)).toBe(true);
    const next = await store.commit(onTop(kept, [file('own', own)]));
    expect((await store.readBlob(hashOf(own))).equals(own)).toBe(true);
    expect((await store.readCommit(next)).parents).toEqual([kept]);
    expect(readdirSync(join(state, 'store/objects/pack')).length).toBeGreaterThan(0);
  });

  it('keep what people have put branches and tags on', async () => {
    const { store, checkpoints } = await openStore();
    const tips: CommitId[] = [];
    for (const name of ['mine/deep', 'tagged', 'packed/away']) {
      const branch = `of-${name.replace('/', '-')}`;
      tips.push(await store.commit(onTop(null, [file(name, `of ${name}`)], { branch })));
    }
    const [branched = '', tagged = '', packed = ''] = tips;
    git(checkpoints, 'branch', 'packed/away', packed);
    git(checkpoints, 'pack-refs', '--all');
    git(checkpoints, 'branch', 'mine/deep', branched);
    git(checkpoints, 'tag', 'kept', tagged);
    const ours = await store.branches(DIALOG);
    const gone = [...ours].filter(([name]) => name.startsWith('of-'));
    await store.setBranches(
      DIALOG,
      gone.map(([name, id]) => ({ name, to: null, expected: id })),
    );
    await store.prune();
    for (const tip of tips) expect((await store.readCommit(tip)).id).toBe(tip);
    expect(git(checkpoints, 'show', 'mine/deep:mine/deep')).toBe('of mine/deep');
    expect(git(checkpoints, 'show', 'kept:tagged')).toBe('of tagged');
  });

  it('go on while space is given back, even with content that was about to go', async () => {
    const { store } = await openStore();
    await store.createRepository(OTHER);
    const own = Array.from({ length: 40 }, () => randomBytes(50_000));
    const changes = own.map((bytes, number) => file(`own-${number}`, bytes));
    let tip = await store.commit(onTop(null, [file('a', '0')]));
    await store.commit(onTop(null, changes, { dialog: OTHER }));
    await store.deleteRepository(OTHER);
    const reports: number[] = [];
    const pruned = store.prune({ onProgress: (_done, total) => void reports.push(total) });
    // Each takes up a content that only the packs to be removed hold.
    const made: CommitId[] = [];
    for (const change of changes.slice(0, 20)) {
      tip = await store.commit(onTop(tip, [change]));
      made.push(tip);
    }
    await pruned;
    await store.commit(onTop(tip, [file('last', own[30] ?? '')]));
    for (const [number, id] of made.entries()) {
      expect((await store.tree(id)).size).toBe(number + 2);
    }
    const kept = [...own.slice(0, 20), own[30] ?? Buffer.alloc(0)];
    for (const bytes of kept)
      expect((await store.readBlob(hashOf(bytes))).equals(bytes)).toBe(true);
    expect(reports.length).toBeGreaterThan(0);
    await store.prune();
    const present = await store.has(own.map((bytes) => hashOf(bytes)));
    expect(present).toEqual(new Set(kept.map((bytes) => hashOf(bytes))));
  });

  it('lose nothing that was copied from elsewhere for a commit yet to come', async () => {
    const project = temporaryFolder();
    git(project, 'init', '-q');
    writeFileSync(join(project, 'a'), 'theirs');
    git(project, 'add', '-A');
    const { store } = await openStore();
    await store.seedFrom(join(project, '.git'), [hashOf('theirs')]);
    await store.prune();
    const { content: _, ...named } = file('a', 'theirs') as FileChange & { content: unknown };
    await store.commit(onTop(null, [named]));
    expect((await store.readBlob(hashOf('theirs'))).toString()).toBe('theirs');
  });

  it('leave nothing when the last of them goes, but what is pinned', async () => {
    const pinned = new Set<Hash>();
    const { store } = await openStore({ pins: () => () => pinned });
    await store.commit(onTop(null, [file('a', 'gone'), file('b', 'named in the ledger')]));
    pinned.add(hashOf('named in the ledger')).add(hashOf('never stored'));
    await store.writeBlobs([{ hash: hashOf('fresh'), content: () => Buffer.from('fresh') }]);
    await store.deleteRepository(DIALOG);
    await store.prune();
    expect(store.sizes().objects).toBe(2);
    expect((await store.readBlob(hashOf('named in the ledger'))).toString()).toBe(
      'named in the ledger',
    );
    await store.createRepository(DIALOG);
    await store.commit(onTop(null, [file('a', 'gone')]));
  });
});

describe('giving space back', () => {
  /** Two states beside the dialogs; the first is the only one that has a large content. */
  async function twoKept() {
    const opened = await openStore();
    const { store } = opened;
    await store.createRepository(KEPT);
    const large = randomBytes(300_000);
    const aside = { dialog: KEPT, branch: 'snap-0001' };
    let tip = await store.commit(onTop(null, [file('a', '0')]));
    for (let number = 1; number < 30; number++) {
      tip = await store.commit(onTop(tip, [file('a', `${number}\n`.repeat(200))]));
    }
    const first = await store.commit(onTop(null, [file('large', large)], aside));
    await store.commit(onTop(null, [file('b', '2')], { dialog: KEPT, branch: 'snap-0002' }));
    const folder = join(opened.state, 'store/objects/pack');
    const packs = () => readdirSync(folder).filter((name) => /^tmp_|\.pack$/u.test(name));
    return { ...opened, first, packs };
  }

  it('can be tried: it tells to the byte what would be freed and changes nothing', async () => {
    const { store, first, packs } = await twoKept();
    await store.prunable(NOTHING);
    const before = packs();
    const whole = await store.prunable(NOTHING);
    const trial = await store.prunable({ names: ['snap-0001'], runs: [] });
    expect(packs()).toEqual(before);
    expect(trial.freedBytes).toBeGreaterThan(300_000);
    expect(whole.freedBytes).toBeLessThan(100_000);
    await store.setBranches(KEPT, [{ name: 'snap-0001', to: null, expected: first }]);
    expect(await store.prune()).toEqual(trial);
    expect(await store.prunable(NOTHING)).toEqual({ freedBytes: 0 });
  });

  it('can be cut off, and leaves everything as it was', async () => {
    const { store, first, packs } = await twoKept();
    await store.setBranches(KEPT, [{ name: 'snap-0001', to: null, expected: first }]);
    const early = new AbortController();
    early.abort(new Error('not now'));
    await store.prunable(NOTHING);
    const before = packs();
    await expect(store.prune({ signal: early.signal })).rejects.toThrow('not now');
    const late = new AbortController();
    const onProgress = (done: number, total: number) => {
      if (done === total) late.abort(new Error('enough'));
    };
    await expect(store.prune({ signal: late.signal, onProgress })).rejects.toThrow('enough');
    // The new one may have been whole already: a second copy, which goes with the next try.
    expect(packs()).toEqual(expect.arrayContaining(before));
    expect(packs().filter((name) => name.startsWith('tmp_'))).toEqual([]);
    expect((await store.tree(first)).size).toBe(1);
    expect((await store.prune()).freedBytes).toBeGreaterThan(300_000);
    expect(packs()).toHaveLength(1);
  });

  it('ends with the store', async () => {
    const { store } = await twoKept();
    const pruned = store.prune({ onProgress: () => void store.close() });
    await expect(pruned).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

describe('a check', () => {
  it('ends with the store', async () => {
    const { store } = await openStore();
    await store.commit(onTop(null, [file('a', '1')]));
    const checked = store.check(() => undefined);
    void store.close();
    await expect(checked).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

describe('a seed from the user', () => {
  it('copies contents without touching the repository they come from', async () => {
    const { store } = await openStore();
    const project = temporaryFolder();
    git(project, 'init', '-q');
    for (const name of ['a', 'b', 'c']) writeFileSync(join(project, name), `content of ${name}`);
    git(project, 'add', '-A');
    git(project, '-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'x');
    const before = listing(project);
    const hashes = ['a', 'b', 'c', 'd'].map((name) => hashOf(`content of ${name}`));
    const found = await store.seedFrom(join(project, '.git'), hashes);
    expect([...found].sort()).toEqual(hashes.slice(0, 3).sort());
    expect(listing(project)).toBe(before);
    const changes = [...found].map((hash, number) => ({
      path: `f${number}`,
      mode: '100644',
      hash,
    }));
    await store.commit(onTop(null, changes as never));
    rmSync(join(project, '.git'), { recursive: true });
    expect((await store.readBlob(hashOf('content of a'))).toString()).toBe('content of a');
    expect(await store.seedFrom(join(project, '.git'), hashes)).toEqual(new Set());
  });
});

describe('a store without space', () => {
  (canMount() ? it : it.skip)(
    'refuses, keeps what it has, and goes on later (needs root)',
    async () => {
      const mount = mountSmall();
      try {
        const { store } = await openStore({}, join(mount, 'state'));
        const tip = await store.commit(onTop(null, [file('a', '1')]));
        const large = randomBytes(40 * 1024 * 1024);
        await expect(store.commit(onTop(tip, [file('b', large)]))).rejects.toMatchObject({
          code: 'STORAGE_FULL',
        });
        // Without its size the check before writing cannot help, and git meets the wall itself.
        const unsized = { ...file('b', large), size: 0 };
        await expect(store.commit(onTop(tip, [unsized]))).rejects.toMatchObject({
          code: 'STORAGE_FULL',
        });
        expect((await store.branches(DIALOG)).get('session_1')).toBe(tip);
        await store.commit(onTop(tip, [file('a', '2')]));
        expect((await store.readBlob(hashOf('1'))).toString()).toBe('1');
        await store.close();
      } finally {
        execFileSync('umount', ['-l', mount]);
        rmSync(mount, { recursive: true });
      }
    },
  );
});

function listing(folder: string): string {
  return execFileSync('find', ['.', '-printf', '%p %s %T@ %m\n'], {
    cwd: folder,
    encoding: 'utf8',
  });
}

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
