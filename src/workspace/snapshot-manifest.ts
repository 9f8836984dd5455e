import { z } from 'zod';
import { SmithyError } from '../core/errors.js';

const text = z.string().max(10_000);
const short = z.string().max(200);

/** The manifest of an archive: somebody else may have written it. */
const Archived = z.looseObject({
  format: z.literal(1),
  id: short,
  ts: short,
  name: short.nullable(),
  base_event_id: short,
  env: z.record(short, text.nullable()),
  seeds: z.record(short, z.union([z.number(), text, z.null()])),
  tools: z.record(short, text),
  empty_folders: z.array(z.string().max(4096)).max(10_000),
  hashes: z.record(z.string().max(4096), z.string().regex(/^sha256:[0-9a-f]{64}$/u)),
});

export interface ArchivedManifest extends Pick<
  z.output<typeof Archived>,
  'id' | 'ts' | 'name' | 'env' | 'seeds' | 'tools' | 'hashes'
> {
  readonly baseEventId: string;
  readonly emptyFolders: readonly string[];
}

/** @throws SmithyError STORE_CORRUPT */
export function readManifest(content: unknown): ArchivedManifest {
  const read = Archived.safeParse(content);
  if (!read.success) {
    const why = read.error.issues[0]?.message ?? 'it is not understood';
    throw new SmithyError('STORE_CORRUPT', `The archive's manifest cannot be read: ${why}.`, {
      hint: 'Nothing was taken in. It may be of a newer version.',
      data: { why },
    });
  }
  const { base_event_id: baseEventId, empty_folders: emptyFolders, ...manifest } = read.data;
  const { id, ts, name, env, seeds, tools, hashes } = manifest;
  return { id, ts, name, env, seeds, tools, hashes, baseEventId, emptyFolders };
}
