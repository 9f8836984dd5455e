import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ChangeBatch } from '../../src/core/watching.js';
import { Readiness, type ReadinessDeps } from '../../src/workspace/readiness.js';

const BEGIN_MS = 5;
const REST_MS = 50;

function setUp({ tookMs = 0, fails = false } = {}) {
  const done: string[] = [];
  const turns = { before: Promise.resolve() };
  let now = 0;
  let tell: (batch: ChangeBatch) => void = () => undefined;
  const readiness = new Readiness({
    watcher: {
      onChange: (listener: typeof tell) => {
        tell = listener;
        return () => undefined;
      },
    },
    book: { find: () => ({ id: 'D' }) },
    saving: {
      makeReady: ({ id }: { id: string }) => {
        done.push(id);
        now += tookMs;
        return fails ? Promise.reject(new Error('gone')) : Promise.resolve();
      },
    },
    clock: { now: () => 0, monotonic: () => now },
    calm: () => turns.before,
  } as unknown as ReadinessDeps);
  return { readiness, done, turns, changed: () => tell({} as ChangeBatch) };
}

const after = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('what a checkpoint will need', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is made ready soon after a change, and once for all that change while it rests', async () => {
    const { readiness, done, changed } = setUp();
    readiness.open();
    changed();
    await after(BEGIN_MS);
    expect(done).toHaveLength(1);
    changed();
    changed();
    await after(REST_MS - 1);
    expect(done).toHaveLength(1);
    await after(1);
    expect(done).toHaveLength(2);
    await after(10 * REST_MS);
    expect(done).toHaveLength(2);
    changed();
    await after(BEGIN_MS);
    expect(done).toHaveLength(3);
  });

  it('rests nineteen times as long as it worked', async () => {
    const { readiness, done, changed } = setUp({ tookMs: 10 });
    readiness.open();
    changed();
    await after(BEGIN_MS);
    changed();
    await after(189);
    expect(done).toHaveLength(1);
    await after(1);
    expect(done).toHaveLength(2);
  });

  it('is made ready when whoever has a turn is done', async () => {
    const { readiness, done, turns, changed } = setUp();
    let end = (): void => undefined;
    turns.before = new Promise((resolve) => (end = resolve));
    readiness.open();
    changed();
    await after(10 * REST_MS);
    expect(done).toEqual([]);
    end();
    await after(0);
    expect(done).toHaveLength(1);
  });

  it('is nothing before the start is over and after the end', async () => {
    const { readiness, done, changed } = setUp();
    changed();
    await after(REST_MS);
    readiness.open();
    changed();
    await readiness.close();
    await after(REST_MS);
    changed();
    await after(REST_MS);
    expect(done).toEqual([]);
  });

  it('is tried again with the next change when it cannot be made', async () => {
    const { readiness, done, changed } = setUp({ fails: true });
    readiness.open();
    changed();
    await after(REST_MS + BEGIN_MS);
    changed();
    await after(BEGIN_MS);
    expect(done).toHaveLength(2);
  });
});
