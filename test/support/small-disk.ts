import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { projectsPerTest, temporaryFolder, type Project } from './daemon-project.js';
import { until } from './until.js';

const ran = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

export function canMount(): boolean {
  const scratch = temporaryFolder();
  const is = ran('mount', '-t', 'tmpfs', 'none', scratch) && ran('umount', scratch);
  rmSync(scratch, { recursive: true, force: true });
  return is;
}

/** Gives each test projects on disks of their own, and takes both away after it. */
export function smallDisksPerTest(): (size: string) => Project {
  const mounted: Project[] = [];
  // Comes before the hook of `projectsPerTest`, which removes the folder.
  afterEach(async () => {
    for (const project of mounted.splice(0)) {
      await project.cli(['stop']);
      await until('nobody uses the disk', () => ran('umount', project.root));
    }
  });
  const newProject = projectsPerTest();
  return (size) => {
    const project = newProject((folder) => {
      const disk = join(folder, 'disk');
      mkdirSync(disk);
      if (!ran('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'none', disk))
        throw new Error('nothing could be mounted');
      return disk;
    });
    mounted.push(project);
    return project;
  };
}
