import { describe, expect, it } from '@jest/globals';
import { CLI, projectsPerTest } from '../support/daemon-project.js';
import { killSweep } from '../support/kill-sweep.mjs';
import { plainEnvironment } from '../support/processes.js';

const newProject = projectsPerTest();

describe('a daemon that is killed', () => {
  // Hundreds take `node scripts/kill-sweep.mjs 300`; the seed repeats the calls, not the moments.
  it('60: at any step loses nothing it acknowledged, leaves nothing half done and says so', async () => {
    const kills = 8;
    const report = await killSweep({
      root: newProject().root,
      seed: 20_260,
      kills,
      cli: CLI,
      env: plainEnvironment(),
    });
    expect(report.kills).toBe(kills);
    expect(report.acknowledged).toBeGreaterThan(kills);
  }, 600_000);
});
