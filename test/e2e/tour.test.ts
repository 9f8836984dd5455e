import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CLI } from '../support/daemon-project.js';
import { missing, readTour, runTour } from '../support/tour.mjs';

describe('the tour of the README', () => {
  const steps = readTour('README.md');
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-tour-')));
  let ran: Awaited<ReturnType<typeof runTour>>;

  beforeAll(async () => {
    ran = await runTour({ steps, folder, cli: CLI });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 50 }));

  it('shows every part', () => {
    const words = steps.map(({ command }) => command).join('\n');
    for (const one of ['start', 'message', 'edit', 'unknown', 'blame', 'undo', 'approve']) {
      expect(words).toContain(`smithyd ${one}`);
    }
  });

  it.each(steps.map(({ command }, number) => ({ command, number })))('$command', ({ number }) => {
    const step = ran[number];
    expect(step?.code).toBe(0);
    expect({ printed: step?.printed, missing: step && missing(step) }).toMatchObject({
      missing: [],
    });
  });
});
