import type { DialogState } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import type { CommitId, Path } from '../core/model.js';
import { isChosen } from '../core/restore-plan.js';
import type { CheckpointStore } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import type { Present } from './present.js';

interface Deps {
  readonly present: Present;
  readonly store: Pick<CheckpointStore, 'readCommit'>;
  readonly watcher: Pick<Watcher, 'get' | 'entriesAfter' | 'emptyFolders'>;
}

/**
 * Somebody who mistypes a path must not be told that it was restored. What is there now and what
 * differs is asked: a path that is neither is in the target no more than here.
 *
 * @throws SmithyError INVALID_PARAMS
 */
export async function requireKnownPaths(
  { present, store, watcher }: Deps,
  dialog: DialogState,
  {
    commit,
    paths = [],
  }: { readonly commit: CommitId; readonly paths?: readonly Path[] | undefined },
): Promise<void> {
  const strange = paths.filter((path) => !isHere(watcher, path));
  if (strange.length === 0) return;
  const differences = await present.differencesTo(dialog, commit);
  const { emptyFolders } = await store.readCommit(commit);
  const there = [
    ...differences.map(({ path }) => path),
    ...emptyFolders,
    ...watcher.emptyFolders(),
  ];
  const unknown = strange.filter((path) => !there.some(isChosen([path])));
  if (unknown.length === 0) return;
  const [first = ''] = unknown;
  const names = unknown.length === 1 ? first : `${first} and ${unknown.length - 1} more`;
  throw new SmithyError('INVALID_PARAMS', `${names}: neither in that state nor in the project.`, {
    hint: 'Paths are those below the project folder; `smithyd files` lists what is tracked.',
    data: { paths: unknown },
  });
}

function isHere(watcher: Deps['watcher'], path: Path): boolean {
  if (watcher.get(path) !== undefined) return true;
  const folder = `${path}/`;
  for (const entry of watcher.entriesAfter(folder)) return entry.path.startsWith(folder);
  return false;
}
