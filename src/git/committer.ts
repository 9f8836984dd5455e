import { rmSync } from 'node:fs';
import { createByteCache, type ByteCache } from '../core/byte-cache.js';
import type { CommitId, Hash } from '../core/model.js';
import type { CommitRequest, FileChange, NewBlob } from '../core/store.js';
import { objectId, requireContent } from './blobs.js';
import { both } from './both.js';
import { createBreath } from './breath.js';
import { diskFailure } from './failures.js';
import type { Importer } from './importer.js';
import type { Layout } from './layout.js';
import { toText } from './message.js';
import { createTrees } from './new-trees.js';
import { HURRIED, toEntry, type ObjectKind, type PackEntry } from './pack-file.js';
import type { Packs } from './packs.js';
import type { Reader } from './reader.js';
import { writeSmallPack } from './small-pack.js';
import type { SpareFiles } from './spare-files.js';

/** Entries that were made before anybody asked for them. */
type ReadyEntries = ByteCache<Hash, PackEntry>;

export interface Written {
  readonly id: CommitId;
  /** What must be flushed before anything may refer to the commit. */
  readonly packs: readonly string[];
}

export interface CommitterDeps {
  readonly layout: Layout;
  readonly spares: Pick<SpareFiles, 'take'>;
  readonly reader: Pick<Reader, 'read'>;
  readonly importer: Importer;
  readonly packs: Pick<Packs, 'knows' | 'find'>;
  readonly treeOf: (commit: CommitId) => Promise<string>;
  /** On the disk for certain. */
  readonly isStored: (hash: Hash) => Promise<boolean>;
  /** New packs must be held against it. */
  readonly isRepacking: () => boolean;
}

export interface Committer {
  /** What a commit of these changes would write, made now and kept in memory. */
  prepare(base: CommitId | null, changes: readonly FileChange[]): Promise<void>;
  /** Only for the holder of the writer's turn. What `many` answers is packed and flushed by then. */
  commit(
    request: CommitRequest,
    changes: readonly FileChange[],
    many: Promise<ReadonlySet<Hash>>,
  ): Promise<Written>;
}

const PERSON = 'smithyd <smithyd@localhost>';
/** What is larger is held by nobody: git's own child takes it piece by piece. */
const LARGEST = 1024 * 1024;
/** More than this is not gathered in memory. */
const PACK_BYTES = 8 * 1024 * 1024;
/** A larger content or folder is not prepared: it takes milliseconds, and may change again before it is asked for. */
const MOST_PREPARED = 64 * 1024;
/** What is made ready at a time is a few of these and the folders above them. */
const MOST_READY_BYTES = 1024 * 1024;
/** Commits whose trees are remembered: the next one of each dialog at work starts from one of them. */
const MOST_TIPS = 64;

/**
 * Writes contents, trees and the commit in process, as one small pack. A long-lived `git fast-import`
 * did it before: 1.3 to 1.8 ms for one file where this takes 0.5, and it had to be ended and begun again
 * as it grew old.
 */
export function createCommitter(deps: CommitterDeps): Committer {
  const trees = createTrees(deps.reader);
  const tips = new Map<CommitId, string>();
  const ready: ReadyEntries = createByteCache(MOST_READY_BYTES, ({ bytes }) => bytes.byteLength);

  async function startOf(base: CommitId | null): Promise<string | undefined> {
    return base === null ? undefined : (tips.get(base) ?? (await deps.treeOf(base)));
  }

  function remember(commit: CommitId, tree: string): void {
    tips.set(commit, tree);
    for (const oldest of tips.keys()) {
      if (tips.size <= MOST_TIPS) return;
      tips.delete(oldest);
    }
  }

  async function prepareBlob(blob: NewBlob & { readonly path: string }): Promise<void> {
    if ((blob.size ?? 0) > MOST_PREPARED) return;
    if (ready.get(blob.hash) !== undefined || deps.packs.find(blob.hash) !== undefined) return;
    const content = await blob.content();
    if ('chunks' in content || content.byteLength > MOST_PREPARED) {
      throw new Error(`${blob.path} has grown too large to be prepared`);
    }
    requireContent(content, blob.hash, blob.path);
    ready.add(blob.hash, await toEntry(blob.hash, content, HURRIED));
  }

  async function prepareTree(id: Hash, bytes: Buffer): Promise<void> {
    // Each time something changes in it, all of it would be packed anew.
    if (bytes.length > MOST_PREPARED) throw new Error('the folder is too large to be prepared');
    if (ready.get(id) === undefined)
      ready.add(id, await toEntry(id, bytes, { kind: 'tree', ...HURRIED }));
  }

  return {
    async prepare(base, changes) {
      for (const blob of changes.filter(isBlob)) await prepareBlob(blob);
      await trees.edit(await startOf(base), changes, (id, bytes) => prepareTree(id as Hash, bytes));
    },

    async commit(request, changes, many) {
      const pack = createPacking(deps, ready);
      const blobs = changes.filter(isBlob);
      try {
        // Trees need no more than names: they are made while threads work at the contents.
        const [large, root] = await both(
          many.then((packed) => addSmall(pack, without(blobs, packed), request.onProgress)),
          startOf(request.base).then((base) =>
            trees.edit(base, changes, (id, bytes) => pack.add('tree', id as Hash, bytes)),
          ),
        );
        const bytes = encodeCommit(request, root);
        const id = objectId('commit', bytes);
        await pack.add('commit', id as Hash, bytes);
        pack.took(await deps.importer.blobs(large));
        const packs = await pack.finish();
        remember(id as CommitId, root);
        return { id: id as CommitId, packs };
      } catch (error) {
        pack.discard();
        throw error;
      }
    },
  };
}

