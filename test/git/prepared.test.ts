import { readdirSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { Hash } from '../../src/core/model.js';
import type { FileChange } from '../../src/core/store.js';
import { flush } from '../../src/git/files.js';
import { stored, toEntry } from '../../src/git/pack-file.js';
import { file, gone, onTop, openStore } from './helpers.js';

/** The same file, of which nobody can read the content any more. */
function unreadable(path: string, content: string): FileChange {
  return {
    ...file(path, content),
    content: () => {
      throw new Error(`${path} was read again`);
    },
  };
}

describe('what was prepared', () => {
  it('is what a commit takes: the content is not read again, and the tree is the same', async () => {
    const [ready, plain] = [await openStore(), await openStore()];
    const before = [file('d/e/a', '1'), file('b', '2'), file('gone', '3')];
    const [base, same] = [
      await ready.store.commit(onTop(null, before)),
      await plain.store.commit(onTop(null, before)),
    ];
    const after = [file('d/e/a', 'new'), file('new/c', '4'), gone('gone')];
    await ready.store.prepare({ base, changes: after });
    const blind = [unreadable('d/e/a', 'new'), unreadable('new/c', '4'), gone('gone')];
    const prepared = await ready.store.commit(onTop(base, blind));
    const made = await plain.store.commit(onTop(same, after));
    expect(await ready.store.tree(prepared)).toEqual(await plain.store.tree(made));
    const { tree } = await ready.store.readCommit(prepared);
    expect(tree).toBe((await plain.store.readCommit(made)).tree);
    const hashes = after.flatMap((one) => ('hash' in one ? [one.hash] : []));
    for (const hash of hashes) {
      expect(await ready.store.readBlob(hash)).toEqual(await plain.store.readBlob(hash));
    }
  });

  it('is nowhere on the disk, and no help to a commit of something else', async () => {
    const { store, state } = await openStore();
    const base = await store.commit(onTop(null, [file('a', '1')]));
    const packs = () => readdirSync(`${state}/store/objects/pack`).sort();
    const before = packs();
    await store.prepare({ base, changes: [file('a', 'prepared')] });
    expect(packs()).toEqual(before);
    const other = file('a', 'committed');
    const id = await store.commit(onTop(base, [other]));
    expect((await store.tree(id)).get(other.path)).toMatchObject({
      hash: 'hash' in other ? other.hash : '',
    });
    const { hash } = file('a', 'prepared') as { readonly hash: Hash };
    expect(await store.has([hash])).toEqual(new Set());
  });

  it('is refused when it is not what its hash says, and then it is read again', async () => {
    const { store } = await openStore();
    const base = await store.commit(onTop(null, [file('a', '1')]));
    const right = file('a', '2');
    const wrong = { ...right, content: () => Buffer.from('something else') };
    await expect(store.prepare({ base, changes: [wrong] })).rejects.toMatchObject({
      code: 'STALE_READ',
    });
    const id = await store.commit(onTop(base, [right]));
    expect((await store.tree(id)).get(right.path)).toBeDefined();
  });

  it('is no large content and no large folder: the commit does those itself', async () => {
    const { store } = await openStore();
    const many = Array.from({ length: 3_000 }, (_, at) => file(`d/f${at}`, String(at)));
    const base = await store.commit(onTop(null, many));
    const untouched = { ...unreadable('large', 'x'), size: 70_000 };
    await store.prepare({ base, changes: [untouched] });
    const changes = [file('d/f7', 'changed'), file('large', 'x'.repeat(70_000))];
    await expect(store.prepare({ base, changes })).rejects.toThrow('too large');
    const id = await store.commit(onTop(base, changes));
    expect((await store.tree(id)).size).toBe(3_001);
  });

  it('is what zlib reads, however small it is', async () => {
    for (const size of [0, 1, 254, 255, 256, 511, 512, 513]) {
      const content = Buffer.from(Array.from({ length: size }, (_, at) => (at * 251) % 256));
      expect(inflateSync(stored(content))).toEqual(content);
      const { bytes } = await toEntry('h' as Hash, content, { kind: 'tree' });
      // Behind the bytes that tell kind and size: one up to 15, two up to 2047.
      expect(inflateSync(bytes.subarray(size < 16 ? 1 : 2))).toEqual(content);
    }
  });

  it('can be asked for again at once when a pack could not be opened to be flushed', async () => {
    let isRefused = false;
    const { store } = await openStore({
      flush: (path) => flush(isRefused && path.endsWith('.pack') ? `${path}.none` : path),
    });
    let tip = await store.commit(onTop(null, [file('a', 'first')]));
    for (let round = 0; round < 20; round++) {
      const again = onTop(tip, [file('a', `again ${round}`)]);
      await store.prepare(again);
      isRefused = true;
      await expect(store.commit(again)).rejects.toMatchObject({ code: 'STORAGE_IO' });
      isRefused = false;
      tip = await store.commit(again);
    }
    expect((await store.tree(tip)).size).toBe(1);
  });
});
