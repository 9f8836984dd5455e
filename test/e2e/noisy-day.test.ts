import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { REPOSITORY } from '../support/daemon-project.js';
import { run } from '../support/processes.js';

const SCRIPT = join(REPOSITORY, 'scripts/noisy-day.mjs');

describe('a page that never stops talking', () => {
  // The whole day takes `node scripts/noisy-day.mjs`.
  it('does not make the daemon grow', async () => {
    const words = [process.execPath, SCRIPT, '--hours', '0.5', '--rate', '20'];
    const { code, stdout, stderr } = await run(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('36000 things told');
  }, 240_000);
});
