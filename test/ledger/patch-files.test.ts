import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventId } from '../../src/core/ledger.js';
import { createPatchFiles } from '../../src/ledger/patch-files.js';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'smithyd-patches-'));
  mkdirSync(join(state, 'ledger'));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const names = (): string[] => readdirSync(join(state, 'ledger', 'diffs')).sort();
const nameOf = (seq: number): string => `diff-${eventId(seq)}.patch`;

async function write(from: number, to: number): Promise<void> {
  const patches = createPatchFiles(state);
  for (let seq = from; seq <= to; seq++) await patches.write(eventId(seq), Buffer.from('x'));
}

describe('patches of events', () => {
  it('are kept for the newest 200, also by the next daemon and past a million', async () => {
    await write(999_850, 999_999);
    expect(names()).toHaveLength(150);
    await write(1_000_000, 1_000_100);
    const expected = Array.from({ length: 200 }, (_, number) => nameOf(999_901 + number));
    expect(names()).toEqual(expected.sort());
  });

  it('are kept up to 8 MiB, the newest in any case', async () => {
    const patches = createPatchFiles(state);
    const megabytes = (count: number): Buffer => Buffer.alloc(count * 1024 * 1024);
    for (const seq of [1, 2, 3]) await patches.write(eventId(seq), megabytes(3));
    expect(names()).toEqual([2, 3].map(nameOf));
    await createPatchFiles(state).write(eventId(4), megabytes(9));
    expect(names()).toEqual([nameOf(4)]);
  });

  it('that are written again count once', async () => {
    await write(1, 3);
    const patches = createPatchFiles(state);
    await patches.write(eventId(3), Buffer.from('again'));
    expect(names()).toEqual([1, 2, 3].map(nameOf));
    expect(await patches.has(eventId(3))).toBe(true);
    expect(await patches.has(eventId(4))).toBe(false);
  });
});
