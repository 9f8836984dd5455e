import { z } from 'zod';
import { NoiseRule } from './changes/noise.js';
import { PERSONAL } from './redaction/personal.js';

/**
 * Every setting, its default and its meaning. No setting may ever name a command: the file can
 * come with a cloned repository. `.agentsmithy.example/config.json` shows the defaults; a test
 * keeps the two equal.
 */
const bytes = z.int().min(0);
const patterns = z.array(z.string().min(1).max(4096)).max(10_000);

const group = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never);

export const Config = z.strictObject({
  enableUnknownChangeDetection: z
    .boolean()
    .default(true)
    .describe('Report content that nobody announced.'),
  unknownChangeStrategy: z
    .enum(['strict', 'reject', 'warn', 'auto-integrate', 'integrate'])
    .default('warn')
    .describe('What start_edit does about unknown changes.'),
  excludeFromChecking: patterns
    .default(['*.log', '*.tmp', '*_generated.*', 'node_modules/**'])
    .describe('Tracked files whose unknown changes are not reported.'),
  keepAllCheckpoints: z.boolean().default(false).describe('Keep the history of the known state.'),
  maxCheckpointAge: z.int().min(1).default(7).describe('Days of that history to keep.'),
  trackHidden: z
    .enum(['project', 'none', 'all'])
    .default('project')
    .describe('Which hidden paths are tracked: well-known project files, none, or all.'),
  include: patterns
    .default([])
    .describe('Tracked whatever other rules say; never .git or .agentsmithy.'),
  exclude: patterns.default([]).describe('Never tracked, in gitignore syntax.'),
  maxFileBytes: bytes.default(52_428_800).describe('Larger files are listed as skipped.'),
  watcher: z
    .enum(['auto', 'directories', 'chokidar'])
    .default('auto')
    .describe('The watch engine; auto means directories on Linux, chokidar elsewhere.'),
  edits: group({
    // As start_edit takes them; what is longer than a timer can be would end at once.
    ttlMs: z
      .int()
      .min(1)
      .max(86_400_000)
      .default(600_000)
      .describe('How long a detached edit may stay open.'),
    waitMs: z
      .int()
      .min(0)
      .max(600_000)
      .default(0)
      .describe('How long start_edit waits for a held path.'),
  }),
  snapshots: group({
    everyEvents: z.int().min(1).default(80).describe('Events between automatic snapshots.'),
    everyActiveMinutes: z
      .int()
      .min(1)
      .default(30)
      .describe('Minutes of active editing between them.'),
    everyPatchBytes: bytes.default(5_242_880).describe('Bytes of patches between them.'),
    keepLast: z.int().min(1).default(10).describe('The newest ones that stay.'),
    keepEvery: z.int().min(1).default(10).describe('Of the older ones, each so-manieth stays.'),
    foldAfterDays: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe('Contents between checkpoints of runs older than this go; null: never.'),
  }),
  store: group({
    limitBytes: bytes.default(5_368_709_120).describe('Ceiling of the hidden store on disk.'),
  }),
  noise: group({
    rules: z
      .array(NoiseRule)
      .max(200)
      .default([])
      .describe('What running programs say and get_changes_since leaves out.'),
    disabled: z
      .array(z.string().min(1).max(100))
      .max(500)
      .default([])
      .describe('Names of rules that are not applied, built-in ones included.'),
  }),
  redact: group({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Take secrets out of messages, notes and other words before they are written down.',
      ),
    personal: z
      .array(z.enum(PERSONAL))
      .max(10)
      .default([])
      .describe('What else is taken out: email addresses, numbers of cards.'),
    patterns: z
      .array(z.string().min(1).max(500))
      .max(50)
      .default([])
      .describe('Regular expressions (RE2) of whatever else must not be written down.'),
  }),
  http: group({
    enabled: z.boolean().default(true).describe('Serve HTTP on loopback.'),
    port: z.int().min(0).max(65_535).default(0).describe('0 picks a free one.'),
  }),
  wire: group({
    maxFrameBytes: z
      .int()
      .min(1024)
      .max(268_435_456)
      .default(16_777_216)
      .describe('Largest request the socket reads.'),
  }),
});

export type Config = z.output<typeof Config>;
