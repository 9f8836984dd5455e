import { describe, expect, it } from '@jest/globals';
import { KnownState } from '../../src/core/known-state.js';
import type { Hash, Path } from '../../src/core/model.js';
import type { FileState } from '../../src/core/watching.js';

const a = 'a' as Path;
const state = (digit: string): FileState => ({ hash: digit.repeat(40) as Hash, mode: '100644' });

function onDisk(content: Record<string, FileState | undefined>) {
  return { content, known: new KnownState((path) => content[path]) };
}

describe('the known state', () => {
  it('is the disk where nothing is in doubt', () => {
    const { known } = onDisk({ a: state('1') });
    expect(known.expected(a)).toEqual(state('1'));
    expect(known.expected('b' as Path)).toBeNull();
    expect(known.list()).toEqual([]);
  });

  it('stays what it was before the first of several changes', () => {
    const { content, known } = onDisk({ a: state('2') });
    known.note({ path: a, before: state('1'), origin: 'live' });
    content['a'] = state('3');
    known.note({ path: a, before: state('2'), origin: 'git' });
    expect(known.get(a)).toEqual({
      path: a,
      expected: state('1'),
      actual: state('3'),
      origin: 'git',
    });
  });

  it('is in no doubt once the content is back', () => {
    const { content, known } = onDisk({ a: state('2') });
    known.note({ path: a, before: state('1'), origin: 'live' });
    content['a'] = state('1');
    known.note({ path: a, before: state('2'), origin: 'live' });
    expect(known.list()).toEqual([]);
  });

  it('is in no doubt either when nobody was told that the content is back', () => {
    const { content, known } = onDisk({ a: state('2') });
    known.note({ path: a, before: state('1'), origin: 'live' });
    content['a'] = state('1');
    expect(known.get(a)).toBeUndefined();
    expect(known.list()).toEqual([]);
  });

  it('tells a change of mode from none', () => {
    const { known } = onDisk({ a: { ...state('1'), mode: '100755' } });
    expect(known.explain(a, state('1'))).toBe(false);
    expect(known.get(a)?.expected).toEqual(state('1'));
  });

  it('knows that a file should not be there', () => {
    const { content, known } = onDisk({ a: state('1') });
    expect(known.explain(a, null)).toBe(false);
    expect(known.expected(a)).toBeNull();
    content['a'] = undefined;
    expect(known.explain(a, null)).toBe(true);
    expect(known.list()).toEqual([]);
  });

  it('expects nothing of a path it was told to forget', () => {
    const { known } = onDisk({ a: state('2') });
    known.note({ path: a, before: state('1'), origin: 'live' });
    known.forget(a);
    expect(known.get(a)).toBeUndefined();
    expect(known.expected(a)).toEqual(state('2'));
  });
});
