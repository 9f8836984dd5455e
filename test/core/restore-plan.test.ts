import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Hash, Path } from '../../src/core/model.js';
import { foldersAbove, planRestore } from '../../src/core/restore-plan.js';
import type { Difference, Entry, PlanInput, Step } from '../../src/core/restore-plan.js';
import type { FileMode } from '../../src/core/watching.js';

const path = (text: string) => text as Path;
const entry = (hash: string, mode: FileMode = '100644'): Entry => ({ mode, hash: hash as Hash });

/** `'-a b>'`: path, then what it was and what it becomes; one letter of content, `!` exec, `@` link. */
function difference(text: string): Difference {
  const [name = '', from = '', to = ''] = text.split(' ');
  const side = (word: string): Entry | null => {
    if (word === '-') return null;
    if (word.endsWith('!')) return entry(word.slice(0, -1), '100755');
    return word.endsWith('@') ? entry(word.slice(0, -1), '120000') : entry(word);
  };
  return { path: path(name), from: side(from), to: side(to) };
}

function order(differences: string[], more: Omit<PlanInput, 'differences'> = {}): string[] {
  const { steps } = planRestore({ differences: differences.map(difference), ...more });
  return steps.map((step) => `${step.kind} ${step.path}`);
}

describe('the plan of a restore', () => {
  it('writes first and deletes last', () => {
    expect(order(['a x -', 'b x y', 'c - y', 'd x -'])).toEqual([
      'write b',
      'write c',
      'delete a',
      'delete d',
    ]);
  });

  it('has no step for what is equal', () => {
    expect(order(['a x x', 'b - -', 'c x! x!'])).toEqual([]);
  });

  it('changes only the mode when only the executable bit differs', () => {
    expect(order(['a x x!', 'b x! x', 'c x x@', 'd x@ x'])).toEqual([
      'chmod a',
      'chmod b',
      'write c',
      'write d',
    ]);
  });

  it('takes a file away right before the first write that needs a folder there', () => {
    expect(order(['a x -', 'a/b - y', 'a/c/d - y', 'z x -', '0 - y'])).toEqual([
      'write 0',
      'delete a',
      'write a/b',
      'write a/c/d',
      'delete z',
    ]);
  });

  it('empties a folder right before the write of a file in its place', () => {
    expect(order(['a - y', 'a/b x -', 'a/c/d x -', 'z - y'])).toEqual([
      'delete a/b',
      'delete a/c/d',
      'remove_folder a/c',
      'remove_folder a',
      'write a',
      'write z',
    ]);
  });

  it('removes emptied folders after everything else, the deepest first', () => {
    expect(order(['a/b/c x -', 'a/d - y', 'e/f x -'])).toEqual([
      'write a/d',
      'delete a/b/c',
      'delete e/f',
      'remove_folder e',
      'remove_folder a/b',
    ]);
  });

  it('makes wanted empty folders, keeps those that empty out, removes those no longer wanted', () => {
    const emptyFolders = { wanted: [path('new/in'), path('kept')], present: [path('old/in')] };
    expect(order(['kept/x x -', 'new x -'], { emptyFolders })).toEqual([
      'make_folder kept',
      'delete new',
      'make_folder new/in',
      'delete kept/x',
      'remove_folder old/in',
      'remove_folder old',
    ]);
  });

  it('takes the old spelling away before it writes the new one of a case-only rename', () => {
    expect(order(['Name x -', 'name - x'])).toEqual(['delete Name', 'write name']);
  });

  it('keeps to the chosen files and folders', () => {
    const chosen = [path('a'), path('b/c')];
    expect(
      order(['a/x - y', 'ab - y', 'b/c - y', 'b/d - y', 'a/z x -'], { paths: chosen }),
    ).toEqual(['write a/x', 'write b/c', 'delete a/z']);
  });

  it('does not take away an obstacle that was not chosen', () => {
    expect(order(['a x -', 'a/b - y'], { paths: [path('a/b')] })).toEqual(['write a/b']);
  });

  it('carries what it expects to find', () => {
    expect(planRestore({ differences: [difference('a x y!')] }).steps).toEqual([
      { kind: 'write', path: 'a', mode: '100755', hash: 'y', expect: entry('x') },
    ]);
  });
});

type Tree = ReadonlyMap<Path, Entry>;
interface Side {
  readonly files: Tree;
  readonly empty: readonly Path[];
}

const name = fc.constantFrom('a', 'b', 'c', 'A');
const anyPath = fc
  .array(name, { minLength: 1, maxLength: 4 })
  .map((parts) => path(parts.join('/')));
const anyEntry = fc.record({
  mode: fc.constantFrom<FileMode>('100644', '100755', '120000'),
  hash: fc.constantFrom('x', 'y', 'z').map((hash) => hash as Hash),
});
const anySide: fc.Arbitrary<Side> = fc
  .record({
    files: fc.array(fc.tuple(anyPath, anyEntry), { maxLength: 12 }),
    empty: fc.array(anyPath, { maxLength: 4 }),
  })
  .map(toSide);

