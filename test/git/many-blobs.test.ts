import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CommitId, Path } from '../../src/core/model.js';
import type { FileChange } from '../../src/core/store.js';
import type * as Stores from '../../src/git/store.js';
import { file, git, hashOf, onTop, openStore, temporaryFolder } from './helpers.js';

// Threads run what was built; from source there is nothing to start them with.
const BUILT = '../../dist/git/store.js';
const { createStore } = (await import(BUILT)) as typeof Stores;

const MANY = 2_500;
const textOf = (number: number): string => `line ${number}\n`.repeat(1 + (number % 90));

function many(more: Readonly<Record<number, FileChange>> = {}): FileChange[] {
  return Array.from(
    { length: MANY },
    (_, number) => more[number] ?? file(`d${number % 30}/f${number}`, textOf(number)),
  );
}

function open(state = join(temporaryFolder(), '.agentsmithy')) {
  return openStore({}, state, createStore);
}

/** Git's own child has one of another name. */
function unfinished(state: string): string[] {
  const names = readdirSync(join(state, 'store/objects/pack'));
  return names.filter((name) => /^tmp_(pack|idx)_many/u.test(name));
}

/** What git's own hands make of the files. */
function expected(changes: readonly FileChange[]): string {
  const lines = changes.flatMap((one) =>
    'hash' in one ? [`${one.mode} blob ${one.hash}\t${one.path}`] : [],
  );
  return lines
    .sort((a, b) => ((a.split('\t')[1] ?? '') < (b.split('\t')[1] ?? '') ? -1 : 1))
    .join('\n');
}

describe('very many contents in one commit', () => {
  it('are what git finds in it, equal, empty and large ones among them', async () => {
    const { store, checkpoints, state } = await open();
    const changes = many({
      7: file('empty', ''),
      8: file('twice/a', 'the same'),
      9: file('twice/b', 'the same'),
      10: file('large', Buffer.alloc(3 * 1024 * 1024, 'abc ')),
      11: file('program', '#!/bin/sh\n', '100755'),
      12: file('link', 'where/it/leads', '120000'),
    });
    const told: number[] = [];
    await store.commit(onTop(null, changes, { onProgress: (done) => told.push(done) }));
    const tree = git(checkpoints, 'ls-tree', '-r', '-z', 'session_1').replaceAll('\0', '\n').trim();
    expect(tree.split('\n').sort().join('\n')).toBe(
      expected(changes).split('\n').sort().join('\n'),
    );
    expect(git(checkpoints, 'show', 'session_1:d20/f50')).toBe(textOf(50));
    expect(told.length).toBeGreaterThan(MANY / 2);
    expect(unfinished(state)).toEqual([]);
  });

  it('one of which is not what it was called are refused by its path, and go on without it', async () => {
    const { store, checkpoints, state } = await open();
    let reads = 0;
    const counted = many().map((one) => {
      const { content } = one as unknown as { content: () => Buffer };
      return { ...one, content: () => ((reads += 1), content()) };
    });
    const wrong = { ...file('changed', 'old'), content: () => Buffer.from('new') } as FileChange;
    const given = [...counted.slice(0, 2_000), wrong, ...counted.slice(2_000)];
    const refused = store.commit(onTop(null, given));
    await expect(refused).rejects.toMatchObject({
      code: 'STALE_READ',
      data: { path: 'changed', expected: hashOf('old') },
    });
    expect(unfinished(state)).toEqual([]);
    const before = reads;
    await store.commit(onTop(null, counted));
    expect(
      git(checkpoints, 'ls-tree', '-r', '--name-only', 'session_1').trim().split('\n'),
    ).toHaveLength(MANY);
    // What was packed before is not read again.
    expect(reads - before).toBeLessThan(MANY / 2);
  });

  it('one of which cannot be read are refused with its reason, and nothing is left of them', async () => {
    const { store, state } = await open();
    const broken = {
      ...{ path: 'broken' as Path, mode: '100644' as const, hash: hashOf('x'), size: 1 },
      content: () => Promise.reject(new Error('the disk says no')),
    };
    await expect(store.commit(onTop(null, many({ 1_500: broken })))).rejects.toThrow(
      'the disk says no',
    );
    expect(unfinished(state)).toEqual([]);
    const next: CommitId = await store.commit(onTop(null, [file('a', '1')]));
    expect(next).toMatch(/^[0-9a-f]{40}$/u);
  });

  it('are read where they are said to be, and by their owner where something else is there', async () => {
    const { store, checkpoints, state } = await open();
    const folder = temporaryFolder();
    const asked = new Set<number>();
    const changes = Array.from({ length: MANY }, (_, number) => {
      const place = join(folder, `f${number}`);
      const content = () => (asked.add(number), Buffer.from(textOf(number)));
      return { ...file(`f${number}`, textOf(number)), content, place };
    });
    const OTHERS = new Map<number, (place: string) => void>([
      [3, (place) => writeFileSync(place, 'other')],
      [4, (place) => writeFileSync(place, `${textOf(4)}and more`)],
      [5, () => undefined],
      [6, (place) => mkdirSync(place)],
      [7, (place) => symlinkSync(join(folder, 'f8'), place)],
      [9, (place) => execFileSync('mkfifo', [place])],
    ]);
    for (let number = 0; number < MANY; number++) {
      const place = join(folder, `f${number}`);
      (OTHERS.get(number) ?? (() => writeFileSync(place, textOf(number))))(place);
    }
    await store.commit(onTop(null, changes));
    expect(asked).toEqual(new Set(OTHERS.keys()));
    const tree = git(checkpoints, 'ls-tree', '-r', 'session_1').trim();
    expect(tree.split('\n').sort()).toEqual(expected(changes).split('\n').sort());
    expect(unfinished(state)).toEqual([]);
  });

  it('are found by another process right after the answer', async () => {
    const { store, state } = await open();
    await store.commit(onTop(null, many()));
    await store.close();
    const { store: other } = await open(state);
    expect((await other.readBlob(hashOf(textOf(77)))).toString()).toBe(textOf(77));
  });
});
