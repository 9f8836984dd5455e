import { describe, expect, it } from '@jest/globals';
import { anyHistory } from '../support/any-history.mjs';
import { CLI, projectsPerTest } from '../support/daemon-project.js';
import { plainEnvironment } from '../support/processes.js';

const newProject = projectsPerTest();

describe('after any events, restarts and kills', () => {
  // 10,000 take `node scripts/any-history.mjs`; a failure names the seed that repeats it.
  it('every file at every event is what it was, and answers need nothing that is derived', async () => {
    const { events, checked } = await anyHistory({
      ...{ root: newProject().root, cli: CLI, env: plainEnvironment() },
      ...{ seed: 20_262, events: 150, samples: 60 },
    });
    expect(events).toBeGreaterThanOrEqual(150);
    expect(checked).toBeGreaterThan(60);
  }, 600_000);
});
