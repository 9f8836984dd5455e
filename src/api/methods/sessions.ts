import { z } from 'zod';
import { method } from '../method.js';
import { commitId, count, forDialog, omitted, restoreAnswer, skipped, time } from './shapes.js';

export const getSession = method({
  name: 'get_session',
  summary: 'Tells what of the active session is not approved yet, file by file.',
  advice: 'Call it to summarise your work for the user.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ ...forDialog }),
  output: z.object({
    active_session: z.string().nullable(),
    session_ref: z.string().nullable(),
    has_unapproved: z.boolean(),
    last_approved_at: time.nullable(),
    changed_files: z.array(
      z.object({
        path: z.string(),
        status: z.enum(['added', 'modified', 'deleted']),
        additions: count,
        deletions: count,
        is_binary: z.boolean(),
        is_too_large: z.boolean(),
        diff: z.string().optional(),
      }),
    ),
    omitted,
  }),
  cli: { command: 'session' },
  run: ({ workspace }, { dialog_id: dialog }) => workspace.sessions.present(dialog),
});

export const listSessions = method({
  name: 'list_sessions',
  summary: 'Lists the sessions of a dialog; closed ones with `all`.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    all: z.boolean().optional().describe('Closed sessions too.'),
    ...forDialog,
  }),
  output: z.object({
    sessions: z.array(
      z.object({
        session_name: z.string(),
        ref_name: z.string(),
        status: z.enum(['active', 'merged', 'abandoned']),
        created_at: time,
        closed_at: time.nullable(),
        approved_commit: commitId.nullable(),
        checkpoints_count: count,
      }),
    ),
  }),
  cli: { command: 'sessions' },
  run: ({ workspace }, { all, dialog_id: dialog }) => workspace.sessions.list(dialog, all ?? false),
});

export const approve = method({
  name: 'approve',
  summary:
    'Accepts the work of the active session: main gets a merge commit, a new session begins.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({ message: z.string().max(10_000).optional(), ...forDialog }),
  output: z.object({
    approved_commit: commitId,
    new_session: z.string(),
    commits_approved: count,
  }),
  cli: { command: 'approve', short: { m: 'message' } },
  run: ({ workspace }, { message, dialog_id: dialog }) =>
    workspace.sessions.approve(dialog, message),
});

export const reset = method({
  name: 'reset',
  summary: 'Takes the project back to the approved state; what it throws away is saved first.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({ ...forDialog }),
  output: z.object({
    reset_to: commitId,
    new_session: z.string(),
    pre_reset_checkpoint: commitId,
    restored: z.array(z.string()),
    deleted: z.array(z.string()),
    skipped,
  }),
  cli: { command: 'reset' },
  run: ({ workspace }, { dialog_id: dialog }) => workspace.sessions.reset(dialog),
});

export const restore = method({
  name: 'restore',
  summary: 'Makes the project equal to a checkpoint or bookmark; pending work is saved first.',
  advice: 'Use dry_run first to see what it would change; paths limits it to some files.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    checkpoint_id: z
      .string()
      .min(1)
      .max(200)
      .describe('A checkpoint, a bookmark, a snapshot or an event.'),
    paths: z.array(z.string().min(1)).min(1).optional().describe('Only these files and folders.'),
    mode: z
      .enum(['exact', 'keep_external'])
      .optional()
      .describe('keep_external reverts only what this dialog changed.'),
    hunks: z
      .array(z.number().int().min(1))
      .min(1)
      .optional()
      .describe('Only these hunks of one file, counted from 1 as `diff` shows them.'),
    expect: z
      .string()
      .optional()
      .describe('Hash of that file when its hunks were counted; STALE_READ if it is another.'),
    dry_run: z.boolean().optional().describe('Tells what would happen and does nothing.'),
    ...forDialog,
  }),
  output: restoreAnswer.extend({
    dry_run: z.literal(true).optional().describe('Nothing was done; this is what would be.'),
  }),
  cli: {
    command: 'restore',
    positional: ['checkpoint_id', 'paths'],
    switches: { 'keep-external': { field: 'mode', value: 'keep_external' } },
  },
  async run(
    { workspace },
    { checkpoint_id: checkpoint, dry_run: dryRun, dialog_id: dialog, paths, mode, hunks, expect },
  ) {
    const answer = await workspace.restores.restore({
      ...{ checkpoint, dialog, paths, mode, dryRun },
      ...(hunks === undefined ? {} : { hunks: { numbers: hunks, expect } }),
    });
    return dryRun === true ? { ...answer, dry_run: true as const } : answer;
  },
});

export const undo = method({
  name: 'undo',
  summary: 'Goes back over the last message, restore or reset.',
  advice: 'Takes back everything since the last message.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ ...forDialog }),
  output: restoreAnswer,
  cli: { command: 'undo' },
  run: ({ workspace }, { dialog_id: dialog }) => workspace.restores.undo(dialog),
});

export const redo = method({
  name: 'redo',
  summary: 'Goes forward again over what undo went back.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ ...forDialog }),
  output: restoreAnswer,
  cli: { command: 'redo' },
  run: ({ workspace }, { dialog_id: dialog }) => workspace.restores.redo(dialog),
});
