import { z } from 'zod';
import { SmithyError } from '../../core/errors.js';
import { strategyOf } from '../../workspace/edits.js';
import { method } from '../method.js';
import {
  agent,
  count,
  filesToEdit,
  forDialog,
  redactedWarnings,
  skipped,
  strategy,
  time,
  unknownResult,
} from './shapes.js';

const hash = z.string().regex(/^[0-9a-f]{40}$/u);
const text = z.string().min(1).max(10_000);
const editId = z.string().min(1).max(64);
const DAY_MS = 86_400_000;

export const startEdit = method({
  name: 'start_edit',
  summary: 'Announces an edit: saves what the files hold now and keeps others off them.',
  advice:
    'Call it before you change files: with `files`, or with scope "project" around a command. Its answer names changes by others that you have not seen; read those files again. End it with finalize_edit or abort_edit.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    files: filesToEdit.optional().describe('Existing or new ones.'),
    scope: z.enum(['project']).optional().describe('Instead of files: whatever changes meanwhile.'),
    agent: agent.optional(),
    tool: z.string().min(1).max(200).optional(),
    rationale: text.optional(),
    run_id: z.string().max(200).optional(),
    strategy: strategy.optional().describe('About unknown changes; default: the setting.'),
    expect: z
      .record(z.string().min(1), hash.nullable())
      .optional()
      .describe('path -> hash the caller has read; null: no such file.'),
    wait_ms: count.max(600_000).optional().describe('How long to wait for a held path.'),
    ttl_ms: z.int().min(1).max(DAY_MS).optional().describe('Then it is left incomplete.'),
    detached: z.boolean().optional().describe('Outlives the connection.'),
    ...forDialog,
    request_id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Repeating the call is safe: it opens no second edit while there is one.'),
  }),
  output: z.object({
    edit_id: z.string(),
    files: z.array(
      z.object({ path: z.string(), exists: z.boolean(), hash: z.string().nullable() }),
    ),
    unknown: unknownResult,
    warnings: z.array(z.string()),
  }),
  cli: { command: 'edit start', positional: ['files'], fixed: { detached: true } },
  run({ workspace, peer }, input) {
    if ((input.files === undefined) === (input.scope === undefined)) throw eitherOr();
    return workspace.edits.start(
      {
        files: input.files,
        agent: input.agent,
        tool: input.tool,
        rationale: input.rationale,
        runId: input.run_id,
        strategy: input.strategy === undefined ? undefined : strategyOf(input.strategy),
        expect: input.expect,
        waitMs: input.wait_ms,
        ttlMs: input.ttl_ms,
        // What nobody stays connected for lives by its ttl.
        detached: peer.isBrief || input.detached,
        dialog: input.dialog_id,
        requestId: input.request_id,
      },
      peer,
    );
  },
});

export const finalizeEdit = method({
  name: 'finalize_edit',
  summary: 'Ends an edit: records what it changed, under its name.',
  advice: 'Call it right after the files are written.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    edit_id: editId,
    rationale: text.optional(),
    artifacts: z
      .array(z.string().min(1).max(1000))
      .max(100)
      .optional()
      .describe('Where traces and reports of it are; kept with its events.'),
  }),
  output: z.object({
    edit_id: z.string(),
    files: z.array(
      z.object({
        path: z.string(),
        from: z.string().optional().describe('The old path of a renamed file.'),
        change: z.enum(['created', 'modified', 'deleted', 'renamed', 'unchanged']),
        before: z.string().nullable(),
        after: z.string().nullable(),
        additions: count,
        deletions: count,
        diff: z.string().optional(),
      }),
    ),
    events: z.array(z.string()),
    skipped: skipped.describe('Files whose content could not be read.'),
    warnings: redactedWarnings,
  }),
  cli: { command: 'edit finalize', positional: ['edit_id'] },
  run: ({ workspace }, { edit_id: id, ...word }) => workspace.edits.finalize(id, word),
});

export const abortEdit = method({
  name: 'abort_edit',
  summary: 'Takes an edit back: files as they were, what was there instead is saved.',
  advice: 'Call it when the change went wrong.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ edit_id: editId }),
  output: z.object({
    edit_id: z.string(),
    restored: z.array(z.string()),
    removed: z.array(z.string()),
    saved: z.array(z.object({ path: z.string(), hash: z.string() })),
    skipped,
  }),
  cli: { command: 'edit abort', positional: ['edit_id'] },
  run: ({ workspace }, { edit_id: id }) => workspace.edits.abort(id),
});

export const listEdits = method({
  name: 'list_edits',
  summary: 'Lists the edits that are open, and those that were left incomplete.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({}),
  output: z.object({
    edits: z.array(
      z.object({
        edit_id: z.string(),
        paths: z.array(z.string()).optional(),
        scope: z.enum(['project']).optional(),
        agent: z.object({ name: z.string(), version: z.string().nullable() }).nullable(),
        tool: z.string().nullable(),
        dialog_id: z.string(),
        since: time,
        expires_at: time.nullable(),
        state: z.enum(['open', 'incomplete']),
      }),
    ),
  }),
  cli: { command: 'edit list' },
  run: ({ workspace }) => workspace.edits.list(),
});

export const blame = method({
  name: 'blame',
  summary: 'Tells for every line of a file who wrote it last.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ path: z.string().min(1) }),
  output: z.object({
    path: z.string(),
    lines: z.array(
      z.object({
        from: z.int().min(1),
        to: z.int().min(1),
        by: z
          .string()
          .describe(
            'agent:NAME, command:TOOL, dialog:ID, unknown, baseline, or folded: one of several.',
          ),
        edit_id: z.string().optional(),
        event: z.string().optional(),
        at: time.optional(),
      }),
    ),
    last: z.string().describe('Who changed the file last, as a whole.'),
  }),
  cli: { command: 'blame', positional: ['path'] },
  run: ({ workspace }, { path }) => workspace.blame.of(path),
});

function eitherOr(): SmithyError {
  return new SmithyError('INVALID_PARAMS', 'start_edit takes either files or scope "project".', {
    hint: 'Name the files, or bracket a command with scope "project".',
    data: { issues: [{ path: 'files', message: 'either files or scope' }] },
  });
}
