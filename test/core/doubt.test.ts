import { describe, expect, it } from '@jest/globals';
import { judgeBeat, looksLikeOverflow, nextScanIn } from '../../src/core/doubt.js';
import { GitOperation } from '../../src/core/git-operation.js';
import { isRacy, sameStamp, type Stamp } from '../../src/core/stamp.js';

const stamp = (over: Partial<Stamp> = {}): Stamp => ({
  mtimeMs: 1000.5,
  ctimeMs: 1000.5,
  size: 3,
  ino: 7,
  mode: 0o100644,
  nlink: 1,
  ...over,
});

describe('a stamp', () => {
  it.each(['mtimeMs', 'ctimeMs', 'size', 'ino', 'mode'] as const)('differs by its %s', (field) => {
    expect(sameStamp(stamp(), stamp({ [field]: 99 }))).toBe(false);
  });

  it('is the same whatever the number of names', () => {
    expect(sameStamp(stamp(), stamp({ nlink: 2 }))).toBe(true);
  });

  it('proves nothing when the file changed in the moment it was read', () => {
    expect(isRacy(stamp(), 1001)).toBe(true);
    expect(isRacy(stamp(), 1100)).toBe(false);
  });

  it('proves nothing for two seconds on a file system that counts in seconds', () => {
    expect(isRacy(stamp({ mtimeMs: 1000, ctimeMs: 1000 }), 2500)).toBe(true);
  });

  it('is not doubted for an mtime in the future', () => {
    expect(isRacy(stamp({ mtimeMs: 9e12 }), 5000)).toBe(false);
  });
});

describe('doubt about events', () => {
  it('arises when one read brings half of what the queue can hold', () => {
    expect(looksLikeOverflow(8192, 16_384)).toBe(true);
    expect(looksLikeOverflow(8191, 16_384)).toBe(false);
  });

  it.each([
    [{ expectedMs: 15_000, monotonicMs: 15_020, wallMs: 15_020 }, undefined],
    [{ expectedMs: 15_000, monotonicMs: 60_000, wallMs: 60_000 }, 'stall'],
    [{ expectedMs: 15_000, monotonicMs: 15_001, wallMs: 3_600_000 }, 'sleep'],
    [{ expectedMs: 15_000, monotonicMs: 15_001, wallMs: -80_000 }, 'sleep'],
  ])('after a beat of %j is %s', (beat, reason) => {
    expect(judgeBeat(beat)).toBe(reason);
  });

  it('never makes scans cost more than a small share of the time', () => {
    const policy = { healthyMs: 300_000, degradedMs: 2_000 };
    expect(nextScanIn(policy, 10, false)).toBe(300_000);
    expect(nextScanIn(policy, 10_000, false)).toBe(3_000_000);
    expect(nextScanIn(policy, 10, true)).toBe(2_000);
    expect(nextScanIn(policy, 1_000, true)).toBe(20_000);
  });
});

describe("an operation of the user's git", () => {
  it('lasts from the coming of the lock to its going', () => {
    const operation = new GitOperation();
    operation.cameOrWent('index.lock');
    expect(operation.running).toBe(true);
    operation.cameOrWent('index.lock');
    operation.cameOrWent('index');
    expect(operation.running).toBe(false);
  });

  it('is not begun by other files', () => {
    const operation = new GitOperation();
    operation.cameOrWent('COMMIT_EDITMSG');
    expect(operation.running).toBe(false);
  });

  it('is over when the lock is gone, noticed or not', () => {
    const operation = new GitOperation();
    operation.cameOrWent('index.lock');
    operation.recheck(() => false);
    expect(operation.running).toBe(false);
  });
});
