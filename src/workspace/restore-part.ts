import type { DialogState } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import type { CommitId, Path } from '../core/model.js';
import { isChosen } from '../core/restore-plan.js';
import { revertHunks, type HunkChoice } from './hunk-returns.js';
import { revertOwn, type OwnDeps, type Reverted } from './own-changes.js';
import type { Present } from './present.js';

/** What a part of a restore changes, from what is on disk when it is asked. */
export type Part = (dialog: DialogState) => Promise<Reverted>;

interface Target {
  readonly commit: CommitId;
  readonly paths?: readonly Path[] | undefined;
  readonly asOf?: number | undefined;
}

/** What of the way to a state is wanted; undefined: all of it. */
export function partOf(
  deps: OwnDeps & { readonly present: Present },
  asked: {
    readonly mode?: 'exact' | 'keep_external' | undefined;
    readonly hunks?: Omit<HunkChoice, 'path'> | undefined;
  },
  { commit, paths, asOf = 0 }: Target,
): Part | undefined {
  const { mode, hunks } = asked;
  const isOwnOnly = mode === 'keep_external';
  if (hunks === undefined) {
    const own = { since: asOf, chosen: isChosen(paths) };
    return isOwnOnly ? (dialog) => revertOwn(deps, dialog, own) : undefined;
  }
  const [path, ...others] = paths ?? [];
  if (path === undefined || others.length > 0 || isOwnOnly) throw notOneFile();
  return async (dialog) => {
    const differences = await deps.present.differencesTo(dialog, commit);
    return revertHunks(deps, { path, ...hunks }, differences);
  };
}

function notOneFile(): SmithyError {
  return new SmithyError('INVALID_PARAMS', 'Hunks are those of one file.', {
    hint: 'Give its path in `paths`, and no mode.',
  });
}
