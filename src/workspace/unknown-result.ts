import type { Unexplained } from '../core/known-state.js';
import type { FileSide, TextDiff } from '../core/text-diff.js';
import type { ChangeOrigin, FileState } from '../core/watching.js';
import type { Path } from '../core/model.js';
import type { Contents } from './contents.js';

export interface UnknownChange {
  filePath: string;
  changeType: 'modified' | 'created' | 'deleted';
  expectedHash: string | null;
  actualHash: string | null;
  origin: ChangeOrigin;
  diff?: string;
}

export interface UnknownChangeResult {
  hasUnknownChanges: boolean;
  unknownChanges: UnknownChange[];
  affectedFiles: string[];
  generatedDiff?: string;
}

/** For a reader with little room: enough to see what happened, never the whole of a checkout. */
const MOST_TEXT_BYTES = 256 * 1024;
const MOST_LISTED = 5_000;

/** What is unknown, in the words of the contract. */
export async function toResult(
  unknown: readonly Unexplained[],
  contents: Contents,
  text: TextDiff,
): Promise<UnknownChangeResult> {
  const unknownChanges: UnknownChange[] = [];
  let room = MOST_TEXT_BYTES;
  for (const one of unknown.slice(0, MOST_LISTED)) {
    const diff = room > 0 ? await diffOf(one, contents, text) : undefined;
    const fits = diff !== undefined && diff.length <= room;
    if (fits) room -= diff.length;
    unknownChanges.push({
      filePath: one.path,
      changeType: changeType(one),
      expectedHash: one.expected?.hash ?? null,
      actualHash: one.actual?.hash ?? null,
      origin: one.origin,
      ...(fits ? { diff } : {}),
    });
  }
  const all = unknownChanges.map(({ diff = '' }) => diff).join('');
  return {
    hasUnknownChanges: unknown.length > 0,
    unknownChanges,
    affectedFiles: unknown.map(({ path }) => path),
    ...(all === '' ? {} : { generatedDiff: all }),
  };
}

export function changeType({ expected, actual }: Unexplained): UnknownChange['changeType'] {
  if (expected === null) return 'created';
  return actual === null ? 'deleted' : 'modified';
}

async function diffOf(
  { path, expected, actual }: Unexplained,
  contents: Contents,
  text: TextDiff,
): Promise<string | undefined> {
  const sides = await Promise.all([side(contents, path, expected), side(contents, path, actual)]);
  const [before, after] = sides;
  if (before === undefined || after === undefined) return undefined;
  const change = before === null ? 'added' : after === null ? 'deleted' : 'modified';
  return text.file({ path, change, before, after }).unified;
}

/** Undefined: the content is nowhere to be had, which is no reason not to report the change. */
async function side(
  contents: Contents,
  path: Path,
  state: FileState | null,
): Promise<FileSide | null | undefined> {
  return contents.side(path, state).catch(() => undefined);
}
