import { z } from 'zod';
import { SmithyError } from '../../core/errors.js';
import { KEPT_FOR } from '../../core/retention.js';
import { method } from '../method.js';
import { count } from './shapes.js';

export const gc = method({
  name: 'gc',
  summary:
    'Removes snapshots and file checkpoints that the settings let go, and gives back all space nothing needs.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({
    dry_run: z.boolean().optional().describe('Tell what would go and change nothing.'),
    fold_older_than_days: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Also let go of contents between the checkpoints of older runs. Default: foldAfterDays.',
      ),
  }),
  output: z.object({
    dry_run: z.boolean(),
    freed_bytes: count.describe('By which the store has shrunk, or would.'),
    removed: z.object({
      snapshots: z.array(z.string()).describe('Oldest first.'),
      file_checkpoints: z.array(z.string()),
      folded: z
        .array(
          z.object({
            event: z.string().optional().describe('The line that says so; none in a dry run.'),
            from: z.string().describe('The snapshot before it.'),
            to: z.string().describe('The snapshot after it.'),
            first: z.string().describe('The first event of the run.'),
            last: z.string(),
            events: count.describe('How many of them changed files.'),
          }),
        )
        .describe('Runs of old events that let go of their contents, oldest first.'),
    }),
    kept: z.object({
      events: count.describe(
        'All of them, with every content they speak of unless they are folded.',
      ),
      dialogs: count,
      sessions: z
        .object({ active: count, merged: count, abandoned: count })
        .describe('All of them, until their dialog is deleted.'),
      checkpoints: count.describe('All of them: undo, redo and restore lead there.'),
      snapshots: z
        .record(z.enum(KEPT_FOR), count)
        .describe('By the first reason: a bookmark, being read, the newest, each so-manieth.'),
      bookmarks: count,
      file_checkpoints: count,
      edits_open: count,
      store_bytes: count.describe('Afterwards.'),
      limit_bytes: count,
      over_limit_bytes: count.describe('What would have to go and is needed; 0: all is well.'),
    }),
    warnings: z.array(z.string()).describe('What needs attention, one sentence each.'),
  }),
  cli: { command: 'gc', names: { fold_older_than_days: 'fold' } },
  async run({ workspace, peer }, { dry_run: dryRun, fold_older_than_days: foldAfterDays }) {
    const gone = new AbortController();
    peer.onGone(() => gone.abort(new SmithyError('SHUTTING_DOWN', 'Whoever asked is gone.')));
    return workspace.retention.gc({ dryRun, foldAfterDays, signal: gone.signal });
  },
});
