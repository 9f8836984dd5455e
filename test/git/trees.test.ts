import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import type { Hash, Path } from '../../src/core/model.js';
import type { FileChange } from '../../src/core/store.js';
import { createTrees } from '../../src/git/new-trees.js';
import { EMPTY_TREE, placesOf } from '../../src/git/tree-bytes.js';
import { Random } from '../support/random.js';
import { git, temporaryFolder } from './helpers.js';

const MODES = ['100644', '100755', '120000'] as const;
/** Names that sort otherwise as folders than as files, and bytes beyond ASCII. */
const NAMES = ['a', 'a-b', 'a.b', 'a0', 'ab', 'A', '~', 'ü', '日', 'z'];

/** Trees in memory only: what `take` got is what can be read. */
function memory() {
  const stored = new Map<string, Buffer>();
  const trees = createTrees({
    read: (id) => {
      const bytes = stored.get(id);
      return Promise.resolve(bytes && { type: 'tree', size: bytes.length, bytes });
    },
  });
  const edit = (base: string | undefined, changes: readonly FileChange[]): Promise<string> =>
    trees.edit(base, changes, (id, bytes) => {
      stored.set(id, bytes);
      return Promise.resolve();
    });
  return { stored, edit };
}

const put = (path: string, content: string, mode: (typeof MODES)[number] = '100644') => ({
  path: path as Path,
  mode,
  hash: createHash('sha1').update(content).digest('hex') as Hash,
});
const gone = (path: string) => ({ path: path as Path, deleted: true }) as const;

/** What git's own index makes of these files. */
function treeByGit(folder: string, files: ReadonlyMap<string, ReturnType<typeof put>>): string {
  git(folder, 'read-tree', '--empty');
  const lines = [...files.values()].map(({ mode, hash, path }) => `${mode} ${hash}\t${path}\0`);
  execFileSync('git', ['update-index', '-z', '--index-info'], {
    cwd: folder,
    input: lines.join(''),
  });
  return git(folder, 'write-tree', '--missing-ok').trim();
}

describe('trees', () => {
  it.each([1, 2, 3, 4])('are those of git after any changes, seed %i', async (seed) => {
    const random = new Random(seed);
    const folder = temporaryFolder();
    git(folder, 'init', '-q');
    const { edit } = memory();
    const files = new Map<string, ReturnType<typeof put>>();
    let tree: string | undefined;
    for (let round = 0; round < 25; round++) {
      const changes: FileChange[] = [];
      for (let count = 0; count <= random.below(12); count++) {
        const path = Array.from({ length: 1 + random.below(4) }, () => random.pick(NAMES)).join(
          '/',
        );
        if (changes.some((one) => isBeside(one.path, path))) continue;
        // What stands in the way of a file is deleted first, as the watcher tells it.
        const inTheWay = [...files.keys()].filter((other) => isBeside(other, path));
        inTheWay.forEach((other) => files.delete(other));
        changes.push(...inTheWay.map(gone));
        if (random.below(3) === 0) continue;
        const change = put(path, `${seed} ${round} ${count}`, random.pick(MODES));
        files.set(path, change);
        changes.push(change);
      }
      tree = await edit(tree, changes);
      expect(tree).toBe(treeByGit(folder, files));
    }
    const all = [...files.keys()].map(gone);
    expect(await edit(tree, all)).toBe(EMPTY_TREE);
  });

  it('cost what lies on the way to a change, not what lies beside it', async () => {
    const { stored, edit } = memory();
    const many = Array.from({ length: 1_000 }, (_, n) => put(`d${n}/e/file`, `${n}`));
    const tree = await edit(undefined, many);
    const before = stored.size;
    const next = await edit(tree, [put('d7/e/file', 'other')]);
    expect(next).not.toBe(tree);
    expect(stored.size - before).toBe(3);
    expect(await edit(next, [put('d7/e/file', '7')])).toBe(tree);
  });

  it('that are missing or no trees are refused, not taken for empty', async () => {
    const { edit } = memory();
    await expect(edit('1'.repeat(40), [put('a', '1')])).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
    });
    for (const torn of ['100644', '100644 a', '100644 a\0short']) {
      expect(() => [...placesOf(Buffer.from(torn))]).toThrow(/not in the store/u);
    }
  });
});

/** The same, or one would be a folder of the other. */
function isBeside(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}
