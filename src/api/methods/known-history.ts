import { z } from 'zod';
import { method } from '../method.js';
import { count, filesToEdit, place, time } from './shapes.js';

const summary = {
  id: z.string(),
  timestamp: time,
  snapshotId: z.string().nullable(),
  metadata: z.object({
    totalFiles: count,
    totalSizeBytes: count,
    creationTimeMs: count,
  }),
};

export const createFileCheckpoint = method({
  name: 'create_file_checkpoint',
  summary: 'Keeps copies of some files as they are now.',
  effect: 'write',
  on: ['socket', 'http', 'mcp'],
  input: z.strictObject({
    files: filesToEdit.optional().describe('Default: all that changed since the last checkpoint.'),
    snapshot_id: z.string().min(1).max(200).optional(),
  }),
  output: z.object({ ...summary, missing: z.array(z.string()).describe('Named, but not there.') }),
  run: ({ workspace }, { files, snapshot_id: id }) => workspace.fileCheckpoints.create(files, id),
});

export const loadFileCheckpoint = method({
  name: 'load_file_checkpoint',
  summary: 'Gives the copies of a file checkpoint back; without an id those of the latest.',
  effect: 'read',
  on: ['socket', 'http', 'mcp'],
  input: z.strictObject({ id: z.string().min(1).max(64).optional() }),
  output: z.object({
    checkpoint: z
      .object({
        ...summary,
        files: z.record(
          z.string(),
          z.object({
            hash: z.string(),
            mode: z.string(),
            content: z.string().optional(),
            content_base64: z.string().optional().describe('Instead of content that is no text.'),
          }),
        ),
      })
      .nullable(),
  }),
  run: ({ workspace }, { id }) => workspace.fileCheckpoints.load(id),
});

export const cleanupCheckpoints = method({
  name: 'cleanup_checkpoints',
  summary: 'Removes old file checkpoints; the latest stays.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({
    older_than: z.number().min(0).optional().describe('Days; default: maxCheckpointAge.'),
  }),
  output: z.object({ removed: count, kept: count }),
  cli: { command: 'cleanup', positional: ['older_than'] },
  run: ({ workspace }, { older_than: days }) => workspace.fileCheckpoints.cleanup(days),
});

const milestone = {
  id: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  from: z.string(),
  to: z.string(),
  created_at: time,
};

const described = z.object({
  ...milestone,
  totals: z.object({
    files: count,
    additions: count,
    deletions: count,
    edits: count,
    events: count,
  }),
  gone: z
    .array(z.string())
    .optional()
    .describe(
      'Files whose old content was folded or went with its dialog: their lines are not counted.',
    ),
  files: z.array(
    z.object({
      path: z.string(),
      from: z.string().optional(),
      change: z.string(),
      before: z.string().nullable(),
      after: z.string().nullable(),
      additions: count,
      deletions: count,
    }),
  ),
  diff: z.string(),
});

export const milestoneAdd = method({
  name: 'milestone_add',
  summary: 'Names a span of edits; without bounds everything since the last milestone.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    title: z.string().min(1).max(500),
    description: z.string().max(10_000).optional(),
    from: place.optional().describe('An event or an edit.'),
    to: place.optional().describe('An event or an edit; default: the newest event.'),
    tags: z.array(z.string().min(1).max(100)).max(100).optional(),
  }),
  output: described,
  cli: { command: 'milestone add', positional: ['title'] },
  run: ({ workspace }, request) => workspace.milestones.add(request),
});

export const milestoneList = method({
  name: 'milestone_list',
  summary: 'Lists the milestones, oldest first.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({}),
  output: z.object({ milestones: z.array(z.object(milestone)) }),
  cli: { command: 'milestone list' },
  run: ({ workspace }) => workspace.milestones.list(),
});

export const milestoneShow = method({
  name: 'milestone_show',
  summary: 'Shows what the edits of a milestone came to, with their combined diff.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ id: place }),
  output: described,
  cli: { command: 'milestone show', positional: ['id'] },
  run: ({ workspace }, { id }) => workspace.milestones.show(id),
});
