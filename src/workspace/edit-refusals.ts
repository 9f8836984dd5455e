import type { OpenEdit } from '../core/edits.js';
import { SmithyError } from '../core/errors.js';
import type { Hash, Path } from '../core/model.js';
import type { EntryAt } from '../core/tree-writer.js';
import type { FileState } from '../core/watching.js';
import type { EditRecord } from './edit-book.js';
import type { EditDeps } from './edit-deps.js';

/** Only files can be edited: what a link or a folder hides is somebody else's. */
export function requireFile(path: Path, kind: EntryAt): void {
  if (kind === 'file' || kind === 'nothing') return;
  if (kind === 'unreachable') {
    throw new SmithyError(
      'PATH_OUTSIDE_ROOT',
      `A folder on the way to ${path} is a link or a file.`,
      {
        hint: 'Name the file by the path it really has inside the project.',
        data: { path },
      },
    );
  }
  const what = kind === 'folder' ? 'a folder' : 'no regular file';
  throw new SmithyError('PATH_UNSUPPORTED', `${path} is ${what}.`, {
    hint: kind === 'folder' ? 'Name the files in it, or use scope "project".' : 'Name a file.',
    data: { path },
  });
}

/** What is in a project with a daemon of its own is announced there. */
export function ofAnotherProject(path: Path, root: string): SmithyError {
  return new SmithyError('PATH_UNSUPPORTED', `${root} is a project of its own.`, {
    hint: `Announce the edit there, with \`--root\`; ${path} is left out here.`,
    data: { path, root },
  });
}

interface Stale {
  readonly path: Path;
  readonly expected: string | null;
  readonly state: FileState | null;
}

/** Enough to see what somebody else wrote. */
const LONGEST_DIFF = 4_000;

/** The files that are not what their editor has read. */
export function staleFiles(
  expect: ReadonlyMap<Path, string | null>,
  now: (path: Path) => FileState | null,
): Stale[] {
  return [...expect]
    .map(([path, expected]) => ({ path, expected, state: now(path) }))
    .filter(({ expected, state }) => (state?.hash ?? null) !== expected);
}

export async function staleRead(deps: EditDeps, stale: readonly Stale[]): Promise<SmithyError> {
  const files = await Promise.all(
    stale.map(async ({ path, expected, state }) => {
      const diff = await shortDiff(deps, { path, expected, state });
      const actual = state?.hash ?? null;
      return { path, expected, actual, ...(diff === undefined ? {} : { diff }) };
    }),
  );
  const more = stale.length === 1 ? '' : ` and ${stale.length - 1} more`;
  const message = `${stale[0]?.path ?? 'A file'}${more} changed since it was read.`;
  return new SmithyError('STALE_READ', message, {
    hint: 'Read it again, then start the edit with the new hash.',
    data: { files },
  });
}

/** From what was read to what is there; undefined when what was read is not in the store. */
async function shortDiff(
  { store, contents, text }: EditDeps,
  { path, expected, state }: Stale,
): Promise<string | undefined> {
  const read = expected as Hash | null;
  if (read !== null && !(await store.has([read])).has(read)) return undefined;
  const mode = state?.mode ?? '100644';
  const before = read === null ? null : { mode, content: await store.readBlob(read) };
  const after = await contents.side(path, state);
  const change = before === null ? 'added' : after === null ? 'deleted' : 'modified';
  const { unified } = text.file({ path, change, before, after });
  return unified === undefined || unified.length > LONGEST_DIFF ? undefined : unified;
}

export function editConflict({ facts, before }: OpenEdit, wanted: readonly Path[]): SmithyError {
  const path = wanted.find((one) => before.has(one)) ?? wanted[0];
  const who = facts.agent?.name ?? facts.tool ?? 'somebody';
  return new SmithyError('EDIT_CONFLICT', `${path ?? 'A path'} is being edited by ${who}.`, {
    hint: 'Work on something else and try again when it is free; `smithyd edit start --wait-ms MS` (wait_ms of start_edit) waits for it.',
    data: {
      holder: {
        edit_id: facts.id,
        agent: facts.agent,
        tool: facts.tool,
        since: facts.since,
        paths: [...before.keys()].slice(0, 100),
      },
    },
  });
}

export function restoreBlocked({ facts }: OpenEdit, path: Path): SmithyError {
  const who = facts.agent?.name ?? facts.tool ?? 'somebody';
  return new SmithyError('RESTORE_BLOCKED', `${path} is being edited by ${who}.`, {
    hint: 'Finalize or abort that edit first; see `smithyd edit list`.',
    data: { path, edit_id: facts.id },
  });
}

export function tooMany(what: string, limit: string, value: number): SmithyError {
  return new SmithyError('LIMIT_EXCEEDED', `No more than ${value} ${what}.`, {
    hint: 'Finalize or abort some of them first.',
    data: { limit, value },
  });
}

export function ended({ facts }: EditRecord, how: string): SmithyError {
  return new SmithyError('EDIT_NOT_FOUND', `The edit ${facts.id} was ${how} already.`, {
    hint: 'Start a new one; `smithyd edit list` shows what is open.',
    data: { id: facts.id, near: [] },
  });
}
