import { z } from 'zod';

/** What an older program's `dialogs/index.json` tells; anything else in it is none of ours. */
const OldIndex = z.looseObject({
  dialogs: z.array(z.unknown()).default([]),
  current_dialog_id: z.string().nullable().catch(null).default(null),
});

const OldEntry = z.looseObject({
  id: z.string(),
  title: z.string().optional().catch(undefined),
  created_at: z.iso.datetime({ offset: true }).optional().catch(undefined),
  initial_checkpoint: z.string().optional().catch(undefined),
});

export interface OldIndex {
  readonly current: string | null;
  readonly entries: ReadonlyMap<string, z.output<typeof OldEntry>>;
}

/** An index that makes no sense names nobody: the repositories are there all the same. */
export function readOldIndex(content: unknown): OldIndex {
  const parsed = OldIndex.safeParse(content);
  if (!parsed.success) return { current: null, entries: new Map() };
  const entries = parsed.data.dialogs.flatMap((one) => {
    const entry = OldEntry.safeParse(one);
    return entry.success ? [[entry.data.id, entry.data] as const] : [];
  });
  return { current: parsed.data.current_dialog_id, entries: new Map(entries) };
}