/** Leaves out whatever contradicts what came before, so that the rest is a possible tree. */
function toSide(drawn: { files: [Path, Entry][]; empty: Path[] }): Side {
  const files = new Map<Path, Entry>();
  const folders = new Set<Path>();
  const fits = (at: Path) => !files.has(at) && !foldersAbove(at).some((up) => files.has(up));
  for (const [at, what] of drawn.files) {
    if (!fits(at) || folders.has(at)) continue;
    files.set(at, what);
    foldersAbove(at).forEach((folder) => folders.add(folder));
  }
  const empty = [...new Set(drawn.empty)].filter((at) => fits(at) && !folders.has(at));
  return { files, empty: empty.filter((at) => !empty.some((below) => below.startsWith(`${at}/`))) };
}

function differencesOf(from: Tree, to: Tree): Difference[] {
  return [...new Set([...from.keys(), ...to.keys()])].map((at) => ({
    path: at,
    from: from.get(at) ?? null,
    to: to.get(at) ?? null,
  }));
}

/** A disk that refuses what a real one refuses. */
function createModel({ files, empty }: Side) {
  const present = new Map(files);
  const folders = new Set<Path>(empty);
  for (const at of [...files.keys(), ...empty]) foldersAbove(at).forEach((up) => folders.add(up));
  const makeFolders = (list: Path[]) => {
    for (const folder of list) {
      if (present.has(folder)) throw new Error(`${folder} is a file`);
      folders.add(folder);
    }
  };
  const isEmpty = (folder: Path) =>
    ![...present.keys(), ...folders].some((at) => at.startsWith(`${folder}/`));
  const expectEntry = (at: Path, expected: Entry | null) => {
    expect(present.get(at) ?? null).toEqual(expected);
  };
  const run = (step: Step) => {
    switch (step.kind) {
      case 'write':
      case 'chmod':
        expectEntry(step.path, step.expect);
        makeFolders(foldersAbove(step.path));
        if (folders.has(step.path)) throw new Error(`${step.path} is a folder`);
        if (step.kind === 'chmod') expect(present.get(step.path)?.hash).toBe(step.hash);
        present.set(step.path, { mode: step.mode, hash: step.hash });
        return;
      case 'delete':
        expectEntry(step.path, step.expect);
        present.delete(step.path);
        return;
      case 'make_folder':
        makeFolders([step.path, ...foldersAbove(step.path)]);
        return;
      case 'remove_folder':
        if (isEmpty(step.path)) folders.delete(step.path);
        return;
    }
  };
  return { run, present, folders };
}

describe('any restore', () => {
  it('turns the present tree into the target tree, in steps a disk accepts', () => {
    fc.assert(
      fc.property(anySide, anySide, (now, target) => {
        const { steps } = planRestore({
          differences: differencesOf(now.files, target.files),
          emptyFolders: { wanted: target.empty, present: now.empty },
        });
        const model = createModel(now);
        steps.forEach(model.run);
        const wished = createModel(target);
        expect(model.present).toEqual(wished.present);
        expect([...model.folders].sort()).toEqual([...wished.folders].sort());
      }),
      { numRuns: 3000 },
    );
  });

  it('names every differing path once and no other', () => {
    fc.assert(
      fc.property(anySide, anySide, (now, target) => {
        const differences = differencesOf(now.files, target.files);
        const { steps } = planRestore({ differences });
        const touched = steps.filter(({ kind }) => !kind.endsWith('_folder')).map((s) => s.path);
        const differing = differences
          .filter(({ from, to }) => from?.hash !== to?.hash || from?.mode !== to?.mode)
          .map((one) => one.path);
        expect(touched.sort()).toEqual(differing.sort());
      }),
      { numRuns: 1000 },
    );
  });

  it('deletes nothing before the last write that it is not in the way of', () => {
    fc.assert(
      fc.property(anySide, anySide, (now, target) => {
        const { steps } = planRestore({ differences: differencesOf(now.files, target.files) });
        const last = steps.findLastIndex(({ kind }) => kind === 'write' || kind === 'chmod');
        const writes = steps.filter(({ kind }) => kind === 'write').map((step) => step.path);
        const early = steps.slice(0, Math.max(last, 0)).filter(({ kind }) => kind === 'delete');
        for (const { path: gone } of early) {
          const hinders = writes.some(
            (written) =>
              written.startsWith(`${gone}/`) ||
              gone.startsWith(`${written}/`) ||
              written.toLowerCase() === gone.toLowerCase(),
          );
          expect(hinders).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('touches no file outside the chosen paths', () => {
    fc.assert(
      fc.property(anySide, anySide, fc.array(anyPath, { maxLength: 3 }), (now, target, paths) => {
        const differences = differencesOf(now.files, target.files);
        const { steps } = planRestore({ differences, paths });
        const files = steps.filter(({ kind }) => !kind.endsWith('_folder'));
        for (const { path: at } of files) {
          expect([at, ...foldersAbove(at)].some((up) => paths.includes(up))).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
