import { counted } from '../core/counted.js';
import { SmithyError } from '../core/errors.js';
import { withoutHunks } from '../core/hunk-choice.js';
import type { Path } from '../core/model.js';
import type { Difference } from '../core/restore-plan.js';
import type { FileDiff } from '../core/text-diff.js';
import type { FileState } from '../core/watching.js';
import { toChange, type OwnDeps, type Reverted } from './own-changes.js';

/** Some of the differences of one file. */
export interface HunkChoice {
  readonly path: Path;
  /** Counted from 1, in the order in which `diff` shows them. */
  readonly numbers: readonly number[];
  /** What the file held when they were counted. */
  readonly expect?: string | undefined;
}

/** Takes some hunks of a file back and leaves the others. */
export async function revertHunks(
  deps: OwnDeps,
  { path, numbers, expect }: HunkChoice,
  differences: readonly Difference[],
): Promise<Reverted> {
  if (expect !== undefined) requireSeen(path, { expect, now: deps.watcher.get(path)?.hash });
  const found = differences.find((one) => one.path === path);
  const { from: now, to: target } = found ?? { from: null, to: null };
  const diff = await compare(deps, path, { now, target });
  const count = diff.hunks?.length ?? 0;
  if (numbers.some((number) => number > count)) throw noSuchHunk(path, count);
  if (new Set(numbers).size === count || now === null) {
    return reverted({ path, from: now, to: target }, toChange(path, { state: target }));
  }
  const content = withoutHunks(await deps.contents.read(path, now), diff, numbers);
  const state = { hash: deps.blobId(content), mode: now.mode };
  return reverted({ path, from: now, to: state }, toChange(path, { state, content }));
}

async function compare(
  { contents, text }: OwnDeps,
  path: Path,
  { now, target }: { readonly now: FileState | null; readonly target: FileState | null },
): Promise<FileDiff> {
  const [before, after] = await Promise.all([
    contents.side(path, target),
    contents.side(path, now),
  ]);
  const change = target === null ? 'added' : now === null ? 'deleted' : 'modified';
  const diff = text.file({ path, change, before, after });
  if (diff.is_binary || diff.is_too_large) throw notInHunks(path);
  return diff;
}

function reverted(difference: Difference, change: Reverted['changes'][number]): Reverted {
  return { differences: [difference], changes: [change], left: [] };
}

function requireSeen(path: Path, { expect, now }: { expect: string; now: string | undefined }) {
  if (expect === now) return;
  throw new SmithyError('STALE_READ', `${path} changed since its hunks were counted.`, {
    hint: 'Look at the diff again, then choose anew.',
    data: { files: [{ path, expected: expect, actual: now ?? null }] },
  });
}

function noSuchHunk(path: Path, count: number): SmithyError {
  const what = `${counted(count, 'hunk')} that ${count === 1 ? 'differs' : 'differ'}`;
  return new SmithyError('INVALID_PARAMS', `${path} has ${what} from there.`, {
    hint: 'They are counted from 1, in the order of `smithyd diff ID --file PATH`.',
    data: { path, hunks: count },
  });
}

function notInHunks(path: Path): SmithyError {
  return new SmithyError('INVALID_PARAMS', `${path} cannot be taken apart into hunks.`, {
    hint: 'It is binary or too large; restore the whole file.',
    data: { path },
  });
}
