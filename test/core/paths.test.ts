import { describe, expect, it } from '@jest/globals';
import { SmithyError } from '../../src/core/errors.js';
import { toPath } from '../../src/core/paths.js';

const refusal = (given: string): string => {
  try {
    toPath(given, '/p');
    return 'accepted';
  } catch (error) {
    return SmithyError.from(error).code;
  }
};

describe('a path given by a caller', () => {
  it.each([
    ['a/b.ts', 'a/b.ts'],
    ['./a//b/./c', 'a/b/c'],
    ['/p/src/x', 'src/x'],
    ['-rf', '-rf'],
    [':(glob)x', ':(glob)x'],
    ['..a/b..', '..a/b..'],
    ['.github/workflows/ci.yml', '.github/workflows/ci.yml'],
  ])('%s is read as %s', (given, path) => {
    expect(toPath(given, '/p')).toBe(path);
  });

  it.each(['../x', 'a/../../x', '/etc/passwd', '/px/y', '', '.', '/p', '/p/', 'a\0b'])(
    '%j is outside the root',
    (given) => {
      expect(refusal(given)).toBe('PATH_OUTSIDE_ROOT');
    },
  );

  it.each([
    '.git/config',
    'sub/.git/HEAD',
    '.GIT/x',
    '.git./x',
    'GIT~1/x',
    '.g\u200cit/x',
    '.agentsmithy/run/token',
  ])('%j is protected', (given) => {
    expect(refusal(given)).toBe('PATH_PROTECTED');
  });
});
