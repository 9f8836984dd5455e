import { z } from 'zod';
import { method } from '../method.js';
import {
  changedCounts,
  commitId,
  count,
  dialogId,
  forDialog,
  redactedWarnings,
  skipped,
  time,
} from './shapes.js';

export const createDialog = method({
  name: 'create_dialog',
  summary: 'Opens a dialog with a first checkpoint of the whole project and makes it current.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ title: z.string().max(500).optional().describe('For people.') }),
  output: z.object({
    dialog_id: z.string(),
    title: z.string(),
    initial_checkpoint: commitId,
    active_session: z.string(),
  }),
  cli: { command: 'dialog new', positional: ['title'] },
  run: ({ workspace }, { title }) => workspace.dialogs.create(title),
});

export const listDialogs = method({
  name: 'list_dialogs',
  summary: 'Lists the dialogs of the project and names the current one.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({}),
  output: z.object({
    dialogs: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        created_at: time,
        updated_at: time,
        active_session: z.string().nullable(),
        last_approved_at: time.nullable(),
        initial_checkpoint: commitId,
      }),
    ),
    current_dialog_id: z.string().nullable(),
  }),
  cli: { command: 'dialog list' },
  run: ({ workspace }) => workspace.dialogs.list(),
});

export const useDialog = method({
  name: 'use_dialog',
  summary: 'Makes a dialog the current one.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({ dialog_id: dialogId }),
  output: z.object({ current_dialog_id: z.string() }),
  cli: { command: 'dialog use', positional: ['dialog_id'] },
  run: ({ workspace }, { dialog_id: id }) => workspace.dialogs.use(id),
});

export const deleteDialog = method({
  name: 'delete_dialog',
  summary: 'Deletes a dialog with its whole history and frees what only it used.',
  effect: 'write',
  destructive: true,
  on: ['socket', 'http', 'cli'],
  input: z.strictObject({ dialog_id: dialogId }),
  output: z.object({ dialog_id: z.string(), freed_bytes: count }),
  cli: { command: 'dialog rm', positional: ['dialog_id'] },
  run: ({ workspace }, { dialog_id: id }) => workspace.dialogs.remove(id),
});

export const userMessage = method({
  name: 'user_message',
  summary: 'Saves the project as it is before a message is handled, and records the message.',
  advice: 'Call it once for each message of the user, before you do anything about it.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    content: z.string().max(1_000_000),
    message_id: z.string().min(1).max(200).optional().describe('Makes a repeated call harmless.'),
    ...forDialog,
  }),
  output: z.object({
    checkpoint: commitId,
    session: z.string(),
    message_index: count,
    warnings: redactedWarnings,
  }),
  cli: { command: 'message', positional: ['content'] },
  run: ({ workspace }, { content, message_id: messageId, dialog_id: dialog }) =>
    workspace.checkpoints.message({ content, messageId, dialog }),
});

export const createCheckpoint = method({
  name: 'create_checkpoint',
  summary: 'Saves the whole project as it is now on the active session.',
  advice: 'Call it before something risky; it costs milliseconds.',
  effect: 'write',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    message: z.string().max(10_000).optional(),
    kind: z.enum(['manual', 'pre_commit', 'session_start']).optional(),
    ...forDialog,
  }),
  output: z.object({
    commit_id: commitId,
    message: z.string(),
    session: z.string(),
    changed: changedCounts,
    skipped,
    duration_ms: z.number().min(0),
    warnings: redactedWarnings,
  }),
  cli: { command: 'checkpoint', short: { m: 'message' } },
  run: ({ workspace }, { message, kind, dialog_id: dialog }) =>
    workspace.checkpoints.create({ message, kind, dialog }),
});

export const listCheckpoints = method({
  name: 'list_checkpoints',
  summary: 'Lists the checkpoints of a dialog, newest first.',
  effect: 'read',
  on: ['socket', 'http', 'mcp', 'cli'],
  input: z.strictObject({
    session: z.string().min(1).max(100).optional().describe('Default: every session.'),
    limit: z.int().min(1).max(1000).optional().describe('Default: 100.'),
    before: z.string().min(4).max(64).optional().describe('Only those older than this one.'),
    ...forDialog,
  }),
  output: z.object({
    dialog_id: z.string(),
    initial_checkpoint: commitId,
    checkpoints: z.array(
      z.object({
        commit_id: commitId,
        message: z.string(),
        kind: z.string(),
        session: z.string(),
        created_at: time,
        changed: changedCounts,
      }),
    ),
  }),
  cli: { command: 'log', short: { n: 'limit' } },
  run: ({ workspace }, { dialog_id: dialog, ...page }) => workspace.checkpoints.list(dialog, page),
});
