import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { project } from '../support/project.js';
import { changeWhileStopped } from '../support/watch-process.mjs';

// The full number, 50,000, is for scripts/overflow.mjs.
// One folder: its watch comes off in the middle of the read, and the rest of the queue goes uncounted.
it.each([50, 1])(
  'misses nothing in %d folders when it stood still while the event queue ran over, and shows the doubt',
  async (folders) => {
    const here = project();
    try {
      // Two events per file: created and written.
      const limit = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
      const count = Math.min(30_000, Math.ceil(limit * 0.6));
      const { fresh, notices, known, missed } = await changeWhileStopped(here.root, count, folders);
      expect(missed).toEqual([]);
      expect({ fresh, known }).toEqual({ fresh: true, known: count + 1 });
      // Only a queue that really ran over must have been noticed.
      if (2 * count > limit) expect(notices.map(({ type }) => type)).toContain('watch_desynced');
    } finally {
      await here.end();
    }
  },
  120_000,
);
