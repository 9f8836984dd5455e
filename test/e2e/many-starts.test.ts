import { describe, expect, it } from '@jest/globals';
import { run } from '../support/processes.js';
import { projectsPerTest, REPOSITORY } from '../support/daemon-project.js';

const newProject = projectsPerTest();

describe('many starts and stops in a row', () => {
  // A hundred take `node scripts/many-starts.mjs 100`; here as many as a loaded machine has time for.
  it.each([
    ['with the socket in the state folder', ''],
    ['with the socket moved to a private folder', 'd'.repeat(120)],
  ])('leave no process, socket or file behind %s', async (_, below) => {
    const project = newProject();
    const words = [process.execPath, 'scripts/many-starts.mjs', '10', project.root, below];
    const { code, stdout, stderr } = await run(words, { cwd: REPOSITORY });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('10 starts and stops');
  });
});
