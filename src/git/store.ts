import { SmithyError } from '../core/errors.js';
import type { CommitId, Hash } from '../core/model.js';
import { createQueue } from '../core/queue.js';
import type { CheckpointStore, CommitRequest, FileChange, StoreReport } from '../core/store.js';
import { createAcknowledged } from './acknowledged.js';
import { createBranchMoves } from './branch-moves.js';
import { createChecks } from './check.js';
import { noBlob } from './failures.js';
import { flush as flushPath } from './files.js';
import { createHistory } from './history.js';
import { createCommitter, isBlob, type Written } from './committer.js';
import { createImporter } from './importer.js';
import {
  ensureDialog,
  ensureEngine,
  kindOf,
  layoutOf,
  listRepositories,
  ownDialogs,
  removeDialog,
  sweepRemoved,
} from './layout.js';
import { createOldDialogs } from './old-dialogs.js';
import { requireBranch, requireDialog, requireId } from './names.js';
import { createManyBlobs } from './many-blobs.js';
import { createNewBlobs } from './new-blobs.js';
import { createPacks } from './packs.js';
import { createReader, lengthsOf } from './reader.js';
import { moved, noRepository, readBranches, removeLocks, type HeldBranch } from './refs.js';
import { createGit } from './run.js';
import { seed } from './seed.js';
import { bytesOf, createSpace } from './space.js';
import { createSpareFiles } from './spare-files.js';
import type { StoreOptions } from './store-options.js';
import { streamBlob } from './stream-blob.js';
import { setAsideTorn } from './torn.js';
import { createTrust } from './trust.js';
import { createUpkeep } from './upkeep.js';

