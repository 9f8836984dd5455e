import type { Hash } from '../core/model.js';
import type { Gone, Pruning } from '../core/store.js';
import { busy, closed } from './failures.js';
import { prunable, prune, type PruneDeps, type PruneOptions } from './prune.js';
import type { Reader } from './reader.js';

export interface UpkeepDeps extends Omit<PruneDeps, 'pinned' | 'quiesce'> {
  readonly space: { readonly requireFree: (bytes: number) => void };
  readonly reader: Pick<Reader, 'restart'>;
  /** What was remembered of packs and their objects. */
  readonly forget: { readonly packs: () => void; readonly objects: () => void };
  /** As in the store's options; with what its writers hold. */
  readonly pins: (gone: Gone) => () => Promise<readonly Hash[]>;
  readonly isClosed: () => boolean;
}

const REPACK_MS = 30 * 60_000;
const NOTHING: Gone = { names: [], runs: [] };
const never = new AbortController().signal;

/** Repacks and prunes, one at a time: each counts on the packs that the other removes. */
export function createUpkeep(deps: UpkeepDeps) {
  const { git, packs, writing, space, has } = deps;
  let current: { readonly done: Promise<unknown>; readonly stop: AbortController } | undefined;

  async function keepUp<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const done = work(stop.signal);
    current = { done, stop };
    try {
      return await done;
    } finally {
      current = undefined;
      deps.reader.restart();
    }
  }

  async function quiesce(): Promise<void> {
    await packs.dropped();
    deps.forget.objects();
    deps.forget.packs();
  }

  /** Asked at the beginning and at the end, while writers wait: looks only for what is new. */
  function pinsWithout(gone: Gone): () => Promise<Set<Hash>> {
    const named = deps.pins(gone);
    const present = new Set<Hash>();
    return async () => {
      const all = new Set(await named());
      const found = await has([...all].filter((hash) => !present.has(hash)));
      for (const hash of found) present.add(hash);
      return new Set([...all].filter((hash) => present.has(hash)));
    };
  }

  async function pruning(
    { onProgress, signal = never }: Pruning,
    gone: Gone,
    work: (deps: PruneDeps, options: PruneOptions) => Promise<number>,
  ): Promise<{ freedBytes: number }> {
    while (current !== undefined) await current.done.catch(() => undefined);
    if (deps.isClosed()) throw closed();
    const pinned = pinsWithout(gone);
    const freedBytes = await keepUp(async (stop) => {
      const either = AbortSignal.any([stop, signal]);
      const options = { signal: either, onProgress };
      return work({ ...deps, pinned, quiesce }, options).catch(async (error: unknown) => {
        // Half a pack may be as large as the store.
        const sweep = (): Promise<unknown> => quiesce().then(() => packs.sweep());
        await writing.run(sweep).catch(() => undefined);
        throw stop.aborted ? closed() : error;
      });
    });
    return { freedBytes };
  }

  /** Commits go on meanwhile: what they write is held by its `.keep` and left alone. */
  async function repack(signal: AbortSignal): Promise<void> {
    await writing.run(async () => {
      space.requireFree(packs.sizes().bytes);
      await packs.dropped();
      await packs.sweep();
      // Git takes them over; from here on new ones are held by a `.keep` of ours.
      deps.forget.packs();
    });
    await git.text(['repack', '--geometric=2', '-d', '-q'], { timeoutMs: REPACK_MS, signal });
  }

  return {
    isRunning: () => current !== undefined,
    /** When nothing is under way. */
    isQuiet: async () => current?.done.catch(() => undefined),

    async stop(): Promise<void> {
      current?.stop.abort();
      await current?.done.catch(() => undefined);
    },

    maintain: async () => {
      if (current !== undefined) throw busy();
      const packsBefore = packs.sizes().packs;
      await keepUp((signal) => repack(signal).finally(() => packs.recount()));
      return { packsBefore, packsAfter: packs.sizes().packs };
    },
    prune: (how: Pruning = {}) => pruning(how, NOTHING, prune),
    prunable: (gone: Gone, how: Pruning = {}) =>
      pruning(how, gone, (own, options) => prunable(own, new Set(gone.names), options)),
  };
}
