import { isAbsolute, join, posix } from 'node:path';
import type { ArchivedFile, Archives, Unpacked, UnpackedFile } from '../core/archive.js';
import type { Config } from '../core/config.js';
import { SmithyError } from '../core/errors.js';
import type { Ledger } from '../core/ledger.js';
import type { CommitId, Path } from '../core/model.js';
import { isProtected, toPath } from '../core/paths.js';
import type { Clock } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { Snapshot, SnapshotNote } from '../core/snapshots.js';
import { KEPT, type CheckpointStore } from '../core/store.js';
import { placeOf } from './adoption.js';
import type { DialogBook } from './dialog-book.js';
import type { EditBook } from './edit-book.js';
import { readManifest, type ArchivedManifest } from './snapshot-manifest.js';
import type { SnapshotBook } from './snapshot-book.js';
import { toManifest, type Snapshots } from './snapshots.js';

export interface TransferDeps {
  readonly root: string;
  readonly version: string;
  readonly archives: Archives;
  readonly snapshots: SnapshotBook;
  readonly saved: Snapshots;
  readonly store: CheckpointStore;
  readonly book: DialogBook;
  readonly editBook: Pick<EditBook, 'append'>;
  readonly ledger: Pick<Ledger, 'head'>;
  readonly config: () => Config;
  readonly queue: Queue;
  readonly clock: Clock;
}

export interface ImportRequest {
  readonly from: string;
  readonly name?: string | undefined;
  /** Links that lead out of the project are taken as they are. */
  readonly allowLinksOut?: boolean | undefined;
}

/** More than any project we watch. */
const MOST_FILES = 1_000_000;
/** Blobs of this size are read as a stream. */
const LARGE_BYTES = 1024 * 1024;

/** Snapshots on their way to other places, and back. */
export class SnapshotTransfers {
  readonly #deps: TransferDeps;

  constructor(deps: TransferDeps) {
    this.#deps = deps;
  }

  /** Beside the queue: what a snapshot holds does not change. */
  async export(given: string, where: string) {
    const to = this.#outside(where);
    return this.#deps.saved.use(given, (snapshot) => this.#export(snapshot, to));
  }

  async #export(snapshot: Snapshot, to: string) {
    const { saved, store, archives, queue } = this.#deps;
    const { emptyFolders } = await store.readCommit(snapshot.commit);
    const hashes = await saved.hashesOf(snapshot.commit);
    const { origin } = snapshot;
    const manifest = {
      format: 1,
      ...toManifest(snapshot),
      tar_uri: null,
      ...(origin === undefined ? {} : { origin }),
      empty_folders: emptyFolders,
      hashes,
    };
    const { bytes } = await archives.write(to, { manifest, files: this.#files(snapshot.commit) });
    const event = await queue.run(() => this.#recordExport(snapshot, to));
    return { id: snapshot.id, to, bytes, files: Object.keys(hashes).length, event };
  }

  async import({ from, name, allowLinksOut = false }: ImportRequest) {
    const { root, archives, config, queue } = this.#deps;
    const path = isAbsolute(from) ? from : join(root, from);
    const mostBytes = config().store.limitBytes;
    // What a start finds half taken in, it removes: this one begins when everything is open.
    await queue.share(() => undefined);
    const unpacked = await archives.read(path, { mostBytes, mostFiles: MOST_FILES });
    try {
      const manifest = readManifest(unpacked.manifest);
      this.#check(unpacked, manifest, allowLinksOut);
      const snapshot = await queue.run(() => this.#take(unpacked, manifest, name));
      return await this.#deps.saved.show(snapshot.id);
    } finally {
      await unpacked.release();
    }
  }

  /** Every file is told of in the manifest, is what it says, and could be a file of a project. */
  #check({ files }: Unpacked, { hashes }: ArchivedManifest, allowLinksOut: boolean): void {
    const seen = new Set<string>();
    for (const file of files) {
      const path = requirePlainPath(file.path);
      if (seen.has(path)) throw refused(path, 'it is there twice');
      seen.add(path);
      if (hashes[path] !== `sha256:${file.sha256}`)
        throw refused(path, 'it is not what the manifest says');
      if (!allowLinksOut) requireInside(file);
    }
    const missing = Object.keys(hashes).find((path) => !seen.has(path));
    if (missing !== undefined) throw refused(missing, 'it is missing');
    for (const path of seen) {
      // A file cannot have anything below it; a link that had would lead elsewhere.
      const above = parentsOf(path).find((parent) => seen.has(parent));
      if (above !== undefined) throw refused(path, `${above} is no folder`);
    }
  }

  async #take(
    { files }: Unpacked,
    manifest: ArchivedManifest,
    name: string | undefined,
  ): Promise<Snapshot> {
    const { store, snapshots, saved, ledger, clock } = this.#deps;
    await store.createRepository(KEPT);
    const id = snapshots.nextId();
    const commit = await store.commit({
      dialog: KEPT,
      branch: id,
      expected: (await store.branches(KEPT)).get(id) ?? null,
      parents: [],
      base: null,
      changes: files.map(({ path, mode, hash, size, content }) => {
        return { path: path as Path, mode, hash, size, content };
      }),
      emptyFolders: manifest.emptyFolders.map(requirePlainPath),
      message: `Snapshot ${id}: imported ${manifest.id}`,
      trailers: { Kind: 'snapshot' },
      at: clock.now(),
    });
    const note: SnapshotNote = {
      commit,
      name: name ?? manifest.name,
      reason: 'import',
      base: ledger.head().seq,
      files: files.length,
      env: manifest.env,
      seeds: manifest.seeds,
      tools: manifest.tools,
      origin: { id: manifest.id, ts: manifest.ts, base_event_id: manifest.baseEventId },
    };
    return saved.record(id, note);
  }

  async *#files(commit: CommitId): AsyncGenerator<ArchivedFile> {
    const { store } = this.#deps;
    for (const [path, { mode, hash }] of await store.tree(commit)) {
      const size = (await store.lengths([hash])).get(hash) ?? 0;
      const content =
        size > LARGE_BYTES ? await store.streamBlob(hash) : await store.readBlob(hash);
      yield { path, mode, content };
    }
  }

