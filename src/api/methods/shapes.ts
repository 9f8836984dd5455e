import { z } from 'zod';

/** Pieces that several methods share. */
export const count = z.int().min(0);
export const commitId = z.string().describe('40 hex digits.');
export const time = z.string().describe('ISO 8601.');

export const dialogId = z.string().min(1).max(64);
export const forDialog = {
  dialog_id: dialogId.optional().describe('Default: the current dialog.'),
};

export const eventName = z.string().min(1).max(64);
/** What names a state of the project. */
export const place = z.string().min(1).max(200);

export const agent = z.strictObject({
  name: z.string().min(1).max(200),
  version: z.string().max(200).optional(),
});

/** Of a list of files that has an end. */
export const omitted = count.optional().describe('Further files that differ and are not listed.');
export const changedCounts = z.object({ added: count, modified: count, deleted: count });

export const skipped = z.array(z.object({ path: z.string(), reason: z.string() }));

export const restoreAnswer = z.object({
  restored_to: z.string().describe('A checkpoint, or the event that was asked for.'),
  new_checkpoint: commitId,
  safety_checkpoint: commitId.nullable().describe('Where pending work was saved; null: none was.'),
  restored: z.array(z.string()),
  deleted: z.array(z.string()),
  kept: z.array(z.string()),
  skipped,
});

export const filesToEdit = z.array(z.string().min(1).max(4096)).min(1).max(10_000);

export const strategy = z.enum(['strict', 'reject', 'warn', 'auto-integrate', 'integrate']);

export const unknownResult = z.object({
  hasUnknownChanges: z.boolean(),
  unknownChanges: z.array(
    z.object({
      filePath: z.string(),
      changeType: z.enum(['modified', 'created', 'deleted']),
      expectedHash: z.string().nullable(),
      actualHash: z.string().nullable(),
      origin: z
        .enum(['live', 'offline', 'scan', 'git', 'rules'])
        .describe('How it was noticed: as it happened, after a stop, by a scan, with git.'),
      diff: z.string().optional(),
    }),
  ),
  affectedFiles: z.array(z.string()),
  generatedDiff: z.string().optional(),
});

export const redactedWarnings = z
  .array(z.string())
  .optional()
  .describe('There when something was taken out of the text before it was written down.');
