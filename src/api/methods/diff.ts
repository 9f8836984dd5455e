import { z } from 'zod';
import { method } from '../method.js';
import { count, forDialog, omitted, place } from './shapes.js';

const mode = z.enum(['100644', '100755', '120000']);

export const diff = method({
  name: 'diff',
  summary:
    'Compares two of: a checkpoint, bookmark, event, session, main, and the files as they are.',
  advice: 'Default is against the files as they are now; format "stat" is the shortest.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    from: place.describe(
      'A checkpoint id, a bookmark, an event, a snapshot, a session, main or worktree.',
    ),
    to: place.optional().describe('Default: worktree.'),
    paths: z.array(z.string().min(1)).min(1).optional().describe('Only these files and folders.'),
    format: z.enum(['unified', 'stat', 'name_status', 'side_by_side']).optional(),
    ...forDialog,
  }),
  output: z.object({
    files: z.array(
      z.object({
        path: z.string(),
        from: z.string().optional().describe('The old path of a rename.'),
        change: z.enum(['added', 'modified', 'deleted', 'renamed']),
        additions: count,
        deletions: count,
        is_binary: z.boolean(),
        is_too_large: z.boolean(),
        mode_before: mode.optional(),
        mode_after: mode.optional(),
        unified: z.string().optional(),
        hunks: z
          .array(
            z.object({
              before_start: count,
              before_lines: count,
              after_start: count,
              after_lines: count,
              lines: z
                .array(
                  z.object({
                    mark: z.enum([' ', '+', '-']),
                    text: z.string(),
                    no_newline: z.literal(true).optional(),
                  }),
                )
                .readonly(),
            }),
          )
          .readonly()
          .optional(),
        bytes_before: count.optional(),
        bytes_after: count.optional(),
        similarity: z.number().optional(),
        encoding: z.enum(['utf-8', 'latin1']).optional(),
      }),
    ),
    omitted,
    text: z.string(),
  }),
  cli: { command: 'diff', positional: ['from', 'to'], names: { paths: 'file' } },
  run: ({ workspace }, { dialog_id: dialog, ...request }) =>
    workspace.diffs.answer({ ...request, dialog }),
});
