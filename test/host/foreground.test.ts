import { describe, expect, it } from '@jest/globals';
import { isForegroundStat } from '../../src/host/foreground.js';

/** `/proc/PID/stat` up to the fields that matter: group, session, terminal, its foreground group. */
const stat = (fields: string, name = 'node'): string => `100 (${name}) S 99 ${fields} 4194304 1 2`;

describe('who gets the signals of keys', () => {
  it.each([
    ['the foreground group of a terminal', stat('100 90 34816 100'), true],
    ['a group in the background', stat('100 90 34816 77'), false],
    ['nobody without a terminal', stat('100 90 0 -1'), false],
    ['a process, whatever its name looks like', stat('100 90 34816 100', 'a) S 1 (b'), true],
  ])('%s', (_, text, expected) => {
    expect(isForegroundStat(text)).toBe(expected);
  });
});
