import type { Span } from './edits.js';
import type { ActionType } from './ledger.js';
import type { Path } from './model.js';
import { sameState, type FileState } from './watching.js';

/** What became of one path. */
export interface FileResult {
  readonly path: Path;
  /** The old path of a renamed file. */
  readonly from?: Path;
  readonly change: 'created' | 'modified' | 'deleted' | 'renamed' | 'unchanged';
  readonly before: FileState | null;
  readonly after: FileState | null;
}

/** Moves between empty files mean nothing: all of them look alike. */
const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

/** The outcome of each span, in path order; a file that left one path for another is one result. */
export function toResults(spans: readonly Span[]): FileResult[] {
  const results = spans
    .map(({ path, before, after }): FileResult => {
      return { path, change: changeOf(before, after), before, after };
    })
    .sort((a, b) => byName(a.path, b.path));
  return withRenames(results, exactMoves(results));
}

/** Joins each deleted path with the created one it became. */
export function withRenames(
  results: readonly FileResult[],
  moves: ReadonlyMap<Path, Path>,
): FileResult[] {
  const gone = new Map(results.filter(isDeleted).map((result) => [result.path, result]));
  const joined = new Set(moves.values());
  return results.flatMap((result): FileResult[] => {
    if (joined.has(result.path)) return [];
    const from = gone.get(moves.get(result.path) ?? ('' as Path));
    if (from === undefined) return [result];
    return [{ ...result, from: from.path, change: 'renamed', before: from.before }];
  });
}

/** A path that is gone, one that is new, and how much of the longer one they share. */
export interface Pair {
  readonly from: Path;
  readonly to: Path;
  readonly similarity: number;
}

/** Created path -> the deleted one it was: the most alike first, then by path. */
export function mostAlike(pairs: readonly Pair[]): Map<Path, Path> {
  const moves = new Map<Path, Path>();
  const taken = new Set<Path>();
  const inOrder = pairs.toSorted(
    (a, b) => b.similarity - a.similarity || byName(a.from, b.from) || byName(a.to, b.to),
  );
  for (const { from, to } of inOrder) {
    if (moves.has(to) || taken.has(from)) continue;
    moves.set(to, from);
    taken.add(from);
  }
  return moves;
}

function byName(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Created path -> the deleted one whose content it has. */
function exactMoves(results: readonly FileResult[]): Map<Path, Path> {
  const sources = new Map<string, Path[]>();
  for (const { path, before } of results.filter(isDeleted)) {
    if (before === null || before.hash === EMPTY_BLOB) continue;
    sources.set(before.hash, [...(sources.get(before.hash) ?? []), path]);
  }
  const moves = new Map<Path, Path>();
  for (const { path, after } of results.filter(isCreated)) {
    const source = after === null ? undefined : sources.get(after.hash)?.shift();
    if (source !== undefined) moves.set(path, source);
  }
  return moves;
}

export function isCreated({ change }: FileResult): boolean {
  return change === 'created';
}

export function isDeleted({ change }: FileResult): boolean {
  return change === 'deleted';
}

/** What to call a result in the ledger. */
export function actionOf(
  { change, path, from, before, after }: FileResult,
  { additions, deletions }: { readonly additions: number; readonly deletions: number },
): ActionType {
  if (change === 'created') return 'file_create';
  if (change === 'deleted') return 'file_delete';
  if (change === 'renamed') {
    return folderOf(path) === folderOf(from ?? path) ? 'file_rename' : 'file_move';
  }
  if (before?.hash === after?.hash) return 'mode_change';
  if (deletions === 0 && additions > 0) return 'edit_insert';
  return additions === 0 && deletions > 0 ? 'edit_delete' : 'edit_replace';
}

function changeOf(before: FileState | null, after: FileState | null): FileResult['change'] {
  if (sameState(before, after)) return 'unchanged';
  if (before === null) return 'created';
  return after === null ? 'deleted' : 'modified';
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
