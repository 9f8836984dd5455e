import type { Hash } from '../core/model.js';
import type { Queue } from '../core/queue.js';
import type { CheckpointStore, NewBlob } from '../core/store.js';
import { createHolds, type Acknowledged } from './acknowledged.js';
import { createBlobPacks } from './blob-packs.js';
import { createBlobWriter } from './blob-writer.js';
import { diskFailure } from './failures.js';
import type { Importer } from './importer.js';
import type { Layout } from './layout.js';
import type { PackEntry } from './pack-file.js';
import type { Packs } from './packs.js';
import type { Reader } from './reader.js';
import type { SpareFiles } from './spare-files.js';
import type { Trust } from './trust.js';

export interface NewBlobsDeps extends Omit<Trust, 'renew' | 'doubt'> {
  readonly writing: Queue;
  readonly layout: Layout;
  readonly spares: Pick<SpareFiles, 'take'>;
  readonly packs: Packs;
  readonly reader: Reader;
  readonly importer: Importer;
  readonly acknowledged: Acknowledged;
  readonly isRepacking: () => boolean;
}

/** Contents without a commit. */
export interface NewBlobs {
  readonly write: CheckpointStore['writeBlobs'];
  /** What no prune may take away yet. */
  held(): ReadonlySet<Hash>;
  /** The packs so far belong to git from here on, or have gone. */
  forgetPacks(): void;
}

/** A long-lived reader looks through every pack it ever saw, those that have gone included. */
const STALE_PACKS = 256;

export function createNewBlobs(deps: NewBlobsDeps): NewBlobs {
  const { packs, reader, importer, acknowledged, admit, assure, requireSound, requireSpace } = deps;
  const holds = createHolds();
  const blobPacks = createBlobPacks(deps);
  /** Packs that the reader may know and that have gone. */
  let stale = 0;

  /** Content of any size: through the child, which holds none of it. */
  async function stream(blobs: readonly NewBlob[]): Promise<void> {
    // The child leaves out what any pack has, flushed or not.
    const missing: NewBlob[] = [];
    for (const blob of blobs) {
      const pack = packs.find(blob.hash);
      if (pack === undefined || !(await assure(pack))) missing.push(blob);
    }
    requireSpace(missing.reduce((sum, { size = 0 }) => sum + size, 0));
    await admit(await deps.retried(() => importer.blobs(missing)));
    for (const { hash } of blobs) acknowledged.add(hash);
  }

  async function add(entries: readonly PackEntry[]): Promise<void> {
    await blobPacks.add(entries).catch((error: unknown) => {
      throw diskFailure('write', error);
    });
  }

  async function rollUp(): Promise<void> {
    const count = await blobPacks.roll();
    stale += count;
    if (stale <= STALE_PACKS) return;
    reader.restart();
    stale = 0;
  }

  return {
    write: createBlobWriter({
      writing: deps.writing,
      acknowledged,
      holds,
      find: (hash) => packs.find(hash),
      assure,
      requireSound,
      requireSpace,
      add,
      stream,
      afterwards: rollUp,
    }),
    held: () => holds.all(),
    forgetPacks: () => blobPacks.forget(),
  };
}
