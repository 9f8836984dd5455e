import { describe, expect, it } from '@jest/globals';
import { refuseBroadRoot, type RootFacts } from '../../src/core/broad-roots.js';

const FACTS = { home: '/home/ann', temporary: '/tmp', owner: 1000, user: 1000 };
const refusal = (facts: Partial<RootFacts> & { root: string }): string => {
  try {
    refuseBroadRoot({ ...FACTS, ...facts });
    return 'accepted';
  } catch (error) {
    return error instanceof Error ? error.message : 'not an error';
  }
};

describe('a project root', () => {
  it.each(['/home/ann/project', '/home/anna', '/srv/project', '/tmp/x', '/var/tmp/x', '/homes'])(
    '%s is accepted',
    (root) => {
      expect(refusal({ root })).toBe('accepted');
    },
  );

  it.each([
    ['/home/ann', 'home directory'],
    ['/home', 'contains your home'],
    ['/', 'contains your home'],
    ['/tmp', 'system folder'],
    ['/etc', 'system folder'],
    ['/usr/local', 'system folder'],
    ['C:\\', 'system folder'],
  ])('%s is refused: %s', (root, why) => {
    expect(refusal({ root })).toContain(why);
  });

  it('is refused when it is the folder for temporary files, wherever that is', () => {
    expect(refusal({ root: '/data/scratch', temporary: '/data/scratch' })).toContain('temporary');
  });

  it('is refused when it belongs to another user', () => {
    expect(refusal({ root: '/srv/project', owner: 0 })).toContain('another user (0; you are 1000)');
  });

  it('is accepted where the system knows no owners', () => {
    expect(refusal({ root: '/srv/project', owner: undefined, user: undefined })).toBe('accepted');
  });
});
