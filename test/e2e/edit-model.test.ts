import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { projectsPerTest } from '../support/daemon-project.js';
import { rapidBrackets } from '../support/edit-races.mjs';
import { editWalk } from '../support/edit-walk.mjs';
import { foregroundPerTest, ON_BUILT_FILES } from '../support/foreground.js';

const SEED = 20_261_116;

describe('agents, shells and people on the same files', () => {
  const project = projectsPerTest();
  const foreground = foregroundPerTest();

  it('get the answers, contents, unknown changes and authors that the model predicts', async () => {
    const { root } = project();
    const walk = await editWalk({ root, seed: SEED, steps: 200, ...ON_BUILT_FILES });
    expect(Object.keys(walk.counts).length).toBeGreaterThan(15);
  }, 180_000);

  it.each([1, 2])(
    'never make own work unknown, with %i clients in brackets without a pause',
    async (clients) => {
      const { root, outside, open } = await foreground();
      const beside = join(outside, 'moving');
      const options = { open, root, beside, file: 'app.ts', rounds: 100, clients };
      expect(await rapidBrackets(options)).toBe(100);
    },
    180_000,
  );
});