export function createStore(options: StoreOptions): CheckpointStore {
  const layout = layoutOf(options.state);
  const { git: program, environment, flush = flushPath } = options;
  const git = createGit({ program, environment, gitDir: layout.engine, objects: layout.objects });
  const acknowledged = createAcknowledged();
  const importer = createImporter(git, layout);
  const reader = createReader(git);
  const packs = createPacks(layout, flush);
  const spares = createSpareFiles(layout.spare);
  const history = createHistory({ git, layout, reader });
  const space = createSpace({
    folder: layout.store,
    limitBytes: options.limitBytes ?? (() => Infinity),
    usedBytes: () => packs.sizes().bytes,
  });
  const trust = createTrust({
    ...{ packs, space, acknowledged },
    isRepacking: () => upkeep.isRunning(),
  });
  const { admit, doubt, requireSpace, retried } = trust;
  const writing = createQueue();
  const newBlobs = createNewBlobs({
    ...{ writing, layout, spares, packs, reader, importer, acknowledged },
    ...trust,
    isRepacking: () => upkeep.isRunning(),
  });
  const committer = createCommitter({
    ...{ layout, spares, reader, importer, isStored, packs },
    treeOf: async (commit) => (await history.readCommit(commit)).tree,
    isRepacking: () => upkeep.isRunning(),
  });
  const writeMany = createManyBlobs({
    ...{ folder: layout.packs, packs, admit, isStored },
    isKnown: (hash) => acknowledged.has(hash),
    isRepacking: () => upkeep.isRunning(),
    acknowledge: (hashes) => hashes.forEach((hash) => acknowledged.add(hash)),
  });
  const moves = createBranchMoves({
    ...{ git, layout, spares, flush },
    doubt: (error) => doubt(error, []),
  });
  let isClosed = false;
  /** Copied from the user's objects, and no commit names them yet. */
  const seeded = new Set<Hash>();

  const upkeep = createUpkeep({
    ...{ git, layout, packs, writing, space, reader, has, admit, doubt },
    forget: { packs: () => newBlobs.forgetPacks(), objects: () => acknowledged.clear() },
    pins: (gone) => {
      const named = options.pins?.(gone);
      return async () => [...((await named?.()) ?? []), ...newBlobs.held(), ...seeded];
    },
    isClosed: () => isClosed,
  });
  const { isQuiet, maintain, prune, prunable } = upkeep;
  const checks = createChecks({ git, layout, packs, isQuiet, has });

  async function open(): Promise<StoreReport> {
    await close();
    const mended: string[] = [];
    const foreign: string[] = [];
    if (await ensureEngine(layout)) mended.push('store');
    await spares.open();
    const torn = await setAsideTorn(layout);
    const removed = [...torn, ...(await packs.sweep()), ...(await sweepRemoved(layout))];
    for (const dialog of await listRepositories(layout)) {
      const kind = await kindOf(layout, dialog);
      if (kind === 'foreign') foreign.push(dialog);
      else if ((await ensureDialog(layout, dialog)) || kind === 'half') mended.push(dialog);
      if (kind !== 'foreign') removed.push(...(await removeLocks(layout, dialog)));
    }
    acknowledged.clear();
    newBlobs.forgetPacks();
    trust.renew();
    isClosed = false;
    return { removed, mended, foreign };
  }

  async function close(): Promise<void> {
    isClosed = true;
    await checks.stop();
    await upkeep.stop();
    await writing.run(() => packs.dropped());
    await moves.lasting();
    await spares.close();
    reader.restart();
  }

  async function write(request: CommitRequest, given: readonly FileChange[]): Promise<CommitId> {
    requireSpace(bytesOf(given));
    await requirePresent(given);
    const many = writeMany(given.filter(isBlob), request.onProgress);
    const written = await retried(() => committer.commit(request, given, many));
    const id = await publish(written, request);
    given.forEach((one) => 'content' in one && acknowledged.add(one.hash));
    return id;
  }

  async function publish({ id, packs: fresh }: Written, request: CommitRequest): Promise<CommitId> {
    let held: HeldBranch | undefined;
    let refusal: unknown;
    // The branch is taken while the objects go to the disk, and its new value goes along with them.
    const prepare = async (): Promise<void> => {
      try {
        held = await moves.hold(request);
      } catch (error) {
        // Nobody will refer to this commit, but the next one may share its objects.
        refusal = error;
        return;
      }
      await held.prepare(id);
    };
    try {
      await admit(fresh, prepare);
      if (held === undefined) throw refusal;
      await moves.move(held, request);
      return id;
    } finally {
      await held?.release();
    }
  }

  /** Here, and flushed: nobody has to write it again. */
  async function isStored(hash: Hash): Promise<boolean> {
    if (acknowledged.has(hash)) return true;
    const pack = packs.find(hash);
    return pack !== undefined && trust.assure(pack);
  }

  /** Files named without their content must be here already: a tree that names them would be broken. */
  async function requirePresent(changes: readonly FileChange[]): Promise<void> {
    const bare = changes.filter((one) => !('deleted' in one) && !('content' in one));
    const named = bare.flatMap((one) => ('hash' in one ? [one] : []));
    const present = await has(named.map(({ hash }) => hash));
    const missing = named.find(({ hash }) => !present.has(hash));
    if (missing === undefined) return;
    throw new SmithyError('STORE_CORRUPT', `The content of ${missing.path} is not in the store.`, {
      hint: 'Run `smithyd doctor`.',
      data: { path: missing.path, hash: missing.hash },
    });
  }

  async function has(hashes: readonly Hash[]): Promise<Set<Hash>> {
    return new Set((await lengthsOf(reader, hashes)).keys());
  }

  async function requireOurs(dialog: string): Promise<void> {
    if ((await kindOf(layout, requireDialog(dialog))) !== 'ours') throw noRepository(dialog);
  }

  return {
    open,
    close,
    async createRepository(dialog) {
      await writing.run(() => ensureDialog(layout, requireDialog(dialog)));
    },
    dialogs: () => ownDialogs(layout),

    async deleteRepository(dialog) {
      await writing.run(async () => {
        await requireOurs(dialog);
        await removeDialog(layout, dialog);
      });
    },

    async commit(request) {
      requireDialog(request.dialog);
      requireBranch(request.branch);
      for (const id of [...request.parents, request.base]) if (id !== null) requireId(id);
      const changes = [...request.changes];
      return writing.run(() => write(request, changes).finally(() => seeded.clear()));
    },

    async prepare({ base, changes }) {
      if (!isClosed) await committer.prepare(base, [...changes]);
    },

    lasting: () => moves.lasting(),
    writeBlobs: newBlobs.write,

    branches: (dialog) => readBranches(layout, requireDialog(dialog)),

    async setBranches(dialog, updates) {
      await requireOurs(dialog);
      await writing.run(async () => {
        const present = await readBranches(layout, dialog);
        for (const { name, expected } of updates) {
          const actual = present.get(requireBranch(name)) ?? null;
          if (actual !== expected) throw moved(name, expected, actual);
        }
        // Somebody may have edited the configuration since the start; git would believe it.
        await ensureDialog(layout, dialog);
        await moves.set(dialog, updates);
      });
    },

    log: (dialog, query) => history.log(requireDialog(dialog), query),
    readCommit: (id) => history.readCommit(id),
    tree: (id) => history.tree(id),
    fileAt: (id, path) => history.fileAt(id, path),
    compare: (a, b) => history.compare(a, b),
    differences: (a, b) => history.differences(a, b),
    has,
    lengths: (hashes) => lengthsOf(reader, hashes),

    async readBlob(hash) {
      const object = await reader.read(requireId(hash));
      if (object?.type !== 'blob') throw noBlob(hash);
      return object.bytes;
    },
    async streamBlob(hash) {
      const object = await reader.look(requireId(hash));
      if (object?.type !== 'blob') throw noBlob(hash);
      return { size: object.size, chunks: streamBlob(git, hash) };
    },

    ...createOldDialogs({
      git,
      layout,
      writing,
      requireSpace,
      admit,
      moveBranches: (...move) => moves.set(...move),
    }),

    seedFrom: (gitDir, hashes) =>
      writing.run(async () => {
        requireSpace(0);
        const { found, packs: fresh } = await seed({ git, layout }, gitDir, hashes);
        await admit(fresh);
        for (const hash of found) seeded.add(hash);
        return found;
      }),

    sizes: () => packs.sizes(),

    check: (onProgress) => checks.check(onProgress),

    ...{ maintain, prune, prunable },
  };
}
