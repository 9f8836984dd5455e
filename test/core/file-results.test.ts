import { describe, expect, it } from '@jest/globals';
import { actionOf, toResults } from '../../src/core/file-results.js';
import type { Hash, Path } from '../../src/core/model.js';
import type { FileState } from '../../src/core/watching.js';

const state = (digit: string, mode: FileState['mode'] = '100644'): FileState => {
  return { hash: digit.repeat(40) as Hash, mode };
};
const span = (path: string, before: FileState | null, after: FileState | null) => {
  return { path: path as Path, before, after };
};

describe('what became of files', () => {
  it('is told apart, in path order', () => {
    const results = toResults([
      span('d', state('1'), state('1')),
      span('c', state('1'), state('2')),
      span('b', state('3'), null),
      span('a', null, state('4')),
    ]);
    expect(results.map(({ path, change }) => `${path} ${change}`)).toEqual([
      'a created',
      'b deleted',
      'c modified',
      'd unchanged',
    ]);
  });

  it('joins a file that left one path for another', () => {
    const results = toResults([
      span('old/a', state('1'), null),
      span('b', null, state('1')),
      span('c', null, state('1')),
    ]);
    expect(results).toEqual([
      { path: 'b', from: 'old/a', change: 'renamed', before: state('1'), after: state('1') },
      { path: 'c', change: 'created', before: null, after: state('1') },
    ]);
  });

  it('joins the first by path when several had the same content, whatever was touched first', () => {
    const results = toResults([
      span('z', null, state('1')),
      span('b', state('1'), null),
      span('a', state('1'), null),
    ]);
    expect(results.map(({ path, from, change }) => [path, from, change])).toEqual([
      ['b', undefined, 'deleted'],
      ['z', 'a', 'renamed'],
    ]);
  });

  it('prefers the file of the same name among equal ones', () => {
    const results = toResults([
      span('a/one', state('1'), null),
      span('a/two', state('1'), null),
      span('b/two', null, state('1')),
      span('b/zero', null, state('1')),
    ]);
    expect(results.map(({ path, from }) => [path, from])).toEqual([
      ['b/two', 'a/two'],
      ['b/zero', 'a/one'],
    ]);
  });

  it('takes no link for a file that holds its target', () => {
    const results = toResults([
      span('a', state('1', '120000'), null),
      span('b', null, state('1', '100644')),
    ]);
    expect(results.map(({ change }) => change)).toEqual(['deleted', 'created']);
  });

  it('takes no empty file for another', () => {
    const empty: FileState = {
      hash: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391' as Hash,
      mode: '100644',
    };
    const results = toResults([span('a', empty, null), span('b', null, empty)]);
    expect(results.map(({ change }) => change)).toEqual(['deleted', 'created']);
  });
});

describe('the name of an action', () => {
  const one = (before: FileState | null, after: FileState | null) => {
    const [result] = toResults([span('f', before, after)]);
    if (result === undefined) throw new Error('no result');
    return result;
  };
  const modified = one(state('1'), state('2'));

  it.each([
    ['file_create', one(null, state('1')), 'edit_insert'],
    ['file_delete', one(state('1'), null), 'edit_delete'],
    ['edit_insert', modified, 'edit_insert'],
    ['edit_delete', modified, 'edit_delete'],
    ['edit_replace', modified, 'edit_replace'],
    ['mode_change', one(state('1'), state('1', '100755')), 'edit_replace'],
  ] as const)('is %s', (action, result, lines) => {
    expect(actionOf(result, lines)).toBe(action);
  });

  it('tells a new name from a new place', () => {
    const renamed = { ...modified, change: 'renamed' } as const;
    const path = (text: string): Path => text as Path;
    expect(actionOf({ ...renamed, path: path('x/b'), from: path('x/a') }, 'edit_replace')).toBe(
      'file_rename',
    );
    expect(actionOf({ ...renamed, path: path('y/a'), from: path('x/a') }, 'edit_replace')).toBe(
      'file_move',
    );
  });
});
