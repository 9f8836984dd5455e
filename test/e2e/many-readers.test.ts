import { describe, expect, it } from '@jest/globals';
import { REPOSITORY } from '../support/daemon-project.js';
import { run } from '../support/processes.js';

describe('hundreds who listen at once', () => {
  // A minute, and how long `status` takes meanwhile, is `node scripts/many-readers.mjs`.
  it('hear everything, each once and in order', async () => {
    const words = [process.execPath, 'scripts/many-readers.mjs', '3'];
    const { stdout, stderr } = await run(words, { cwd: REPOSITORY });
    expect(stderr).toBe('');
    expect(stdout).toContain(' 0 missed something');
  });
});
