import { SmithyError } from '../core/errors.js';
import type { Hash, Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import type { SmallFile } from '../core/ports.js';
import { resolveId } from '../core/resolve-id.js';
import type { FileMode, FileState } from '../core/watching.js';
import { stateOf } from './claims.js';
import { inWords } from './contents.js';
import { steadily, type EditDeps } from './edit-deps.js';

/** Copies of files at one moment, kept by their contents' names. */
interface FileCheckpoint {
  readonly id: string;
  readonly timestamp: string;
  readonly snapshotId: string | null;
  readonly files: readonly { readonly path: Path; readonly hash: Hash; readonly mode: FileMode }[];
  readonly metadata: {
    readonly totalFiles: number;
    readonly totalSizeBytes: number;
    readonly creationTimeMs: number;
  };
}

export interface FileCheckpointDeps extends EditDeps {
  readonly fileCheckpoints: SmallFile;
  /** What is on disk and in no checkpoint of the current dialog. */
  readonly unsavedNow: () => Promise<readonly Path[]>;
  readonly newId: () => string;
}

const DAY_MS = 86_400_000;
/** Enough for a week of work; the oldest go first. */
const MOST_KEPT = 1_000;
/** Files in all of them together: the list is read and written as a whole. */
const MOST_LISTED = 40_000;
/** Contents in one answer. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The latest copies of the files an agent works on: cheap to make, whole or by name. */
export class FileCheckpoints {
  readonly #deps: FileCheckpointDeps;

  constructor(deps: FileCheckpointDeps) {
    this.#deps = deps;
  }

  async create(given: readonly string[] | undefined, snapshotId: string | undefined) {
    const { clock, root, watcher, accounts, config } = this.#deps;
    const begun = clock.monotonic();
    const wanted = given?.map((path) => toPath(path, root));
    const made = await steadily(this.#deps, async () => {
      const paths = wanted ?? (await this.#deps.unsavedNow());
      const states = paths.map((path) => [path, stateOf(watcher.get(path))] as const);
      await accounts.keep(states);
      const files = states.flatMap(([path, state]) => (state === null ? [] : [{ path, ...state }]));
      const sizes = files.map(({ path }) => watcher.get(path)?.size ?? 0);
      const checkpoint: FileCheckpoint = {
        id: this.#deps.newId(),
        timestamp: new Date(clock.now()).toISOString(),
        snapshotId: snapshotId ?? null,
        files: files.map(({ path, hash, mode }) => ({ path, hash, mode })),
        metadata: {
          totalFiles: files.length,
          totalSizeBytes: sizes.reduce((sum, size) => sum + size, 0),
          creationTimeMs: Math.round(clock.monotonic() - begun),
        },
      };
      const kept = config().keepAllCheckpoints ? this.#young(config().maxCheckpointAge) : [];
      this.#deps.fileCheckpoints.write(newest([...kept, checkpoint]));
      return checkpoint;
    });
    const missing = (wanted ?? []).filter((path) => !made.files.some((file) => file.path === path));
    return { ...summary(made), missing };
  }

  /** The latest one, or the one that is named; null when there is none at all. */
  async load(given: string | undefined) {
    const all = this.#all();
    const id = given ?? all.at(-1)?.id;
    if (id === undefined) return { checkpoint: null };
    const known = all.map((one) => one.id);
    const found = resolveId({
      what: 'file checkpoint',
      given: id,
      known,
      missing: 'SNAPSHOT_NOT_FOUND',
    });
    const checkpoint = all.find((one) => one.id === found);
    if (checkpoint === undefined) throw new Error(`file checkpoint ${found} is not there`);
    const files: Record<string, LoadedFile> = {};
    const sizes = await this.#deps.store.lengths(checkpoint.files.map(({ hash }) => hash));
    let room = MOST_BYTES;
    for (const { path, hash, mode } of checkpoint.files) {
      const fits = (sizes.get(hash) ?? 0) <= room;
      const content = fits ? await this.#content({ hash, mode }) : undefined;
      room -= content?.length ?? 0;
      files[path] = { hash, mode, ...(content === undefined ? {} : inWords(content)) };
    }
    return { checkpoint: { ...summary(checkpoint), files } };
  }

  cleanup(olderThanDays: number | undefined): { removed: number; kept: number } {
    const kept = this.#young(olderThanDays ?? this.#deps.config().maxCheckpointAge);
    const removed = this.#all().length - kept.length;
    if (removed > 0) this.#deps.fileCheckpoints.write(kept);
    return { removed, kept: kept.length };
  }

  /** What a cleanup would do now. */
  outdated(): { removed: string[]; kept: number } {
    const kept = new Set(this.#young(this.#deps.config().maxCheckpointAge).map(({ id }) => id));
    const all = this.#all().map(({ id }) => id);
    return { removed: all.filter((id) => !kept.has(id)), kept: kept.size };
  }

  /** The latest one stays however old it is. */
  #young(days: number): FileCheckpoint[] {
    const oldest = this.#deps.clock.now() - days * DAY_MS;
    const all = this.#all();
    const last = all.at(-1);
    return all.filter((one) => one === last || Date.parse(one.timestamp) >= oldest);
  }

  async #content(state: FileState): Promise<Uint8Array> {
    const content = await this.#deps.contents.stored(state.hash);
    if (content !== undefined) return content;
    throw new SmithyError('STORE_CORRUPT', `The content ${state.hash} is not in the store.`, {
      hint: 'Run `smithyd doctor`.',
      data: { hash: state.hash },
    });
  }

  #all(): FileCheckpoint[] {
    return readAll(this.#deps.fileCheckpoints);
  }
}

/** The last one in any case. */
function newest(all: readonly FileCheckpoint[]): FileCheckpoint[] {
  let files = 0;
  const from = all.findLastIndex((one) => (files += one.files.length) > MOST_LISTED);
  return all.slice(Math.min(from + 1, all.length - 1)).slice(-MOST_KEPT);
}

function readAll(file: SmallFile): FileCheckpoint[] {
  const content = file.read();
  return Array.isArray(content) ? (content as FileCheckpoint[]) : [];
}

/** Contents that must stay though no branch reaches them, but for those of some checkpoints. */
export function copiedBlobs(file: SmallFile, gone: readonly string[]): Hash[] {
  const left = readAll(file).filter(({ id }) => !gone.includes(id));
  return left.flatMap(({ files }) => files.map(({ hash }) => hash));
}

interface LoadedFile {
  hash: string;
  mode: string;
  content?: string;
  content_base64?: string;
}

function summary({ id, timestamp, snapshotId, metadata }: FileCheckpoint) {
  return { id, timestamp, snapshotId, metadata };
}