  async #recordExport({ id }: Snapshot, to: string): Promise<string> {
    const { editBook, snapshots, book, clock, version } = this.#deps;
    const dialog = book.find(undefined);
    const [entry] = await editBook.append([
      {
        ts: new Date(clock.now()).toISOString(),
        author: { name: 'smithyd', version, kind: 'daemon' },
        action_type: 'meta_note',
        ...(dialog === undefined ? {} : placeOf(dialog)),
        snapshot_ref: id,
        message: `Exported ${id} to ${to}`,
        exported: to,
      },
    ]);
    if (entry === undefined) throw new Error('an export left no line');
    snapshots.fold(entry);
    return entry.id;
  }

  /** Anywhere but where git and we keep our own. */
  #outside(given: string): string {
    const to = isAbsolute(given) ? posix.normalize(given) : join(this.#deps.root, given);
    if (!to.split('/').some(isProtected) && !given.includes('\0')) return to;
    throw new SmithyError('PATH_PROTECTED', `${given} is no place for an archive.`, {
      hint: 'Name a file outside of .git and .agentsmithy.',
      data: { path: given },
    });
  }
}

/** As it would stand in a checkpoint, and in no other spelling. */
function requirePlainPath(given: string): Path {
  // No absolute path lies below a root that no path can have.
  const path = toPath(given, '\0');
  if (path !== given) throw refused(given, 'its name is not plain');
  return path;
}

/** Where a link leads, as text: nothing on the disk is asked. */
function requireInside({ path, target }: UnpackedFile): void {
  if (target === undefined) return;
  const reached = posix.normalize(posix.join(posix.dirname(path), target));
  if (!target.startsWith('/') && reached !== '..' && !reached.startsWith('../')) return;
  throw new SmithyError('PATH_OUTSIDE_ROOT', `The link ${path} leads out of the project.`, {
    hint: 'Nothing was taken in. With --allow-links-out (allow_links_out) such links are taken as they are.',
    data: { path, target },
  });
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

function refused(path: string, why: string): SmithyError {
  const shown = JSON.stringify(path.slice(0, 200));
  return new SmithyError('STORE_CORRUPT', `The archive cannot be taken in: ${shown}: ${why}.`, {
    hint: 'Nothing was taken in. Export the snapshot again.',
    data: { path, why },
  });
}
