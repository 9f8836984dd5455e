import { describe, expect, it } from '@jest/globals';
import { canMount, smallDisksPerTest } from '../support/small-disk.js';
import { Work } from '../support/work.js';

const MEGABYTE = 1024 * 1024;
const onSmallDisk = smallDisksPerTest();

describe('a restore that does not fit on the disk', () => {
  // Skipped where nothing may be mounted.
  (canMount() ? it : it.skip)('is refused before it writes a byte', async () => {
    const work = await Work.start(onSmallDisk('192m'));
    await work.call('update_config', { maxFileBytes: 100 * MEGABYTE });
    const large = Buffer.alloc(80 * MEGABYTE, 'compresses well ');
    const before = await work.fresh({ small: '0', large });
    work.put({ small: '1', large: 'gone' });
    await work.save('kept');
    work.put({ '.git/filler': Buffer.alloc(130 * MEGABYTE) });
    const tree = work.disk();
    const { data } = await work.refusal('restore', { checkpoint_id: before.initial_checkpoint });
    expect(data).toMatchObject({ code: 'STORAGE_FULL' });
    expect(data['hint']).toMatch(/fewer paths/u);
    expect(work.disk()).toEqual(tree);
    const { restored } = await work.restore(before.initial_checkpoint, { paths: ['small'] });
    expect(restored).toEqual(['small']);
  });
});
