import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { safeEnvironment } from '../../src/core/environment.js';

const ROOT = '/home/me/project';
const pathOf = (path: string): string | undefined => safeEnvironment({ PATH: path }, ROOT)['PATH'];

describe('the environment of the daemon', () => {
  it('keeps what programs need', () => {
    const needed = {
      PATH: '/bin',
      HOME: '/home/ann',
      LANG: 'C',
      TZ: 'UTC',
      XDG_RUNTIME_DIR: '/run/user/1',
    };
    expect(safeEnvironment(needed, ROOT)).toEqual(needed);
  });

  it.each([
    'NODE_OPTIONS',
    'NODE_PATH',
    'GIT_DIR',
    'GIT_SSH_COMMAND',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'DYLD_INSERT_LIBRARIES',
    'BASH_ENV',
    'HTTPS_PROXY',
    'AWS_SECRET_ACCESS_KEY',
    '__proto__',
  ])('does not know %s', (name) => {
    const from = Object.fromEntries([
      [name, 'x'],
      ['HOME', '/home/ann'],
    ]);
    expect(Object.keys(safeEnvironment(from, ROOT))).toEqual(['HOME']);
  });

  it('finds no program inside the project or beside the caller', () => {
    expect(pathOf(`.:bin::${ROOT}:${ROOT}/bin:/usr/bin:../x:/home/me/project2`)).toBe(
      '/usr/bin:/home/me/project2',
    );
  });

  it.each([
    `${ROOT}/`,
    '/home/me//project/bin',
    '/home/me/other/../project/bin',
    '/home/me/./project',
  ])('finds none inside it however %s is spelled', (entry) => {
    expect(pathOf(`${entry}:/usr/bin`)).toBe('/usr/bin');
  });

  it('is never more than what it was made from', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (from) => {
        for (const [name, value] of Object.entries(safeEnvironment(from, ROOT))) {
          expect(from[name]?.includes(value)).toBe(true);
        }
      }),
    );
  });
});
