import { z } from 'zod';
import { method } from '../method.js';
import { commitId, forDialog, time } from './shapes.js';

const markName = z
  .string()
  .min(1)
  .max(200)
  .describe('Lowercase with underscores, at most 50 characters, no time: before_refactor.');

export const mark = method({
  name: 'mark',
  summary: 'Sets a named point: a checkpoint, a bookmark of it and a position in all that changes.',
  advice: 'Before something risky; then ask get_changes_since with its name.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    name: markName,
    baseline: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Compare with this baseline instead of with now.'),
    ...forDialog,
  }),
  output: z.object({ name: z.string(), checkpoint: commitId, cursor: z.string() }),
  cli: { command: 'mark', positional: ['name'] },
  run: ({ workspace }, { dialog_id: dialog, ...request }) =>
    workspace.looking.marks.mark({ ...request, dialog }),
});

export const listMarks = method({
  name: 'list_marks',
  summary: 'Lists the named points in their order, each with how things were since the one before.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({}),
  output: z.object({
    marks: z.array(
      z.object({
        name: z.string(),
        created_at: time,
        checkpoint: commitId,
        severity: z.enum(['clean', 'warning', 'error']),
        summary: z.string(),
        url: z.string().nullable().describe('The page that was open.'),
        baseline: z.string().optional(),
      }),
    ),
  }),
  cli: { command: 'marks' },
  run: ({ workspace }) => workspace.looking.marks.list(),
});

export const deleteMark = method({
  name: 'delete_mark',
  summary: 'Removes a named point; its checkpoint stays.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ name: markName }),
  output: z.object({ name: z.string(), event: z.string() }),
  cli: { command: 'unmark', positional: ['name'] },
  run: ({ workspace }, { name }) => workspace.looking.marks.remove(name),
});
