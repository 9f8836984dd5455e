import { describe, expect, it } from '@jest/globals';
import { CONFIG, project } from '../support/project.js';
import { oracle } from '../support/oracle.mjs';

const SEED = 20_261_116;

describe('after random changes by two processes the known state is what git sees', () => {
  it.each(['directories', 'chokidar'] as const)(
    'with %s',
    async (watcher) => {
      const here = project();
      try {
        const watched = await here.watch({ config: { ...CONFIG, watcher } });
        const { moments } = await oracle({
          root: here.root,
          watched,
          seed: SEED,
          steps: 3_000,
          pause: 400,
        });
        expect(moments).toBeGreaterThan(5);
      } finally {
        await here.end();
      }
    },
    120_000,
  );
});
