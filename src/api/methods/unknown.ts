import { z } from 'zod';
import { strategyOf } from '../../workspace/edits.js';
import { method } from '../method.js';
import { count, filesToEdit, strategy, unknownResult } from './shapes.js';

const warnings = z.array(z.string());

export const detectUnknown = method({
  name: 'detect_unknown_modifications',
  summary: 'Finds content that differs from the known state and that no open edit claims.',
  advice: 'Call it to learn whether a person or another program changed files behind your back.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ files: filesToEdit.optional().describe('Default: all tracked ones.') }),
  output: unknownResult.extend({ warnings }),
  cli: { command: 'unknown', positional: ['files'] },
  run: ({ workspace }, { files }) => workspace.unknown.detect(files),
});

export const validateFiles = method({
  name: 'validate_files',
  summary: 'Checks that files hold what is known of them, and says what to do when they do not.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'mcp'],
  input: z.strictObject({
    files: filesToEdit,
    autoHandleUnknownChanges: z.boolean().default(false).describe('Apply the strategy at once.'),
    strictMode: z.boolean().default(false).describe('Any unknown change is a failure.'),
  }),
  output: z.object({
    success: z.boolean(),
    error: z.string().optional(),
    unknownChanges: unknownResult.optional(),
    warnings,
    suggestions: z.array(z.string()),
  }),
  run: ({ workspace }, { files, autoHandleUnknownChanges: autoHandle, strictMode: isStrict }) =>
    workspace.unknown.validate(files, { autoHandle, isStrict }),
});

export const handleUnknown = method({
  name: 'handle_unknown_changes',
  summary: 'Takes unknown changes in, puts the known content back, or notes them.',
  advice: 'Do not choose reject unless the user asked for it: it puts the files of others back.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'mcp'],
  input: z.strictObject({
    files: filesToEdit.optional().describe('Default: all of them.'),
    strategy,
  }),
  output: z.object({
    success: z.boolean(),
    message: z.string(),
    compensatingSnapshotId: z.string().optional().describe('The event that took them in.'),
    modifiedFiles: z.array(z.string()).optional(),
    saved: z.array(z.object({ path: z.string(), hash: z.string() })).optional(),
  }),
  run: ({ workspace }, { files, strategy: given }) =>
    workspace.unknown.handle(files, strategyOf(given)),
});

export const resetKnownState = method({
  name: 'reset_known_state',
  summary: 'Takes whatever is on disk as known from now on.',
  effect: 'write',
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({}),
  output: z.object({ files: count.describe('How many were unknown before.') }),
  cli: { command: 'unknown reset' },
  run: ({ workspace }) => workspace.unknown.reset(),
});
