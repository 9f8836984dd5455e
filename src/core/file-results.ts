import type { Span } from './edits.js';
import type { ActionType } from './ledger.js';
import type { LineChange } from './line-change.js';
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

export function sameResults(
  some: readonly FileResult[],
  others: readonly FileResult[] = [],
): boolean {
  const isSame = (a: FileResult, b: FileResult | undefined): boolean =>
    a.path === b?.path &&
    a.from === b.from &&
    sameState(a.before, b.before) &&
    sameState(a.after, b.after);
  return some.length === others.length && some.every((one, at) => isSame(one, others[at]));
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

/** Created path -> the deleted one whose content it has; of several, one with the same name. */
function exactMoves(results: readonly FileResult[]): Map<Path, Path> {
  const sources = new Map<string, Path[]>();
  for (const { path, before } of results.filter(isDeleted)) {
    const key = contentKey(before);
    if (key !== undefined) sources.set(key, [...(sources.get(key) ?? []), path]);
  }
  const moves = new Map<Path, Path>();
  const created = results.filter(isCreated);
  for (const hasToMatch of [true, false]) {
    for (const { path, after } of created) {
      const free = sources.get(contentKey(after) ?? '') ?? [];
      const at = hasToMatch ? free.findIndex((from) => nameOf(from) === nameOf(path)) : 0;
      if (moves.has(path) || at === -1) continue;
      const [from] = free.splice(at, 1);
      if (from !== undefined) moves.set(path, from);
    }
  }
  return moves;
}

/** A link is not a file that holds the link's target. */
function contentKey(state: FileState | null): string | undefined {
  if (state === null || state.hash === EMPTY_BLOB) return undefined;
  return `${state.mode === '120000' ? 'link' : 'file'} ${state.hash}`;
}

export function isCreated({ change }: FileResult): boolean {
  return change === 'created';
}

export function isDeleted({ change }: FileResult): boolean {
  return change === 'deleted';
}

/** What to call a result in the ledger; `lines` says what became of the lines of a text. */
export function actionOf(
  { change, path, from, before, after }: FileResult,
  lines: LineChange,
): ActionType {
  if (change === 'created') return 'file_create';
  if (change === 'deleted') return 'file_delete';
  if (change === 'renamed') {
    return folderOf(path) === folderOf(from ?? path) ? 'file_rename' : 'file_move';
  }
  return before?.hash === after?.hash ? 'mode_change' : lines;
}

function changeOf(before: FileState | null, after: FileState | null): FileResult['change'] {
  if (sameState(before, after)) return 'unchanged';
  if (before === null) return 'created';
  return after === null ? 'deleted' : 'modified';
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
