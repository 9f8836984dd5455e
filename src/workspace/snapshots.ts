import type { DialogState } from '../core/dialogs.js';
import { eventId, type Ledger, type NewEvent } from '../core/ledger.js';
import type { CommitId, Hash } from '../core/model.js';
import type { Clock, Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { Snapshot, SnapshotNote, SnapshotReason, Surroundings } from '../core/snapshots.js';
import { KEPT, type CheckpointStore, type Content } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import { placeOf } from './adoption.js';
import type { DialogBook } from './dialog-book.js';
import type { Dialogs } from './dialogs.js';
import type { EditBook } from './edit-book.js';
import type { Meter } from './metrics.js';
import type { Redaction } from './redaction.js';
import { sightOf, type Saved, type Saving } from './saving.js';
import { settled } from './settled.js';
import type { SnapshotBook } from './snapshot-book.js';
import type { Unrecorded } from './unrecorded.js';

export interface SnapshotDeps {
  readonly snapshots: SnapshotBook;
  readonly book: DialogBook;
  readonly dialogs: Dialogs;
  readonly saving: Saving;
  readonly store: CheckpointStore;
  readonly unrecorded: Pick<Unrecorded, 'recorded'>;
  readonly editBook: Pick<EditBook, 'append'>;
  readonly ledger: Pick<Ledger, 'head'>;
  readonly watcher: Watcher;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Meter, 'snapshotSaved'>;
  readonly redaction: Pick<Redaction, 'requireName'>;
  readonly version: string;
  /** What is known of the machine. */
  readonly machine: Readonly<Record<string, string>>;
  readonly sha256: (content: Content) => Promise<string>;
}

export interface SnapshotRequest extends Partial<Surroundings> {
  readonly name?: string | undefined;
  readonly dialog?: string | undefined;
}

export interface Manifest {
  id: string;
  ts: string;
  name: string | null;
  reason: SnapshotReason;
  base_event_id: string;
  tar_uri: string | null;
  commit_id: CommitId;
  env: Record<string, string | null>;
  seeds: Record<string, number | string | null>;
  tools: Record<string, string>;
  files: number;
}

/** A state that was saved beside the dialogs, and what it added to the store. */
interface Aside extends Saved {
  readonly bytes: number;
}

/** Side digests that need not be made again; about 100 bytes each. */
const MOST_DIGESTS = 50_000;
/** More do not fit into one answer; an exported snapshot has them all. */
const MOST_ANSWERED = 50_000;
/** Blobs of this size are read as a stream. */
const LARGE_BYTES = 1024 * 1024;

/** States of the whole project with their surroundings, beside all dialogs. */
export class Snapshots {
  readonly #deps: SnapshotDeps;
  readonly #digests = new Map<Hash, string>();
  /** How many read each of them now. */
  readonly #inUse = new Map<string, number>();

  constructor(deps: SnapshotDeps) {
    this.#deps = deps;
  }

  async save({ name, dialog: given, ...said }: SnapshotRequest) {
    const { watcher, queue, dialogs } = this.#deps;
    if (name !== undefined) this.#deps.redaction.requireName(name, 'name');
    await settled(watcher);
    const snapshot = await queue.run(async () => {
      const dialog = await dialogs.wanted(given);
      const saved = await this.#saveAside(dialog, name ?? null);
      return this.#record(saved, { name: name ?? null, reason: 'manual', said });
    });
    return this.show(snapshot.id);
  }

  /** In a turn of the queue. Undefined when the newest snapshot holds the same. */
  async saveIfNew(reason: SnapshotReason): Promise<Snapshot | undefined> {
    const { book, snapshots, store } = this.#deps;
    const dialog = book.find(undefined);
    if (dialog === undefined) return undefined;
    const last = snapshots.list().at(-1);
    const id = snapshots.nextId();
    const saved = await this.#saveAside(dialog, null);
    const { tree } = await store.readCommit(saved.commit);
    const before = last === undefined ? undefined : await this.#treeOf(last);
    if (tree === before) {
      await store.setBranches(KEPT, [{ name: id, to: null, expected: saved.commit }]);
      return undefined;
    }
    return this.#record(saved, { name: null, reason, said: {} });
  }

  list() {
    return this.#deps.queue.share(() => {
      return { snapshots: this.#deps.snapshots.list().map(toManifest) };
    });
  }

  show(given: string) {
    return this.use(given, (snapshot) => this.#withHashes(snapshot));
  }

  /** Reads one beside the queue; it is not thinned out meanwhile. */
  async use<T>(given: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const { queue, snapshots } = this.#deps;
    const count = (id: string, more: number): void => {
      this.#inUse.set(id, (this.#inUse.get(id) ?? 0) + more);
      if (this.#inUse.get(id) === 0) this.#inUse.delete(id);
    };
    const snapshot = await queue.share(() => {
      const wanted = snapshots.require(given);
      count(wanted.id, 1);
      return wanted;
    });
    try {
      return await work(snapshot);
    } finally {
      count(snapshot.id, -1);
    }
  }

  isInUse(id: string): boolean {
    return this.#inUse.has(id);
  }

  /** SHA-256 of every file, each content read once. */
  async hashesOf(commit: CommitId): Promise<Record<string, string>> {
    const hashes: Record<string, string> = {};
    for (const [path, { hash }] of await this.#deps.store.tree(commit)) {
      hashes[path] = `sha256:${await this.#digest(hash)}`;
    }
    return hashes;
  }

  /** The commit is on the branch of its id; the line makes it a snapshot, and says this `also`. */
  async record(id: string, note: SnapshotNote, also: Partial<NewEvent> = {}): Promise<Snapshot> {
    const { book, editBook, snapshots, unrecorded, clock, version, log } = this.#deps;
    const dialog = book.find(undefined);
    const named = note.name === null ? '' : ` ${note.name}`;
    const line: NewEvent = {
      ...also,
      ts: new Date(clock.now()).toISOString(),
      author: { name: 'smithyd', version, kind: 'daemon' },
      action_type: 'snapshot_create',
      ...(dialog === undefined ? {} : placeOf(dialog)),
      snapshot_ref: id,
      message: `${id}${named} (${note.reason})`,
      snapshot: note,
    };
    const [entry] = await editBook.append([line]);
    if (entry === undefined) throw new Error('a snapshot left no line');
    snapshots.fold(entry);
    unrecorded.recorded(KEPT);
    log.write('info', 'snapshot', { snapshot: id, reason: note.reason, event: entry.id });
    return snapshots.require(id);
  }

  surroundings(said: Partial<Surroundings>): Surroundings {
    const { machine, version } = this.#deps;
    return {
      env: { python: null, llm: null, ...machine, ...said.env },
      seeds: { global: null, ...said.seeds },
      tools: { smithyd: version, ...said.tools },
    };
  }

  async #saveAside(dialog: DialogState, name: string | null): Promise<Aside> {
    const { store, saving, snapshots } = this.#deps;
    const before = store.sizes().bytes;
    await store.createRepository(KEPT);
    const id = snapshots.nextId();
    // What a killed daemon had left under this name was never acknowledged.
    const left = (await store.branches(KEPT)).get(id);
    if (left !== undefined) {
      await store.setBranches(KEPT, [{ name: id, to: null, expected: left }]);
    }
    const message = name === null ? `Snapshot ${id}` : `Snapshot ${id}: ${name}`;
    const saved = await saving.saveAside(dialog, { branch: id, message });
    return { ...saved, bytes: Math.max(0, store.sizes().bytes - before) };
  }

  async #record(
    saved: Aside,
    how: {
      readonly name: string | null;
      readonly reason: SnapshotReason;
      readonly said: Partial<Surroundings>;
    },
  ): Promise<Snapshot> {
    const { snapshots, ledger, watcher, metrics } = this.#deps;
    const { skipped, ...rules } = sightOf(saved);
    const note: SnapshotNote = {
      commit: saved.commit,
      name: how.name,
      reason: how.reason,
      base: ledger.head().seq,
      files: watcher.health().files,
      ...this.surroundings(how.said),
      ...(skipped.length === 0 ? {} : { skipped }),
    };
    const snapshot = await this.record(snapshots.nextId(), note, rules);
    metrics.snapshotSaved(saved.bytes);
    return snapshot;
  }

  async #withHashes(snapshot: Snapshot) {
    const manifest = toManifest(snapshot);
    if (snapshot.files > MOST_ANSWERED) return { ...manifest, hashes: {}, hashes_left_out: true };
    return { ...manifest, hashes: await this.hashesOf(snapshot.commit) };
  }

  async #treeOf({ commit }: Snapshot): Promise<string | undefined> {
    return (await this.#deps.store.readCommit(commit).catch(() => undefined))?.tree;
  }

  async #digest(hash: Hash): Promise<string> {
    const known = this.#digests.get(hash);
    if (known !== undefined) return known;
    const { store, sha256 } = this.#deps;
    const size = (await store.lengths([hash])).get(hash) ?? 0;
    const content = size > LARGE_BYTES ? await store.streamBlob(hash) : await store.readBlob(hash);
    const digest = await sha256(content);
    if (this.#digests.size >= MOST_DIGESTS) this.#digests.clear();
    this.#digests.set(hash, digest);
    return digest;
  }
}

export function toManifest(snapshot: Snapshot): Manifest {
  const { id, ts, name, reason, base, tar, commit, env, seeds, tools, files } = snapshot;
  return {
    ...{ id, ts, name, reason, files },
    base_event_id: eventId(base),
    tar_uri: tar,
    commit_id: commit,
    env: { ...env },
    seeds: { ...seeds },
    tools: { ...tools },
  };
}
