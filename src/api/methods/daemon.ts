import { z } from 'zod';
import { Config } from '../../core/config.js';
import { EventType } from '../../core/events.js';
import { SmithyError } from '../../core/errors.js';
import { method } from '../method.js';
import { count } from './shapes.js';

const nothing = z.strictObject({});

export const status = method({
  name: 'status',
  summary: 'Tells what the daemon watches and how it is doing.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    why: z.string().min(1).optional().describe('Also explain why this path is tracked or not.'),
  }),
  output: z.object({
    version: z.string(),
    protocol: z.int(),
    pid: z.int(),
    root: z.string(),
    uptime_ms: count,
    current_dialog_id: z.string().nullable(),
    watcher: z.object({
      engine: z.enum(['directories', 'chokidar']),
      state: z.enum(['starting', 'ready', 'degraded']),
      fresh: z.boolean().describe('False while changes may have been missed.'),
      files: count,
      dirs: count,
      skipped: count.describe('Tracked paths without known content; see known_files.'),
      reason: z.string().optional(),
      remedy: z.string().optional(),
      nested_repositories: z.array(z.string()).describe('Tracked as content.'),
      nested_roots: z
        .array(z.string())
        .describe('Left out: they have a daemon state of their own.'),
    }),
    edits_open: count,
    ledger: z.object({ events: count, bytes: count }),
    store: z.object({ bytes: count, objects: count, packs: count, limit_bytes: count }),
    memory_bytes: count,
    warnings: z.array(z.string()).describe('What needs attention, one sentence each.'),
    why: z
      .object({
        path: z.string(),
        tracked: z.boolean(),
        reason: z.string(),
        at: z.string().describe('The path, or the folder above it, that settled it.'),
        sentence: z.string(),
        rule: z.object({ source: z.string(), line: count, pattern: z.string() }).optional(),
      })
      .optional(),
  }),
  cli: { command: 'status' },
  run: ({ workspace }, { why }) =>
    why === undefined ? workspace.status() : workspace.statusWithReason(why),
});

export const getConfig = method({
  name: 'get_config',
  summary: 'Answers the whole effective configuration.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: nothing,
  output: Config,
  cli: { command: 'config get' },
  run: ({ workspace }) => workspace.settings.config(),
});

export const updateConfig = method({
  name: 'update_config',
  summary:
    'Changes settings, any of those get_config answers, keeps them in config.json and applies them at once.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  // Checked by the workspace, which merges groups: here only that it is an object.
  input: z.looseObject({}),
  output: Config,
  cli: { command: 'config set' },
  run: ({ workspace }, patch) => workspace.settings.update(patch),
});

export const getMetrics = method({
  name: 'get_metrics',
  summary: 'Answers counters and gauges in Prometheus text form.',
  effect: 'read',
  on: ['socket', 'http', 'cli'],
  input: nothing,
  output: z.object({ text: z.string() }),
  cli: { command: 'metrics' },
  run: ({ workspace }) => ({ text: workspace.metricsText() }),
});

export const subscribe = method({
  name: 'subscribe',
  summary: 'Sends events on this connection from now on, or from a cursor on.',
  effect: 'read',
  on: ['socket', 'http'],
  input: z.strictObject({
    types: z.array(EventType).min(1).optional().describe('Only these types.'),
    dialog_id: z.string().min(1).optional().describe('Only events of this dialog and of none.'),
    since: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('A cursor seen earlier, from this daemon or one before it.'),
  }),
  output: z.object({
    cursor: z.string(),
    gap: z.boolean().describe('Events after `since` are gone: look again.'),
  }),
  async run({ workspace, peer }, { types, dialog_id: given, since }) {
    if (peer.isBrief) throw noStream();
    const dialogId = given === undefined ? undefined : await workspace.dialogs.idOf(given);
    const subscription = await workspace.events.subscribe({ types, dialogId }, since, peer);
    peer.onGone(() => subscription.cancel());
    return { cursor: subscription.cursor, gap: subscription.gap };
  },
});

function noStream(): SmithyError {
  return new SmithyError('INVALID_REQUEST', 'Events need a connection that stays.', {
    hint: 'Read GET /api/events, or subscribe on the socket.',
  });
}

export const viewerUrl = method({
  name: 'viewer_url',
  summary: 'Gives an address that lets one browser in, once, within a minute.',
  effect: 'write',
  on: ['socket', 'cli'],
  input: nothing,
  output: z.object({
    url: z.string().describe('Used up by the first who opens it.'),
    expires_at: z.string().describe('ISO 8601.'),
  }),
  cli: { command: 'open' },
  run: ({ workspace }) => workspace.viewerUrl(),
});

export const openMcp = method({
  name: 'open_mcp',
  summary: 'Turns this connection into one of the Model Context Protocol, from its answer on.',
  effect: 'read',
  on: ['socket'],
  input: nothing,
  output: z.object({ protocol: z.literal('mcp') }),
  async run({ peer }) {
    await peer.becomeMcp?.();
    return { protocol: 'mcp' as const };
  },
});

export const doctor = method({
  name: 'doctor',
  summary:
    'Checks the state folder, the tools, the settings and all that was saved, and mends what it can.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({ repair: z.boolean().optional().describe('Mend what can be mended.') }),
  output: z.object({
    ok: z.boolean(),
    checks: z.array(
      z.object({
        name: z.string(),
        ok: z.boolean(),
        detail: z.string(),
        repaired: z.boolean().optional(),
      }),
    ),
  }),
  cli: { command: 'doctor' },
  run: ({ workspace }, { repair }) => workspace.doctor(repair ?? false),
});

export const verify = method({
  name: 'verify',
  summary:
    'Reads the ledger, the store, the journals and all that is made from them, and names every file that is not what was written.',
  effect: 'read',
  on: ['socket', 'http', 'cli'],
  input: nothing,
  output: z.object({
    ok: z.boolean(),
    files: z.number().describe('How many were read.'),
    damaged: z.array(
      z.object({ file: z.string().describe('Below `.agentsmithy/`.'), detail: z.string() }),
    ),
  }),
  cli: { command: 'verify' },
  run: ({ workspace }) => workspace.verify(),
});

export const shutdown = method({
  name: 'shutdown',
  summary: 'Finishes what is under way and stops the daemon.',
  effect: 'write',
  on: ['socket', 'cli'],
  input: nothing,
  output: z.object({ stopping: z.literal(true) }),
  cli: { command: 'stop' },
  run({ workspace, peer }) {
    peer.linger();
    workspace.shutdown();
    return { stopping: true as const };
  },
});
