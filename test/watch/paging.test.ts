import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { entriesAfter } from '../../src/watch/known/paging.js';
import { type Folder, KnownTree, Leaf } from '../../src/watch/known/tree.js';

/** A tree with these files; a path that another one needs as a folder is left out. */
function treeOf(paths: readonly string[]): KnownTree {
  const tree = new KnownTree();
  for (const path of paths) {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    let folder: Folder | undefined = tree.root;
    for (const part of parts) {
      const child: Leaf | Folder | undefined = folder?.children.get(part);
      if (folder === undefined || child instanceof Leaf) folder = undefined;
      else folder = child ?? tree.addFolder(folder, part);
    }
    if (folder === undefined || folder.children.has(name)) continue;
    const leaf = new Leaf();
    leaf.hash = 'a'.repeat(40);
    folder.children.set(name, leaf);
  }
  return tree;
}

const names = fc.constantFrom('a', 'a.b', 'a-', 'a0', 'b', 'é', 'l\u0301', '\u{1F600}', '\uFFFD');
const paths = fc.array(names, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const sorted = (tree: KnownTree): string[] =>
  [...tree.entries()].map(({ path }): string => path).sort((a, b) => (a < b ? -1 : 1));

describe('known entries, page by page', () => {
  it('come in path order, beginning after any given path', () => {
    fc.assert(
      fc.property(
        fc.array(paths, { maxLength: 60 }),
        fc.oneof(paths, fc.string()),
        (all, after) => {
          const tree = treeOf(all);
          const expected = sorted(tree).filter((path) => path > after);
          expect([...entriesAfter(tree, after)].map(({ path }): string => path)).toEqual(expected);
        },
      ),
    );
  });

  it('leave out what has no known content', () => {
    const tree = treeOf(['a', 'b/c']);
    tree.root.children.set('unknown', new Leaf());
    expect([...entriesAfter(tree, '')].map(({ path }): string => path)).toEqual(['a', 'b/c']);
  });

  it('do not cost the folders that are not reached', () => {
    const tree = treeOf(['a/1', 'b/1', 'c/1']);
    const far = tree.folders.get('c');
    if (far === undefined) throw new Error('the folder is missing');
    Object.defineProperty(far, 'children', {
      get: () => {
        throw new Error('looked into a folder beyond the page');
      },
    });
    const taken: string[] = [];
    const take = (): void => {
      for (const { path } of entriesAfter(tree, 'a/1')) taken.push(path);
    };
    expect(take).toThrow('beyond the page');
    expect(taken).toEqual(['b/1']);
  });
});
