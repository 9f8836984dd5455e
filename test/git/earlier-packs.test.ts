import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { CommitId } from '../../src/core/model.js';
import type { CheckpointStore, FileChange, NewBlob } from '../../src/core/store.js';
import { flush } from '../../src/git/files.js';
import { file, git, hashOf, onTop, openStore, OTHER, temporaryFolder } from './helpers.js';

/** What others count on stays, whatever becomes of a call. Git looks at every store after its test. */

const failing = (code: string): Error => Object.assign(new Error(`${code}: no flush`), { code });
const packsOf = (state: string): string[] => readdirSync(join(state, 'store/objects/pack'));
const codeOf = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code,
  );

function large(bytes: Buffer): NewBlob {
  async function* chunks() {
    yield await Promise.resolve(bytes);
  }
  const content = () => ({ size: bytes.length, chunks: chunks() });
  return { hash: hashOf(bytes), size: bytes.length, content };
}

/** A store with so many states of one file that a repack has something to do. */
async function manyStates(store: CheckpointStore, branch = 'session_1'): Promise<CommitId> {
  const text = branch === 'session_1' ? '' : branch;
  let tip = await store.commit(onTop(null, [file('d/f', `the old state${text}\n`)], { branch }));
  for (let at = 0; at < 70; at++) {
    const changes = [file('d/f', `state ${at}${text}\n`)];
    tip = await store.commit(onTop(tip, changes, { branch }));
  }
  return tip;
}

describe('a pack that was there before', () => {
  it('is made anew when a repack has just taken it over', async () => {
    const { store, state } = await openStore();
    for (let round = 0; round < 5; round++) {
      const text = `nobody's commit ${round}\n`;
      const blob = { hash: hashOf(text), content: () => Buffer.from(text) };
      const before = packsOf(state);
      await store.writeBlobs([blob]);
      const [own = ''] = packsOf(state).filter((name) => {
        return name.endsWith('.pack') && !before.includes(name);
      });
      await manyStates(store, `branch${round}`);
      // Another daemon: it has not seen what is in which pack.
      await store.close();
      await store.open();
      const rolling = store.maintain();
      const end = performance.now() + 20_000;
      // Git goes on to its end for a moment: nobody here has heard of it yet.
      while (packsOf(state).includes(own) && performance.now() < end) await nextTurn();
      await store.writeBlobs([blob]);
      await rolling;
      expect(await store.readBlob(blob.hash)).toEqual(Buffer.from(text));
    }
  });

  it.each(['EIO', 'ENOSPC'])('survives a second seeding that fails with %s', async (code) => {
    const project = temporaryFolder();
    git(project, 'init', '-q');
    const contents = Array.from({ length: 5 }, (_, at) => `content ${at}\n`);
    for (const [at, text] of contents.entries()) writeFileSync(join(project, `f${at}`), text);
    git(project, 'add', '.');
    const hashes = contents.map((text) => hashOf(text));
    let isFailing = false;
    const { store, state } = await openStore({
      flush: (path) => (isFailing ? Promise.reject(failing(code)) : flush(path)),
    });
    const from = join(project, '.git');
    await store.seedFrom(from, hashes);
    const changes = hashes.map((hash, at): FileChange => {
      return { path: file(`f${at}`, '').path, mode: '100644', hash };
    });
    await store.commit(onTop(null, changes));
    const before = packsOf(state);
    isFailing = true;
    expect(await codeOf(store.seedFrom(from, hashes))).not.toBe('done');
    isFailing = false;
    expect(packsOf(state)).toEqual(before);
  });

  it('survives a first checkpoint of the same files that fails', async () => {
    const folder = temporaryFolder();
    const changes = Array.from({ length: 1_200 }, (_, at) => {
      const place = join(folder, `f${at}`);
      writeFileSync(place, `content ${at}\n`.repeat(20));
      return { ...file(`f${at}`, `content ${at}\n`.repeat(20)), place };
    });
    for (let round = 0; round < 4; round++) {
      const { store, state } = await openStore();
      await store.commit(onTop(null, changes));
      await store.close();
      let isFailing = false;
      const again = await openStore(
        {
          flush: (path) =>
            isFailing && path.endsWith('.pack') ? Promise.reject(failing('ENOSPC')) : flush(path),
        },
        state,
      );
      await again.store.createRepository(OTHER);
      isFailing = true;
      await codeOf(again.store.commit(onTop(null, changes, { dialog: OTHER })));
      isFailing = false;
    }
  });

  it.each([10, 40, 80])('survives a repack beside a commit that fails after %s ms', async (ms) => {
    let isFailing = false;
    const { store } = await openStore({
      flush: async (path) => {
        if (!isFailing || !path.endsWith('.pack')) return flush(path);
        await new Promise((resolve) => setTimeout(resolve, ms));
        throw failing('ENOSPC');
      },
    });
    const tip = await manyStates(store);
    const repacking = store.maintain();
    isFailing = true;
    // Back to what it was: the same trees again.
    expect(await codeOf(store.commit(onTop(tip, [file('d/f', 'the old state\n')])))).not.toBe(
      'done',
    );
    isFailing = false;
    await repacking;
  });
});

