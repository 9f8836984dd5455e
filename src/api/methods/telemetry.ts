import { z } from 'zod';
import type { AttachedPage } from '../../workspace/telemetry.js';
import { NoiseRule } from '../../core/changes/noise.js';
import { method, type Context } from '../method.js';
import { count, time } from './shapes.js';

const at = z
  .union([z.iso.datetime({ offset: true, local: true }), z.number()])
  .optional()
  .describe('ISO 8601, or ms since 1970. Default: now.');
const text = z.string().max(1_000_000);
const MOST = 10_000;

const consoleEntry = z.strictObject({
  level: z.enum(['error', 'warning', 'info', 'log', 'debug']),
  message: text,
  source: text.optional().describe('file:line'),
  timestamp: at,
});
const networkEntry = z.strictObject({
  url: text,
  method: z.string().max(100),
  status: z.int().min(0).max(999).describe('0: there was no answer.'),
  duration_ms: z.number().min(0).optional(),
  timestamp: at,
});
const websocketEntry = z.strictObject({
  event: z.enum(['open', 'close', 'error', 'message']),
  url: text,
  id: text.optional(),
  close_code: z.int().optional(),
  close_reason: text.optional(),
  message: text.optional(),
  timestamp: at,
});
const actionEntry = z.strictObject({
  type: z.string().min(1).max(100).describe('click, navigation, typing, ...'),
  url: text.optional(),
  target: text.optional(),
  value: text.optional().describe('Never of a password.'),
  timestamp: at,
});

export const pushTelemetry = method({
  name: 'push_telemetry',
  summary: 'Tells what a running program said and did: console, requests, WebSockets, actions.',
  effect: 'write',
  on: ['socket', 'http', 'mcp'],
  input: z.strictObject({
    console: z.array(consoleEntry).max(MOST).optional(),
    network: z.array(networkEntry).max(MOST).optional(),
    websocket: z.array(websocketEntry).max(MOST).optional(),
    actions: z.array(actionEntry).max(MOST).optional(),
    attached: z
      .array(z.strictObject({ url: z.string().max(2_000), title: z.string().max(500).optional() }))
      .max(50)
      .optional()
      .describe('The pages this connection tells of, until it ends; an empty list: none any more.'),
  }),
  output: z.object({
    accepted: count,
    dropped: count.describe('More than is kept: the older ones of this call.'),
  }),
  run: (context, { attached, ...given }) => {
    const { telemetry } = context.workspace.looking;
    if (attached !== undefined) attach(context, attached);
    const now = context.workspace.now();
    return telemetry.push({
      console: given.console?.map(({ timestamp, source = null, ...entry }) => {
        return { ...entry, source, at: timeOf(timestamp, now) };
      }),
      network: given.network?.map(({ timestamp, duration_ms: durationMs = null, ...entry }) => {
        return { ...entry, durationMs, at: timeOf(timestamp, now) };
      }),
      websocket: given.websocket?.map(({ timestamp, ...entry }) => ({
        event: entry.event,
        url: entry.url,
        id: entry.id ?? null,
        closeCode: entry.close_code ?? null,
        closeReason: entry.close_reason ?? null,
        message: entry.message ?? null,
        at: timeOf(timestamp, now),
      })),
      actions: given.actions?.map(({ timestamp, type, url, target, value }) => ({
        ...{ type, url: url ?? null, target: target ?? null, value: value ?? null },
        at: timeOf(timestamp, now),
      })),
    });
  },
});

/** A request that comes and goes stays attached to nothing. */
function attach({ workspace, peer }: Context, pages: readonly AttachedPage[]): void {
  if (peer.isBrief) return;
  const { telemetry } = workspace.looking;
  if (telemetry.attach(peer.identity, pages)) peer.onGone(() => telemetry.detach(peer.identity));
}

/** Nothing has happened in the future or before clocks count, whatever its own says. */
function timeOf(given: string | number | undefined, now: number): number {
  if (given === undefined) return now;
  const at = typeof given === 'number' ? given : Date.parse(given);
  return Number.isFinite(at) ? Math.max(0, Math.min(at, now)) : now;
}

const noiseRule = NoiseRule.extend({ builtin: z.boolean(), enabled: z.boolean() });

export const configureNoise = method({
  name: 'configure_noise',
  summary:
    'Says what of console, requests and WebSockets is no news; without parameters it lists the rules.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    add: z.array(NoiseRule).max(100).optional().describe('New rules, or others of the same name.'),
    remove: z.array(z.string().max(100)).max(200).optional().describe('Names of own rules.'),
    enable: z.array(z.string().max(100)).max(200).optional(),
    disable: z.array(z.string().max(100)).max(200).optional().describe('Built-in ones too.'),
  }),
  output: z.object({ rules: z.array(noiseRule) }),
  cli: { command: 'noise' },
  run: ({ workspace }, request) => workspace.looking.noise.configure(request),
});

const baselineName = z.string().min(1).max(100).describe('For example baseline_checkout.');

const baselineSummary = z.object({
  name: z.string(),
  created_at: time,
  description: z.string().nullable(),
  endpoints: count,
  console_errors: count,
  console_warnings: count,
  websockets: count,
});

export const saveBaseline = method({
  name: 'save_baseline',
  summary: 'Remembers how endpoints, console and WebSockets do now, as how they should do.',
  advice: 'Call it when a feature is confirmed to work.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    name: baselineName,
    description: z.string().max(1_000).optional(),
  }),
  output: baselineSummary,
  cli: { command: 'baseline save', positional: ['name', 'description'] },
  run: ({ workspace }, request) => workspace.looking.baselines.save(request),
});

const compared = z.array(
  z.object({
    kind: z.enum(['status', 'latency', 'console_error', 'console_warning', 'websocket']),
    what: z.string(),
    expected: z.union([z.string(), z.number()]).nullable(),
    actual: z.union([z.string(), z.number()]).nullable(),
  }),
);

export const compareBaseline = method({
  name: 'compare_baseline',
  summary: 'Tells what does worse now than when a baseline was saved.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    name: baselineName,
    tolerance: z
      .number()
      .min(1)
      .max(1_000)
      .optional()
      .describe('How many times slower is still the same; default 3.'),
  }),
  output: z.object({
    name: z.string(),
    status: z.enum(['match', 'regression']),
    regressions: compared,
    improvements: compared,
    saved_at: time,
  }),
  cli: { command: 'baseline compare', positional: ['name'] },
  run: ({ workspace }, request) => workspace.looking.baselines.compare(request),
});

export const listBaselines = method({
  name: 'list_baselines',
  summary: 'Lists the baselines.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({}),
  output: z.object({ baselines: z.array(baselineSummary) }),
  cli: { command: 'baseline list' },
  run: ({ workspace }) => workspace.looking.baselines.list(),
});

export const deleteBaseline = method({
  name: 'delete_baseline',
  summary: 'Forgets a baseline.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ name: baselineName }),
  output: z.object({ name: z.string() }),
  cli: { command: 'baseline rm', positional: ['name'] },
  run: ({ workspace }, { name }) => workspace.looking.baselines.delete(name),
});
