import { describe, expect, it } from '@jest/globals';
import { sharedWork, type Saved } from '../support/work.js';

describe('capture', () => {
  const shared = sharedWork();

  it('12: processes that ask at once each get a checkpoint of their own, and the change is in one', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const names = ['one', 'two', 'three', 'four'];
    const saved = await Promise.all(
      names.map((name) => work.project.json<Saved>(['checkpoint', '-m', name])),
    );
    const listed = await work.log();
    expect(listed).toHaveLength(5);
    expect(listed.slice(0, 4).map(({ commit_id: id }) => id)).toEqual(
      expect.arrayContaining(saved.map(({ commit_id: id }) => id)),
    );
    expect(saved.map(({ changed }) => changed.modified).sort()).toEqual([0, 0, 0, 1]);
  });
});
