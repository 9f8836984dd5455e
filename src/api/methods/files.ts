import { z } from 'zod';
import { method } from '../method.js';
import { count } from './shapes.js';

export const knownFiles = method({
  name: 'known_files',
  summary: 'Lists the tracked files with the content known right now.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    paths: z.array(z.string().min(1)).min(1).max(10_000).optional().describe('Only these.'),
    after: z.string().min(1).optional().describe('Only paths after this one: the next page.'),
    limit: z.int().min(1).max(100_000).optional().describe('Default: 1000.'),
  }),
  output: z.object({
    files: z.array(
      z.object({
        path: z.string(),
        kind: z.enum(['file', 'link']),
        mode: z.enum(['100644', '100755', '120000']),
        hash: z.string().describe('The git blob id.'),
        size: count,
      }),
    ),
    empty_folders: z.array(z.string()).describe('At most 1000.'),
    skipped: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .describe('Tracked, but without known content; at most 1000.'),
    total: count.describe('Tracked files in all.'),
    fresh: z.boolean().describe('True: every change that ended before the call is in.'),
    next: z.string().optional().describe('There is more: pass it as `after`.'),
  }),
  cli: { command: 'files', positional: ['paths'] },
  run: ({ workspace }, query) => workspace.knownFiles(query),
});

export const rescan = method({
  name: 'rescan',
  summary: 'Compares everything known with the disk, whatever the events said.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({}),
  output: z.object({ fresh: z.boolean(), files: count, duration_ms: count }),
  cli: { command: 'rescan' },
  run: ({ workspace }) => workspace.rescan(),
});

export const gitOperation = method({
  name: 'git_operation',
  summary: 'Says, from a hook, that what is noticed now was done by an operation of git.',
  effect: 'write',
  on: ['socket', 'http'],
  input: z.strictObject({
    what: z.enum(['checkout', 'merge', 'amend', 'rebase']),
    from: z.string().max(200).optional().describe('HEAD before.'),
    to: z.string().max(200).optional().describe('HEAD after.'),
  }),
  output: z.object({ fresh: z.boolean() }),
  run: ({ workspace }, operation) => workspace.gitOperation(operation),
});
