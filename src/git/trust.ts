import { basename } from 'node:path';
import type { SmithyError } from '../core/errors.js';
import type { Acknowledged } from './acknowledged.js';
import { isStale } from './blobs.js';
import { both } from './both.js';
import { diskFailure } from './failures.js';
import { isNotOpened } from './files.js';
import { ChildGone } from './import-child.js';
import type { Packs } from './packs.js';
import type { createSpace } from './space.js';

export interface TrustDeps {
  readonly packs: Packs;
  readonly space: Pick<ReturnType<typeof createSpace>, 'require'>;
  readonly acknowledged: Pick<Acknowledged, 'clear'>;
  readonly isRepacking: () => boolean;
}

/** What may be acknowledged: only what a flush that did not fail has put on the disk. */
export interface Trust {
  /** For a store that is opened again. */
  readonly renew: () => void;
  readonly requireSound: () => void;
  readonly requireSpace: (incoming: number) => void;
  /** After a flush that failed; answers what to throw. */
  readonly doubt: (error: unknown, fresh: readonly string[]) => Promise<SmithyError>;
  /** Flushes new packs and counts them in, while something else goes to the disk. */
  readonly admit: (packs: readonly string[], beside?: () => Promise<void>) => Promise<void>;
  /** Flushes a pack unless that was done before; false when it has gone. */
  readonly assure: (pack: string) => Promise<boolean>;
  /** Work that git's child does, once more when that was killed. */
  readonly retried: <T>(work: () => Promise<T>) => Promise<T>;
}

export function createTrust({ packs, space, acknowledged, isRepacking }: TrustDeps): Trust {
  /** Why nothing more is acknowledged. */
  let suspect: SmithyError | undefined;

  function requireSound(): void {
    if (suspect !== undefined) throw suspect;
  }

  /**
   * A flush that failed may have lost data that a second one reports as safe. Nothing is
   * acknowledged from here on, and packs that nothing refers to yet go away: a later commit
   * would take their objects for stored.
   */
  async function doubt(error: unknown, fresh: readonly string[]): Promise<SmithyError> {
    const failure = diskFailure('flush', error);
    acknowledged.clear();
    // Refused before anything could be lost: gone for us at once, which takes no descriptor.
    if (isNotOpened(error)) {
      packs.drop(fresh.map((path) => basename(path)));
      // Whoever tries again makes the very same pack, and must not find it taken away from behind.
      await packs.dropped();
      return failure;
    }
    const isClean = await packs.remove(fresh.map((path) => basename(path))).then(
      () => fresh.length > 0,
      () => false,
    );
    // With every doubtful byte gone again a full disk is only a refusal.
    if (failure.code !== 'STORAGE_FULL' || !isClean) suspect = failure;
    return failure;
  }

  return {
    renew: () => (suspect = undefined),
    requireSound,
    requireSpace(incoming) {
      requireSound();
      space.require(incoming);
    },
    doubt,
    async admit(given, beside = () => Promise.resolve()) {
      // A name comes from the content: one that was there before is what older work counts on.
      const fresh = given.filter((path) => !packs.knows(path));
      await both(packs.admit(given), beside()).catch(async (error: unknown) => {
        throw await doubt(error, fresh);
      });
    },
    assure: (pack) =>
      packs.assure(pack).catch(async (error: unknown) => {
        throw await doubt(error, []);
      }),
    // A child that was killed says nothing about the work it was doing.
    async retried(work) {
      try {
        return await work();
      } catch (error) {
        // Half a pack on a full disk is space that the next one needs; a repack leaves its own.
        if (!isStale(error) && !isRepacking()) await packs.sweep();
        if (!(error instanceof ChildGone)) throw error;
        return work().catch((again: unknown) => {
          throw diskFailure('write', again);
        });
      }
    },
  };
}