describe('what a prune removed', () => {
  it('is written anew by a commit that waited, also when the removal could not be flushed', async () => {
    let isFailing = false;
    let doomed = '';
    let next: Promise<unknown> = Promise.resolve();
    const opened = await openStore({
      flush: async (path) => {
        const packs = join(opened.state, 'store/objects/pack');
        if (isFailing && path === packs && !existsSync(join(packs, doomed))) {
          isFailing = false;
          next = codeOf(store.commit(onTop(tip, [file('r', 'of a deleted dialog\n')])));
          throw failing('EIO');
        }
        return flush(path);
      },
    });
    const { store, state } = opened;
    await store.createRepository(OTHER);
    const tip = await store.commit(onTop(null, [file('a', '1')]));
    const before = new Set(packsOf(state));
    const many = Array.from({ length: 600 }, (_, at) => file(`m${at}`, `m ${at}`));
    const others = [file('r', 'of a deleted dialog\n'), ...many];
    await store.commit(onTop(null, others, { dialog: OTHER }));
    doomed = packsOf(state).find((name) => !before.has(name) && name.endsWith('.idx')) ?? '';
    await store.deleteRepository(OTHER);
    isFailing = true;
    expect(await codeOf(store.prune())).toBe('STORAGE_IO');
    expect(await next).toBe('STORAGE_IO');
  });

  it('and could not flush is trusted by nobody', async () => {
    let isFailing = false;
    const { store, state } = await openStore({
      flush: (path) => (isFailing ? Promise.reject(failing('EIO')) : flush(path)),
    });
    await store.createRepository(OTHER);
    const tip = await store.commit(onTop(null, [file('a', '1')]));
    await store.commit(onTop(null, [file('b', randomBytes(1000))], { dialog: OTHER }));
    await store.deleteRepository(OTHER);
    const before = packsOf(state);
    isFailing = true;
    expect(await codeOf(store.prune())).toBe('STORAGE_IO');
    isFailing = false;
    expect(packsOf(state)).toEqual(before);
    expect(await codeOf(store.commit(onTop(tip, [file('a', '2')])))).toBe('STORAGE_IO');
  });

  it('counts for a prune that is asked for while a repack ends', async () => {
    const { store } = await openStore();
    await store.createRepository(OTHER);
    await manyStates(store);
    await store.commit(onTop(null, [file('b', randomBytes(500_000))], { dialog: OTHER }));
    await store.deleteRepository(OTHER);
    const repacking = store.maintain();
    const { freedBytes } = await store.prune();
    await repacking;
    expect(freedBytes).toBeGreaterThan(490_000);
  });
});

describe('what an earlier life left', () => {
  it('of large contents is flushed before it counts as stored', async () => {
    const [x, y] = [randomBytes(2_000_000), randomBytes(2_000_000)];
    const { store, state } = await openStore();
    await store.writeBlobs([large(x)]);
    const left = packsOf(state).find((name) => name.endsWith('.pack')) ?? '';
    await store.close();
    const flushed: string[] = [];
    const again = await openStore(
      {
        flush: (path) => {
          flushed.push(path);
          return flush(path);
        },
      },
      state,
    );
    flushed.splice(0);
    await again.store.writeBlobs([large(x), large(y)]);
    expect(flushed).toContain(join(state, 'store/objects/pack', left));
  });

  it('of a pack whose index went first goes too, when its writer is surely gone', async () => {
    const { store, state } = await openStore();
    await store.commit(onTop(null, [file('a', randomBytes(100_000))]));
    const [kept] = packsOf(state).filter((name) => name.endsWith('.pack'));
    await store.createRepository(OTHER);
    await store.commit(onTop(null, [file('b', randomBytes(300_000))], { dialog: OTHER }));
    await store.deleteRepository(OTHER);
    const doomed = packsOf(state).find((name) => name.endsWith('.pack') && name !== kept) ?? '';
    await store.close();
    const path = join(state, 'store/objects/pack', doomed);
    unlinkSync(path.replace('.pack', '.idx'));
    await (await openStore({}, state)).store.close();
    expect(existsSync(path)).toBe(true);
    utimesSync(path, 0, 0);
    await openStore({}, state);
    expect(existsSync(path)).toBe(false);
  });
});
