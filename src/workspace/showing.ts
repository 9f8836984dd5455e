import { SmithyError } from '../core/errors.js';
import type { Hash, Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import type { Queue } from '../core/queue.js';
import type { FileState, Watcher } from '../core/watching.js';
import { inWords, type Contents } from './contents.js';
import type { Dialogs } from './dialogs.js';
import type { Places } from './places.js';
import { settled } from './settled.js';

export interface ShowingDeps {
  readonly root: string;
  readonly places: Places;
  readonly dialogs: Dialogs;
  readonly contents: Contents;
  readonly watcher: Watcher;
  readonly queue: Queue;
  readonly blobId: (content: Uint8Array) => Hash;
}

/** In base64 it still fits into one frame. */
const MOST_BYTES = 8 * 1024 * 1024;

/** A file as it was at any named state, proven by its hash. */
export class Showing {
  readonly #deps: ShowingDeps;

  constructor(deps: ShowingDeps) {
    this.#deps = deps;
  }

  async show(given: { at: string; path: string; dialog?: string | undefined }) {
    const { root, places, dialogs, queue, watcher } = this.#deps;
    const path = toPath(given.path, root);
    await settled(watcher);
    return queue.run(async () => {
      const place = await places.resolve(await dialogs.wanted(given.dialog), given.at);
      const state = await places.file(place, path);
      if (state === null) throw nothingThere(path, given.at);
      const content = await this.#content(path, state, place.kind === 'worktree');
      return { path, hash: state.hash, mode: state.mode, ...inWords(content) };
    });
  }

  async #content(path: Path, state: FileState, isOnDisk: boolean): Promise<Uint8Array> {
    const { contents, blobId } = this.#deps;
    const content = isOnDisk ? await contents.read(path, state) : await contents.stored(state.hash);
    if (content === undefined || blobId(content) !== state.hash) throw corrupt(path, state.hash);
    if (content.length > MOST_BYTES) throw tooLarge(path, content.length);
    return content;
  }
}

function nothingThere(path: Path, at: string): SmithyError {
  return new SmithyError('PATH_UNSUPPORTED', `There was no tracked file ${path} at ${at}.`, {
    hint: 'See `smithyd history --file PATH`.',
    data: { path, at },
  });
}

function corrupt(path: Path, hash: Hash): SmithyError {
  return new SmithyError('STORE_CORRUPT', `The content ${hash} of ${path} is not in the store.`, {
    hint: 'It may have gone with a deleted dialog; otherwise run `smithyd doctor`.',
    data: { path, hash },
  });
}

function tooLarge(path: Path, bytes: number): SmithyError {
  return new SmithyError('LIMIT_EXCEEDED', `${path} has ${bytes} bytes: too many to be shown.`, {
    hint: 'Restore it instead: `smithyd restore CHECKPOINT PATH`.',
    data: { path, limit: 'bytes shown', value: MOST_BYTES },
  });
}
