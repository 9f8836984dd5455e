import { describe, expect, it } from '@jest/globals';
import { PendingChanges } from '../../src/core/coalesce.js';
import type { Hash, Path } from '../../src/core/model.js';
import type { Stamp } from '../../src/core/stamp.js';
import { Keeper } from '../../src/watch/known/keeper.js';
import { type Folder, KnownTree } from '../../src/watch/known/tree.js';
import { Visit } from '../../src/watch/scan/visit.js';
import { Random } from '../support/random.js';

const STAMP: Stamp = { mtimeMs: 1, ctimeMs: 1, size: 1, ino: 1, mode: 0o100644, nlink: 1 };
/** More than are told of at once. */
const MANY = 1_500;

function project() {
  const tree = new KnownTree();
  const pending = new PendingChanges();
  const visits = new Set<Visit>();
  const visit = new Visit(visits, 'live');
  let turns = 0;
  const keeper = new Keeper({
    tree,
    noted: (step) => {
      if (step.origin !== undefined) pending.add({ ...step, origin: step.origin, echo: false });
    },
    untracked: (path, last) => pending.addUntracked(path, last),
    rootIsHere: () => true,
    unwatch: () => undefined,
    hasLeft: () => (turns += 1),
  });
  const write = (folder: Folder, name: string, hash: string) => {
    const known = tree.leaf(folder.childPath(name));
    const leaf = known ?? keeper.addLeaf(folder, name);
    keeper.learn({ folder, name, leaf, origin: 'live' }, { hash, stamp: STAMP, racy: false });
  };
  const fill = (name: string, hash: string) => {
    const folder = tree.addFolder(tree.root, name);
    for (let index = 0; index < MANY; index += 1) write(folder, `f${index}`, hash);
    return folder;
  };
  return { tree, pending, visits, visit, keeper, write, fill, turns: () => turns };
}

function after(count: number): () => boolean {
  return () => (count -= 1) < 0;
}

describe('a large folder that is gone', () => {
  it('is unknown at once, and its files are told of in parts', () => {
    const { tree, pending, visits, visit, keeper, fill, turns } = project();
    fill('big', '1');
    pending.take();

    keeper.remove(tree.root, 'big', visit);

    expect(tree.leaf('big/f0')).toBeUndefined();
    expect([...tree.entries()]).toEqual([]);
    expect(turns()).toBe(1);
    expect(pending.size).toBeLessThan(MANY);
    expect(visits.has(visit)).toBe(true);
    expect(keeper.tellOfLeft(after(10))).toBe(false);
    expect(keeper.tellOfLeft(() => false)).toBe(true);
    expect(visits.has(visit)).toBe(false);
    expect(pending.take().changes).toHaveLength(MANY);
    expect(tree.files).toBe(0);
  });

  it('has lost its files before any of them is there again', () => {
    const { tree, pending, visit, keeper, fill } = project();
    fill('big', '1');
    pending.take();

    keeper.remove(tree.root, 'big', visit);
    fill('big', '2');
    keeper.tellOfLeft(() => false);

    const { changes } = pending.take();
    expect(changes).toHaveLength(MANY);
    expect(new Set(changes.map(({ change, before }) => `${change} ${before?.hash}`))).toEqual(
      new Set(['modified 1']),
    );
    expect(tree.files).toBe(MANY);
  });

  it('leaves the same differences however the telling is cut up', () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = new Random(seed);
      const { tree, pending, visit, keeper, write, fill } = project();
      fill('a', '0');
      fill('b', '0');
      const told = new Map([...tree.entries()].map(({ path, hash }) => [path, hash]));
      pending.take();
      for (let step = 0; step < 40; step += 1) {
        const name = random.pick(['a', 'b']);
        const folder = tree.folders.get(name) ?? tree.addFolder(tree.root, name);
        const choice = random.below(4);
        if (choice === 0) keeper.remove(tree.root, name, visit);
        if (choice === 1) keeper.tellOfLeft(after(random.below(300)));
        if (choice === 2) write(folder, `f${random.below(MANY)}`, String(random.below(3)));
        if (choice === 3) apply(told, pending.take(random.below(200)));
      }
      keeper.tellOfLeft(() => false);
      apply(told, pending.take());

      expect(told).toEqual(new Map([...tree.entries()].map(({ path, hash }) => [path, hash])));
      expect(tree.files).toBe(told.size);
    }
  });
});

/** What somebody knows who heard of nothing but the batches. */
function apply(told: Map<Path, Hash>, { changes }: ReturnType<PendingChanges['take']>): void {
  for (const { path, before, after: now } of changes) {
    expect(before?.hash).toBe(told.get(path));
    if (now === undefined) told.delete(path);
    else told.set(path, now.hash);
  }
}
