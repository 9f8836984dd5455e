import { describe, expect, it } from '@jest/globals';
import { createPathMatch, literalPattern } from '../../src/core/path-match.js';

describe('the pattern of one path', () => {
  it.each(['a b ', 'x\nbuild.log', 'a\r', '!a', '#a', 'a[b]*?\\', 'd/\n/e'])(
    'matches %j',
    (path) => {
      const isMatched = createPathMatch([literalPattern(path)]);
      expect(isMatched(path)).toBe(true);
      for (const part of [...path.split('\n'), 'build.log', 'x', 'a', 'd']) {
        expect({ part, isMatched: isMatched(part) && part !== path }).toEqual({
          part,
          isMatched: false,
        });
      }
    },
  );
});
