import { z } from 'zod';
import { Config } from '../../core/config.js';
import { EventType } from '../../core/events.js';
import { method } from '../method.js';

const count = z.int().min(0);
const nothing = z.strictObject({});

export const status = method({
  name: 'status',
  summary: 'Tells what the daemon watches and how it is doing.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: nothing,
  output: z.object({
    version: z.string(),
    protocol: z.int(),
    pid: z.int(),
    root: z.string(),
    uptime_ms: count,
    current_dialog_id: z.string().nullable(),
    edits_open: count,
    ledger: z.object({ events: count, bytes: count }),
    store: z.object({ bytes: count, objects: count, packs: count, limit_bytes: count }),
    memory_bytes: count,
    warnings: z.array(z.string()).describe('What needs attention, one sentence each.'),
  }),
  cli: { command: 'status' },
  run: ({ workspace }) => workspace.status(),
});

export const getConfig = method({
  name: 'get_config',
  summary: 'Answers the whole effective configuration.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: nothing,
  output: Config,
  cli: { command: 'config get' },
  run: ({ workspace }) => workspace.config(),
});

export const updateConfig = method({
  name: 'update_config',
  summary: 'Changes settings, keeps them in config.json and applies them at once.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  // Checked by the workspace, which merges groups: here only that it is an object.
  input: z.looseObject({}),
  output: Config,
  cli: { command: 'config set' },
  run: ({ workspace }, patch) => workspace.updateConfig(patch),
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
  on: ['socket'],
  input: z.strictObject({
    types: z.array(EventType).min(1).optional().describe('Only these types.'),
    dialog_id: z.string().min(1).optional().describe('Only events of this dialog and of none.'),
    since: z.string().min(1).max(200).optional().describe('A cursor seen earlier.'),
  }),
  output: z.object({
    cursor: z.string(),
    gap: z.boolean().describe('Events after `since` are gone: look again.'),
  }),
  run({ workspace, peer }, { types, dialog_id: dialogId, since }) {
    const subscription = workspace.events.subscribe({ types, dialogId }, since, (event) =>
      peer.deliver(event),
    );
    peer.onGone(() => subscription.cancel());
    return { cursor: subscription.cursor, gap: subscription.gap };
  },
});

export const doctor = method({
  name: 'doctor',
  summary: 'Checks the state folder, the tools and the settings, and mends what can be mended.',
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
