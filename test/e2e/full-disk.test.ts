import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { projectsPerTest, temporaryFolder, type Project } from '../support/daemon-project.js';
import { until } from '../support/until.js';
import { Work } from '../support/work.js';

const MEGABYTE = 1024 * 1024;
const ran = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

function canMount(): boolean {
  const scratch = temporaryFolder();
  const is = ran('mount', '-t', 'tmpfs', 'none', scratch) && ran('umount', scratch);
  rmSync(scratch, { recursive: true, force: true });
  return is;
}

const mounted: { readonly disk: string; readonly project: Project }[] = [];
// Comes before the hook of `projectsPerTest`, which removes the folder.
afterEach(async () => {
  for (const { disk, project } of mounted.splice(0)) {
    await project.cli(['stop']);
    await until('nobody uses the disk', () => ran('umount', disk));
  }
});

const newProject = projectsPerTest();

/** A project on a disk of its own. */
function onSmallDisk(size: string): Project {
  const project = newProject((folder) => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    expect(ran('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'none', disk)).toBe(true);
    return disk;
  });
  mounted.push({ disk: project.root, project });
  return project;
}

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
