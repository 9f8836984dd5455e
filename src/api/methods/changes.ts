import { z } from 'zod';
import type { Context } from '../method.js';
import { method } from '../method.js';
import { count, time } from './shapes.js';

/** One category of an answer also says what was left out of it. */
const left = {
  omitted: count.optional().describe('Entries that did not fit.'),
  noise: count.optional().describe('Left out by noise rules.'),
};
const lines = z.int().min(0).nullable().describe('Null: nobody can tell, or it is no text.');
const severity = z.enum(['clean', 'warning', 'error']);

const said = z.array(
  z.object({ message: z.string(), source: z.string().nullable(), count: z.int().min(1) }),
);

const sections = {
  files: z
    .object({
      total_new: count.describe('Files that are not what they were.'),
      changed: z.array(
        z.object({
          path: z.string().describe('Ends with a slash for a folder with several files.'),
          from: z.string().optional(),
          change: z.enum(['created', 'modified', 'deleted', 'renamed', 'several']),
          by: z.string().describe('agent:NAME, command:TOOL, dialog:ID or unknown.'),
          additions: lines,
          deletions: lines,
          diff: z.string().optional(),
          also: z.array(z.string()).optional().describe('Others who changed it too.'),
          origin: z.enum(['offline', 'scan', 'git', 'rules']).optional(),
          files: z.int().optional().describe('How many, when it is more than one.'),
        }),
      ),
      ...left,
    })
    .optional(),
  console: z.object({ total_new: count, errors: said, warnings: said, ...left }).optional(),
  network: z
    .object({
      total_new: count,
      failures: z.array(z.object({ path: z.string(), status: z.int(), previous_status: z.int() })),
      failing_new_endpoints: z.array(z.object({ path: z.string(), status: z.int() })),
      new_endpoints: z.array(z.string()),
      degraded: z.array(
        z.object({ path: z.string(), duration_ms: z.number(), baseline_ms: z.number() }),
      ),
      ...left,
    })
    .optional(),
  websocket: z
    .object({
      total_new: count,
      disconnections: z.array(
        z.object({
          url: z.string(),
          close_code: z.int().nullable(),
          close_reason: z.string().nullable(),
          count: z.int().optional(),
        }),
      ),
      connections: z.array(z.string()),
      errors: z.array(
        z.object({
          url: z.string(),
          message: z.string().nullable(),
          count: z.int().optional(),
        }),
      ),
      ...left,
    })
    .optional(),
  actions: z
    .object({
      total_new: count,
      actions: z.array(
        z.object({
          type: z.string(),
          url: z.string().nullable(),
          target: z.string().optional(),
          timestamp: time,
        }),
      ),
      ...left,
    })
    .optional(),
};

const category = z.enum(['files', 'console', 'network', 'websocket', 'actions']);

export const getChangesSince = method({
  name: 'get_changes_since',
  summary: 'Tells what happened since you last looked, in a few hundred tokens.',
  advice:
    'Call it after an edit and before you go on. Changes that nobody announced come first: read those files again. A named point (see mark) can be asked about again and again.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    checkpoint: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'A mark, bookmark, baseline, checkpoint id, ISO time or cursor. Default: your last call.',
      ),
    include: z.array(category).min(1).max(5).optional().describe('Default: everything.'),
    severity: z
      .enum(['all', 'warnings', 'errors_only'])
      .optional()
      .describe('The least to tell of.'),
    client: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe(
        'Who you are, if your connection does not last: your last call is remembered by it.',
      ),
    detail: z
      .enum(['summary', 'stat', 'hunks'])
      .optional()
      .describe('Many files by folder, file by file, or with their text.'),
    max_bytes: z
      .int()
      .min(512)
      .max(1_000_000)
      .optional()
      .describe('Room for the answer; default 8192.'),
  }),
  output: z.object({
    from: time,
    to: time,
    duration_ms: count,
    severity,
    summary: z.string(),
    token_count: count,
    cursor: z.string().describe('The position right after this answer.'),
    fresh: z.boolean().describe('False while changes of files may have been missed.'),
    evicted: z
      .array(z.enum(['console', 'network', 'websocket', 'actions']))
      .optional()
      .describe('Older entries of these are gone: this is what is left.'),
    telemetry: z
      .enum(['none', 'detached'])
      .optional()
      .describe('No browser or program tells of itself: silence means nothing.'),
    ...sections,
  }),
  cli: {
    command: 'changes',
    names: { checkpoint: 'since' },
    fixed: { client: 'command-line' },
  },
  run: (context, { client, max_bytes: maxBytes, ...request }) =>
    context.workspace.looking.changes.since({ ...request, maxBytes }, client ?? clientOf(context)),
});

/** A connection that lasts is somebody; a request that comes and goes is anybody. */
function clientOf({ peer, transport }: Context): string | object {
  return peer.isBrief ? transport : peer.identity;
}

export const getSessionHealth = method({
  name: 'get_session_health',
  summary: 'Tells in one line how things are since the session began.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({}),
  output: z.object({
    severity,
    summary: z.string(),
    since: z.string().nullable().describe('The mark it begins with; null: the daemon’s start.'),
    from: time,
    to: time,
    duration_ms: count,
    files_changed: count,
    unknown_changes: count,
    console_errors: count,
    console_warnings: count,
    network_failures: count,
    websocket_disconnections: count,
    telemetry: z.enum(['attached', 'detached', 'pushed', 'none']),
    fresh: z.boolean(),
  }),
  cli: { command: 'health' },
  run: ({ workspace }) => workspace.looking.marks.sessionHealth(),
});
