import { describe, expect, it } from '@jest/globals';
import { anySequences } from '../support/any-sequence.mjs';
import { CLI, projectsPerTest } from '../support/daemon-project.js';
import { plainEnvironment } from '../support/processes.js';

const newProject = projectsPerTest();

describe('after any sequence of edits, checkpoints, approvals, resets, restores, undos and redos', () => {
  // Hundreds take `node scripts/any-sequence.mjs 200`; a failure names the seed that repeats it.
  it('every checkpoint is what git sees, and every content it had or replaced can be got back', async () => {
    const { sequences, done } = await anySequences({
      root: newProject().root,
      cli: CLI,
      env: plainEnvironment(),
      seed: 20_261,
      sequences: 2,
      steps: 14,
    });
    expect(sequences).toBe(2);
    expect(Object.keys(done)).toEqual(expect.arrayContaining(['restore', 'undo', 'approve']));
  }, 600_000);
});
