import type { FileResult } from '../core/file-results.js';
import { toResults } from '../core/file-results.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import { toState } from './explained.js';

/** New path -> old path, for the files that moved. */
export type Moves = Readonly<Record<string, Path>>;

/** What a line tells of files, as it was when the line was made. */
export function resultsOf(entry: LedgerEntry): FileResult[] {
  const moves = (entry['moves'] as Moves | undefined) ?? {};
  const sources = new Set<string>(Object.values(moves));
  const before = new Map(
    entry.changes.map((change) => [change.path, toState(change.before, change.mode_before)]),
  );
  return entry.changes.flatMap((change): FileResult[] => {
    const path = change.path as Path;
    const after = toState(change.after, change.mode_after);
    const from = moves[path];
    if (from !== undefined) {
      return [{ path, from, change: 'renamed', before: before.get(from) ?? null, after }];
    }
    // Told with the path it went to, unless something else took its place.
    if (sources.has(path) && after === null) return [];
    return toResults([{ path, before: before.get(path) ?? null, after }]);
  });
}
