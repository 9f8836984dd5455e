import { z } from 'zod';
import { method } from '../method.js';
import { commitId, count, forDialog, time } from './shapes.js';

const id = z.string().min(1).max(200).describe('As in snap-0007, or the name it was given.');
const words = z.record(z.string().min(1).max(100), z.string().max(1_000));

const manifest = z.object({
  id: z.string().describe('snap- and at least four digits.'),
  ts: time,
  name: z.string().nullable(),
  reason: z.string().describe('manual, import, approve, branch, eval, events, minutes or bytes.'),
  base_event_id: z.string().describe('The newest event when it was made.'),
  tar_uri: z.string().nullable().describe('Where it was last exported to; null: nowhere.'),
  commit_id: commitId.describe('Holds its files, on the branch of its id in store/kept.'),
  env: z.record(z.string(), z.string().nullable()),
  seeds: z.record(z.string(), z.union([z.number(), z.string(), z.null()])),
  tools: z.record(z.string(), z.string()),
  files: count.describe('How many files were tracked then.'),
});

const withHashes = manifest.extend({
  hashes: z.record(z.string(), z.string()).describe('Path -> sha256:HEX.'),
  hashes_left_out: z
    .boolean()
    .optional()
    .describe('There are more than 50,000; an exported snapshot has them all.'),
});

export const snapshotSave = method({
  name: 'snapshot_save',
  summary: 'Keeps the whole project as it is now, with a manifest, beside all dialogs.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    name: z.string().min(1).max(200).optional(),
    env: words.optional().describe('Added to what the daemon knows: os, node.'),
    seeds: z.record(z.string().min(1).max(100), z.union([z.number(), z.string()])).optional(),
    tools: words.optional().describe('Versions of tools and models.'),
    ...forDialog,
  }),
  output: withHashes,
  cli: { command: 'snapshot save', positional: ['name'] },
  run: ({ workspace }, { name, env, seeds, tools, dialog_id: dialog }) =>
    workspace.snapshots.save({
      ...{ name, dialog },
      ...(env === undefined ? {} : { env }),
      ...(seeds === undefined ? {} : { seeds }),
      ...(tools === undefined ? {} : { tools }),
    }),
});

export const snapshotList = method({
  name: 'snapshot_list',
  summary: 'Lists the snapshots of the project, oldest first.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({}),
  output: z.object({ snapshots: z.array(manifest) }),
  cli: { command: 'snapshot list' },
  run: ({ workspace }) => workspace.snapshots.list(),
});

export const snapshotShow = method({
  name: 'snapshot_show',
  summary: 'Gives the manifest of a snapshot with the SHA-256 of every file.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ id }),
  output: withHashes,
  cli: { command: 'snapshot show', positional: ['id'] },
  run: ({ workspace }, input) => workspace.snapshots.show(input.id),
});

const file = z.string().min(1).max(4096);

export const snapshotExport = method({
  name: 'snapshot_export',
  summary: 'Writes a snapshot with its manifest into a tar.zst file; never over another file.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({
    id,
    to: file.describe(
      'The file to make: absolute, or relative to the project; on the command line to where it is given.',
    ),
  }),
  output: z.object({
    id: z.string(),
    to: z.string().describe('Absolute.'),
    bytes: count,
    files: count,
    event: z.string(),
  }),
  cli: { command: 'snapshot export', positional: ['id', 'to'], places: ['to'] },
  run: ({ workspace }, { id: given, to }) => workspace.transfers.export(given, to),
});

export const snapshotImport = method({
  name: 'snapshot_import',
  summary: 'Makes a snapshot out of an exported one, every file checked; no file is touched.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({
    from: file.describe(
      'The file: absolute, or relative to the project; on the command line to where it is given.',
    ),
    name: z.string().min(1).max(200).optional().describe('Default: the one it had.'),
    allow_links_out: z
      .boolean()
      .optional()
      .describe('Take links that lead out of the project as they are.'),
  }),
  output: withHashes,
  cli: { command: 'snapshot import', positional: ['from'], places: ['from'] },
  run: ({ workspace }, { from, name, allow_links_out: allowLinksOut }) =>
    workspace.transfers.import({ from, name, allowLinksOut }),
});
