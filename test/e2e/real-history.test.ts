import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CLI, projectsPerTest, REPOSITORY, type Project } from '../support/daemon-project.js';
import { commitsOf } from '../support/git-history.mjs';
import { makeHistory } from '../support/made-history.mjs';
import { plainEnvironment } from '../support/processes.js';
import { realHistory } from '../support/real-history.mjs';

const newProject = projectsPerTest();

function beside(): { readonly project: Project; readonly repository: string } {
  const project = newProject((folder) => join(folder, 'project'));
  mkdirSync(project.root);
  const repository = join(project.folder, 'repository');
  mkdirSync(repository);
  return { project, repository };
}

/** False in a copy without a repository, and in a clone that was cut short. */
function isLongEnough(commits: number): boolean {
  try {
    return commitsOf(REPOSITORY, commits).length === commits;
  } catch {
    return false;
  }
}

// 200 take `node scripts/real-history.mjs . 200`; a failure names the commit and its paths.
describe('commits made once more under a daemon', () => {
  const given = { cli: CLI, env: plainEnvironment(), seed: 20_263, samples: 3 };

  (isLongEnough(8) ? it : it.skip)(
    'of this repository: every checkpoint and restore is what git has',
    async () => {
      const { root } = newProject();
      const done = await realHistory({ ...given, repository: REPOSITORY, root, commits: 8 });
      expect([done.commits, done.restored.checkpoints]).toEqual([8, 4]);
    },
    240_000,
  );

  it('with renames, modes, links, binary files, merges and submodules: the same', async () => {
    const { project, repository } = beside();
    makeHistory(repository, { commits: 30, seed: 20_263 });
    const { root } = project;
    const done = await realHistory({ ...given, repository, root, commits: 30 });
    expect(done.commits).toBe(30);
    expect(done.named).toBeGreaterThan(5);
    expect(done.commands).toBeGreaterThan(5);
    expect(Object.keys(done.leftOut)).toEqual(
      expect.arrayContaining(['hidden', 'gitignore', 'submodule pointer']),
    );
  }, 240_000);
});
