import { z } from 'zod';
import { ActionType } from '../../core/ledger.js';
import { method } from '../method.js';
import { count, dialogId, eventName, forDialog, place, time } from './shapes.js';

const block = z.looseObject({ kind: z.string(), id: z.string() });

const event = z.object({
  seq: count,
  id: z.string().describe('evt- and at least six digits.'),
  ts: time,
  author: z.looseObject({ name: z.string(), version: z.string().nullable(), kind: z.string() }),
  action_type: z.string(),
  branch: z.string().nullable(),
  run_id: z.string().nullable(),
  parent_event_id: z.string().nullable(),
  files: z.array(z.string()),
  diff_path: z.string().nullable().describe('Relative to .agentsmithy/.'),
  affected_lines: z.array(z.unknown()),
  semantic_block: block
    .nullable()
    .describe('The smallest function, class, module, path or lines that hold what changed.'),
  semantic_warning: z.string().optional().describe('Why the block is less than it could be.'),
  semantic_files: z
    .array(
      z.object({
        path: z.string(),
        block: block.nullable().describe('Null: no text.'),
        blocks: z.array(block).optional().describe('The innermost ones, when they are several.'),
        warning: z.string().optional(),
      }),
    )
    .optional()
    .describe('The block of each changed file, at most twenty.'),
  rationale: z.string().nullable(),
  artifacts: z.array(z.unknown()),
  snapshot_ref: z.string().nullable(),
  bookmark: z.string().nullable(),
  dialog_id: z.string().nullable(),
  session: z.string().nullable(),
  changes: z.array(
    z.looseObject({
      path: z.string(),
      before: z.string().nullable().describe('A git blob id; null: no file.'),
      after: z.string().nullable(),
      mode_before: z.string().optional(),
      mode_after: z.string().optional(),
    }),
  ),
  prev: z.string().describe('SHA-256 of the line before.'),
  by: z.string().optional().describe('Of a change: agent:NAME, command:TOOL, dialog:ID, unknown.'),
  edit_id: z.string().optional(),
  folded: z
    .string()
    .optional()
    .describe('The event that says that what this one changed was let go of.'),
  message: z.string().optional().describe('Of a message or checkpoint: its beginning.'),
  eval: z
    .object({
      name: z.string(),
      metrics: z.record(z.string(), z.number()),
      passed: z.boolean().optional(),
      report: z.string().optional(),
    })
    .optional()
    .describe('Of an evaluation: its name, metrics, verdict and report.'),
});

export const history = method({
  name: 'history',
  summary: 'Lists what happened, newest first: every change, checkpoint, message and edit.',
  advice: 'Narrow it by file, author or time.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    file: z.string().min(1).max(4096).optional().describe('A file, or a folder.'),
    author: z.string().min(1).max(300).optional().describe('A name, or as in agent:NAME.'),
    branch: z.string().min(1).max(200).optional().describe('A session, or main.'),
    action_type: ActionType.optional(),
    dialog_id: dialogId.optional().describe('Default: all dialogs.'),
    since: z.string().min(1).max(64).optional().describe('A time, or the event before.'),
    limit: z.int().min(1).max(1000).optional().describe('Default: 50.'),
    before: eventName.optional().describe('The next page: what `next` said.'),
  }),
  output: z.object({
    events: z.array(event),
    next: z.string().optional().describe('There is more: pass it as `before`.'),
  }),
  cli: { command: 'history', positional: ['file'], short: { n: 'limit' } },
  run: ({ workspace }, { action_type: action, dialog_id: dialog, ...request }) =>
    workspace.chronicle.history({ ...request, action, dialog }),
});

export const show = method({
  name: 'show',
  summary:
    'Gives a file as it was at any event, checkpoint, bookmark or session, proven by its hash.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    at: place.describe(
      'An event, a checkpoint id, a bookmark, a snapshot, a session, main, worktree.',
    ),
    path: z.string().min(1).max(4096),
    ...forDialog,
  }),
  output: z.object({
    path: z.string(),
    hash: z.string().describe('The git blob id.'),
    mode: z.enum(['100644', '100755', '120000']),
    content: z.string().optional(),
    content_base64: z.string().optional().describe('Instead of content when it is no UTF-8.'),
  }),
  cli: { command: 'show', positional: ['at', 'path'] },
  run: ({ workspace }, { at, path, dialog_id: dialog }) =>
    workspace.showing.show({ at, path, dialog }),
});
