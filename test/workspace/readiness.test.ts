import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ChangeBatch } from '../../src/core/watching.js';
import { Readiness, type ReadinessDeps } from '../../src/workspace/readiness.js';

const REST_MS = 50;

function setUp({ size = 10, count = 1, fails = false } = {}) {
  const done: string[] = [];
  let tell: (batch: ChangeBatch) => void = () => undefined;
  const paths = Array.from({ length: count }, (_, at) => ({ path: `f${at}` }));
  const readiness = new Readiness({
    watcher: {
      onChange: (listener: typeof tell) => {
        tell = listener;
        return () => undefined;
      },
      get: () => ({ size }),
    },
    book: { find: () => ({ id: 'D' }) },
    saving: {
      makeReady: (_: unknown, { files, bytes }: { files: number; bytes: number }) => {
        done.push(`ready ${files} ${bytes}`);
        return fails ? Promise.reject(new Error('gone')) : Promise.resolve();
      },
    },
    claims: { unexplained: () => paths },
    accounts: {
      foresee: () => {
        done.push('foreseen');
        return { results: [], accounts: Promise.resolve(undefined) };
      },
    },
    calm: () => Promise.resolve(),
  } as unknown as ReadinessDeps);
  const changed = async (): Promise<void> => {
    tell({} as ChangeBatch);
    await jest.advanceTimersByTimeAsync(0);
  };
  return { readiness, done, changed };
}

describe('what a checkpoint will need', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is made ready as soon as something changed, and once for all that changes meanwhile', async () => {
    const { readiness, done, changed } = setUp();
    readiness.open();
    await changed();
    expect(done).toEqual(['ready 8 65536', 'foreseen']);
    await changed();
    await changed();
    await jest.advanceTimersByTimeAsync(REST_MS - 1);
    expect(done).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(done).toHaveLength(4);
    await jest.advanceTimersByTimeAsync(10 * REST_MS);
    expect(done).toHaveLength(4);
  });

  it('is nothing before the start is over and after the end', async () => {
    const { readiness, done, changed } = setUp();
    await changed();
    readiness.open();
    readiness.close();
    await changed();
    await jest.advanceTimersByTimeAsync(REST_MS);
    expect(done).toEqual([]);
  });

  it('is not compared when it is many files, or large ones', async () => {
    for (const much of [{ count: 9 }, { size: 40_000, count: 2 }]) {
      const { readiness, done, changed } = setUp(much);
      readiness.open();
      await changed();
      expect(done).toEqual(['ready 8 65536']);
    }
  });

  it('is tried again with the next change when it cannot be made', async () => {
    const { readiness, done, changed } = setUp({ fails: true });
    readiness.open();
    await changed();
    await jest.advanceTimersByTimeAsync(REST_MS);
    await changed();
    expect(done).toHaveLength(2);
  });
});
