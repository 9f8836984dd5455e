import { describe, expect, it } from '@jest/globals';
import { PendingChanges } from '../../src/core/coalesce.js';
import type { Hash, Path } from '../../src/core/model.js';
import type { FileState } from '../../src/core/watching.js';

const at = 'a.ts' as Path;
const state = (hash: string, mode: FileState['mode'] = '100644'): FileState => ({
  hash: hash as Hash,
  mode,
});

function net(...steps: (readonly [FileState | undefined, FileState | undefined])[]) {
  const pending = new PendingChanges();
  for (const [before, after] of steps) {
    pending.add({ path: at, before, after, origin: 'live', echo: false });
  }
  return pending.take().changes.map(({ change, before, after }) => ({
    change,
    before: before?.hash,
    after: after?.hash,
  }));
}

describe('changes between two batches', () => {
  it('leave no trace of a temp file that came and went', () => {
    expect(net([undefined, state('1')], [state('1'), undefined])).toEqual([]);
  });

  it('show a file replaced by delete and create as one modification', () => {
    expect(net([state('1'), undefined], [undefined, state('2')])).toEqual([
      { change: 'modified', before: '1', after: '2' },
    ]);
  });

  it('show a file written in chunks once, from the first content to the last', () => {
    expect(net([state('1'), state('2')], [state('2'), state('3')])).toEqual([
      { change: 'modified', before: '1', after: '3' },
    ]);
  });

  it('leave out a file that ended as it began', () => {
    expect(net([state('1'), state('2')], [state('2'), state('1')])).toEqual([]);
  });

  it('keep a change of mode alone', () => {
    expect(net([state('1'), state('1', '100755')])).toHaveLength(1);
  });

  it('come in path order, and only once', () => {
    const pending = new PendingChanges();
    for (const path of ['b', 'a', 'a/c'] as Path[]) {
      pending.add({ path, before: undefined, after: state('1'), origin: 'live', echo: false });
    }
    expect(pending.take().changes.map(({ path }) => path)).toEqual(['a', 'a/c', 'b']);
    expect(pending.take().changes).toEqual([]);
  });
});

describe('a path that a rule leaves out', () => {
  it('is no deletion', () => {
    const pending = new PendingChanges();
    pending.addUntracked(at, state('1'));
    expect(pending.take()).toEqual({ changes: [], untracked: [at], more: false });
  });

  it('was never heard of if it appeared in the same batch', () => {
    const pending = new PendingChanges();
    pending.add({ path: at, before: undefined, after: state('1'), origin: 'live', echo: false });
    pending.addUntracked(at, state('1'));
    expect(pending.take()).toEqual({ changes: [], untracked: [], more: false });
  });

  it('is no news when it is let in again with the same content', () => {
    const pending = new PendingChanges();
    pending.addUntracked(at, state('1'));
    pending.add({ path: at, before: undefined, after: state('1'), origin: 'rules', echo: false });
    expect(pending.take()).toEqual({ changes: [], untracked: [], more: false });
  });
});

describe('a large batch', () => {
  it('is told in parts, each path once, and only the last says that it is', () => {
    const pending = new PendingChanges();
    const again = 'e' as Path;
    const paths = [again, ...(['b', 'd', 'a', 'c'] as Path[])];
    for (const path of paths) {
      pending.add({ path, before: undefined, after: state('1'), origin: 'live', echo: false });
    }
    pending.addUntracked('z' as Path, state('1'));

    const first = pending.take(3);
    pending.add({
      path: again,
      before: state('1'),
      after: undefined,
      origin: 'live',
      echo: false,
    });
    const second = pending.take(3);
    const third = pending.take(3);

    expect(first.changes.map(({ path }) => path)).toEqual(['b', 'd', 'e']);
    expect(second.changes.map(({ path, change }) => `${path} ${change}`)).toEqual([
      'a created',
      'c created',
      'e deleted',
    ]);
    expect(third).toEqual({ changes: [], untracked: ['z'], more: false });
    expect([first.more, second.more]).toEqual([true, true]);
  });
});
