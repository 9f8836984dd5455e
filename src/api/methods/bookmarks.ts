import { z } from 'zod';
import { method } from '../method.js';
import {
  agent,
  commitId,
  eventName,
  forDialog,
  redactedWarnings,
  restoreAnswer,
  time,
} from './shapes.js';

const name = z.string().min(1).max(200);
const files = z.array(z.string().min(1).max(4096)).max(1_000);
const artifacts = z
  .array(z.string().min(1).max(4096))
  .max(1_000)
  .describe('Where traces and reports are.');
const said = {
  artifacts: artifacts.optional(),
  agent: agent.optional().describe('Who says it.'),
  run_id: z.string().min(1).max(200).optional(),
  ...forDialog,
};

export const bookmarkAdd = method({
  name: 'bookmark_add',
  summary:
    'Names a state of the project and keeps it; without a target the project is saved as it is now.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    name: name.describe('Unique in the project: letters, digits, "_", "-", "." and "/".'),
    event: eventName.optional().describe('The state right after this event.'),
    snapshot: z.string().min(1).max(200).optional(),
    checkpoint: z.string().min(4).max(64).optional().describe('Of any dialog.'),
    ...forDialog,
  }),
  output: z.object({
    name: z.string(),
    id: z.string().describe('What it names: an event, a snapshot or a checkpoint.'),
    commit_id: commitId.describe('The commit that holds the state.'),
    event: z.string().describe('The event that tells of the bookmark.'),
  }),
  cli: { command: 'bookmark add', positional: ['name'] },
  run: ({ workspace }, { dialog_id: dialog, ...request }) =>
    workspace.bookmarks.add({ ...request, dialog }),
});

export const bookmarkRemove = method({
  name: 'bookmark_remove',
  summary: 'Takes a bookmark away; what only it kept may go with the next clean-up.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ name }),
  output: z.object({ name: z.string(), id: z.string(), event: z.string() }),
  cli: { command: 'bookmark rm', positional: ['name'] },
  run: ({ workspace }, input) => workspace.bookmarks.remove(input.name),
});

export const bookmarkList = method({
  name: 'bookmark_list',
  summary: 'Lists the bookmarks of the project.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({}),
  output: z.object({
    bookmarks: z.record(z.string(), z.string()).describe('Name -> what it names.'),
    details: z.array(
      z.object({
        name: z.string(),
        id: z.string(),
        commit_id: commitId,
        event: z.string(),
        created_at: time,
      }),
    ),
  }),
  cli: { command: 'bookmark list' },
  run: ({ workspace }) => workspace.bookmarks.list(),
});

export const rewind = method({
  name: 'rewind',
  summary:
    'Takes the project back to a bookmark, event or checkpoint and begins a new session there.',
  advice: 'Use it to begin anew from an older state; to merely go back use restore or undo.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    target: name.describe('A bookmark, an event, a snapshot or a checkpoint.'),
    branch: z.string().min(1).max(100).optional().describe('The name of the new session.'),
    ...forDialog,
  }),
  output: restoreAnswer.extend({
    event: z.string().describe('The event that tells of it.'),
    session: z.string().describe('The session that begins.'),
  }),
  cli: { command: 'rewind', positional: ['target'] },
  run: ({ workspace }, { dialog_id: dialog, ...request }) =>
    workspace.rewinds.rewind({ ...request, dialog }),
});

export const note = method({
  name: 'note',
  summary: 'Writes a remark into the history.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    text: z.string().min(1).max(10_000),
    files: files.optional().describe('What it is about.'),
    ...said,
  }),
  output: z.object({ event: z.string(), warnings: redactedWarnings }),
  cli: { command: 'note', positional: ['text'] },
  run: ({ workspace }, { dialog_id: dialog, run_id: runId, ...request }) =>
    workspace.remarks.note({ ...request, runId, dialog }),
});

export const recordEval = method({
  name: 'record_eval',
  summary: 'Writes the outcome of an evaluation, benchmark or test run into the history.',
  effect: 'write',
  on: ['socket', 'http', 'mcp'],
  input: z.strictObject({
    name: z.string().min(1).max(500),
    metrics: z
      .record(z.string().min(1).max(200), z.number())
      .refine((all) => Object.keys(all).length <= 1_000, 'at most 1000 metrics')
      .optional(),
    passed: z.boolean().optional(),
    report: z.string().max(100_000).optional().describe('Text; larger ones as an artifact.'),
    files: files.optional(),
    ...said,
  }),
  output: z.object({ event: z.string(), warnings: redactedWarnings }),
  run: ({ workspace }, { dialog_id: dialog, run_id: runId, ...request }) =>
    workspace.remarks.recordEval({ ...request, runId, dialog }),
});