function without<B extends NewBlob>(blobs: readonly B[], packed: ReadonlySet<Hash>): readonly B[] {
  return packed.size === 0 ? blobs : blobs.filter(({ hash }) => !packed.has(hash));
}

/** Answers those that are too large to be held. */
async function addSmall(
  pack: Packing,
  blobs: readonly (NewBlob & { readonly path: string })[],
  onProgress: CommitRequest['onProgress'],
): Promise<NewBlob[]> {
  const breathe = createBreath();
  const large: NewBlob[] = [];
  for (const [done, blob] of blobs.entries()) {
    onProgress?.(done, blobs.length);
    if ((await pack.has(blob.hash)) || pack.addReady(blob.hash)) continue;
    const content = (blob.size ?? 0) > LARGEST ? undefined : await blob.content();
    if (content === undefined || 'chunks' in content || content.byteLength > LARGEST) {
      large.push(blob);
      continue;
    }
    requireContent(content, blob.hash, blob.path);
    await pack.add('blob', blob.hash, content);
    await breathe();
  }
  return large;
}

interface Packing {
  has(hash: Hash): Promise<boolean>;
  /**
   * Once. Trees and commits are new but for a few, so whether the store has them is asked only during
   * a repack: what is in a pack that it must leave alone, it would drop from all others.
   */
  add(kind: ObjectKind, hash: Hash, bytes: Uint8Array): Promise<void>;
  /** One that was made before, if there is any. */
  addReady(hash: Hash): boolean;
  /** Packs that others made for it. */
  took(packs: readonly string[]): void;
  /** The packs, not flushed. */
  finish(): Promise<string[]>;
  /** Nobody will refer to them, but for those that were there before. */
  discard(): void;
}

function createPacking(deps: CommitterDeps, ready: Pick<ReadyEntries, 'get'>): Packing {
  const { layout, spares, packs, isStored, isRepacking } = deps;
  const added = new Set<Hash>();
  const all: string[] = [];
  const own = new Set<string>();
  let entries: PackEntry[] = [];
  let bytes = 0;

  async function write(): Promise<void> {
    if (entries.length === 0) return;
    const some = entries;
    entries = [];
    bytes = 0;
    const place = { folder: layout.packs, spares, packs, isHeld: isRepacking() };
    const { path, isOld } = await writeSmallPack(some, place).catch((error: unknown) => {
      throw diskFailure('write', error);
    });
    all.push(path);
    if (!isOld) own.add(path);
  }

  function put(entry: PackEntry): void {
    added.add(entry.hash);
    entries.push(entry);
    bytes += entry.bytes.byteLength;
  }

  return {
    has: async (hash) => added.has(hash) || isStored(hash),
    async add(kind, hash, content) {
      if (added.has(hash)) return;
      added.add(hash);
      if (kind !== 'blob' && isRepacking() && (await isStored(hash))) return;
      put(ready.get(hash) ?? (await toEntry(hash, content, { kind, ...HURRIED })));
      if (bytes >= PACK_BYTES) await write();
    },
    addReady(hash) {
      const entry = ready.get(hash);
      if (entry !== undefined) put(entry);
      return entry !== undefined;
    },
    took(given) {
      all.push(...given);
      for (const path of given) if (!packs.knows(path)) own.add(path);
    },
    async finish() {
      await write();
      return all;
    },
    discard() {
      for (const path of own) {
        for (const end of ['.idx', '.pack', '.keep']) {
          rmSync(path.replace(/\.pack$/u, end), { force: true });
        }
      }
    },
  };
}

function encodeCommit(request: CommitRequest, tree: string): Buffer {
  const { parents, dialog, message, trailers, emptyFolders, at } = request;
  const when = `${PERSON} ${Math.floor(at / 1000)} +0000`;
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${when}`,
    `committer ${when}`,
    '',
    toText(message, { 'Dialog-Id': dialog, ...trailers }, emptyFolders),
  ];
  return Buffer.from(lines.join('\n'));
}

export function isBlob(change: FileChange): change is FileChange & NewBlob {
  return 'content' in change;
}
