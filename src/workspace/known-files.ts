import type { Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import type { KnownEntry, SkippedEntry, Watcher } from '../core/watching.js';

export interface KnownFilesQuery {
  readonly paths?: readonly string[] | undefined;
  /** Only paths after this one, in byte order. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface KnownFilesPage {
  readonly files: KnownEntry[];
  readonly empty_folders: Path[];
  readonly skipped: SkippedEntry[];
  readonly total: number;
  readonly fresh: boolean;
  readonly next?: string;
}

const DEFAULT_LIMIT = 1_000;
const MOST_LISTED = 1_000;

/** What is known about the tracked files, as of the call: everything finished before it is in. */
export async function knownFiles(
  watcher: Watcher,
  root: string,
  query: KnownFilesQuery,
): Promise<KnownFilesPage> {
  const wanted = query.paths?.map((path) => toPath(path, root));
  const { fresh } = await watcher.settle();
  const limit = query.limit ?? DEFAULT_LIMIT;
  // One more than asked for tells whether there is a next page.
  const matching =
    wanted === undefined
      ? first(limit + 1, watcher.entriesAfter(query.after))
      : named(watcher, wanted);
  const files = matching.slice(0, limit);
  const last = files.at(-1);
  return {
    files,
    empty_folders: first(MOST_LISTED, watcher.emptyFolders()),
    skipped: watcher.skipped(MOST_LISTED),
    total: watcher.health().files,
    fresh,
    ...(matching.length > limit && last !== undefined ? { next: last.path } : {}),
  };
}

function named(watcher: Watcher, paths: readonly Path[]): KnownEntry[] {
  return paths.map((path) => watcher.get(path)).filter((entry) => entry !== undefined);
}

function first<T>(count: number, items: Iterable<T>): T[] {
  const taken: T[] = [];
  for (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}
