import { createByteCache } from '../core/byte-cache.js';
import type { Unexplained } from '../core/known-state.js';
import { SmithyError } from '../core/errors.js';
import type { Hash, Path } from '../core/model.js';
import type { CheckpointStore, NewBlob } from '../core/store.js';
import type { FileSide } from '../core/text-diff.js';
import type { TreeWriter } from '../core/tree-writer.js';
import type { FileState } from '../core/watching.js';

/** What was read a moment ago is asked for again: saved, then compared. */
const REMEMBERED_BYTES = 16 * 1024 * 1024;
const LARGEST_REMEMBERED = 1024 * 1024;

/** The bytes of a state, wherever they are: in memory, on the disk, in the store. */
export class Contents {
  /** Asked for by several at once, and read once. */
  readonly #reading = new Map<string, Promise<Uint8Array>>();
  readonly #store: Pick<CheckpointStore, 'has' | 'readBlob' | 'lengths'>;
  readonly #files: Pick<TreeWriter, 'readFile'>;
  readonly #remembered = createByteCache<Hash, Uint8Array>(REMEMBERED_BYTES, (all) => all.length);

  constructor(
    store: Pick<CheckpointStore, 'has' | 'readBlob' | 'lengths'>,
    files: Pick<TreeWriter, 'readFile'>,
  ) {
    this.#store = store;
    this.#files = files;
  }

  /**
   * @throws SmithyError STALE_READ when the content is neither on disk any more nor in the store;
   *   `data.path` names it.
   */
  async read(path: Path, { hash }: FileState): Promise<Uint8Array> {
    const known = this.#remembered.get(hash);
    if (known !== undefined) return known;
    const which = `${hash} ${path}`;
    const reading = this.#reading.get(which) ?? this.#load(path, hash);
    this.#reading.set(which, reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(which);
    }
  }

  async #load(path: Path, hash: Hash): Promise<Uint8Array> {
    const content = (await this.#fromDisk(path, hash)) ?? (await this.#fromStore(hash));
    if (content === undefined) {
      throw new SmithyError('STALE_READ', `${path} is gone or keeps changing.`, { data: { path } });
    }
    this.remember(hash, content);
    return content;
  }

  /** What is in memory of it: read a moment ago, for whoever asks next. */
  remembered(hash: Hash): Uint8Array | undefined {
    return this.#remembered.get(hash);
  }

  /** By its hash alone: from memory or the store. */
  async stored(hash: Hash): Promise<Uint8Array | undefined> {
    return this.#remembered.get(hash) ?? this.#fromStore(hash);
  }

  async side(path: Path, state: FileState | null): Promise<FileSide | null> {
    if (state === null) return null;
    return { mode: state.mode, content: await this.read(path, state) };
  }

  /** Out of the store, and only what can be compared: a larger one is not loaded. */
  async keptSide(path: Path, state: FileState | null): Promise<FileSide | null> {
    if (state === null) return null;
    const { hash, mode } = state;
    const known = this.#remembered.get(hash);
    if (known !== undefined) return { mode, content: known };
    const size = (await this.#store.lengths([hash])).get(hash);
    if (size === undefined) {
      throw new SmithyError('STALE_READ', `${path} is not in the store.`, { data: { path } });
    }
    if (size > LARGEST_REMEMBERED) return { mode, content: null };
    const content = await this.#store.readBlob(hash);
    this.remember(hash, content);
    return { mode, content };
  }

  /** Reads what will be asked for in a moment; nobody needs it if that fails. */
  async warm({ path, expected, actual }: Unexplained, size: number): Promise<void> {
    const isSmall = actual !== null && size <= LARGEST_REMEMBERED;
    await Promise.allSettled([
      this.keptSide(path, expected),
      isSmall ? this.read(path, actual) : undefined,
    ]);
  }

  /** For the store: read when it is written. */
  blob(path: Path, state: FileState): NewBlob {
    return { hash: state.hash, content: () => this.read(path, state) };
  }

  /** What the store may have let go of is not answered from memory. */
  forget(): void {
    this.#remembered.clear();
  }

  /** Whether the store has it: a commit can name it. */
  async isStored(hash: Hash): Promise<boolean> {
    return (await this.#store.has([hash])).has(hash);
  }

  async #fromStore(hash: Hash): Promise<Uint8Array | undefined> {
    return (await this.isStored(hash)) ? this.#store.readBlob(hash) : undefined;
  }

  async #fromDisk(path: Path, hash: Hash): Promise<Uint8Array | undefined> {
    const file = await this.#files.readFile(path).catch((error: unknown) => {
      if (error instanceof SmithyError && error.code === 'BUSY') return null;
      throw error;
    });
    return file?.hash === hash ? file.content : undefined;
  }

  /** What somebody has read, and found to be what its hash says. */
  remember(hash: Hash, content: Uint8Array): void {
    if (content.length <= LARGEST_REMEMBERED) this.#remembered.add(hash, content);
  }
}

/** Text as text; anything else as base64. */
export function inWords(
  content: Uint8Array,
): { readonly content: string } | { readonly content_base64: string } {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content) };
  } catch {
    return { content_base64: Buffer.from(content).toString('base64') };
  }
}
