import type { DialogState } from '../core/dialogs.js';
import type { Ledger, LedgerEntry } from '../core/ledger.js';
import type { Hash, Path } from '../core/model.js';
import type { Difference } from '../core/restore-plan.js';
import type { FileChange } from '../core/store.js';
import type { TextDiff } from '../core/text-diff.js';
import { sameState, type FileState, type Watcher } from '../core/watching.js';
import { stateOf } from './claims.js';
import type { Contents } from './contents.js';
import { toState } from './explained.js';
import { replay } from './replay.js';
import type { Skipped } from './tree-moves.js';

export interface OwnDeps {
  readonly ledger: Ledger;
  readonly contents: Contents;
  readonly text: TextDiff;
  readonly watcher: Watcher;
  readonly blobId: (content: Uint8Array) => Hash;
}

export interface Reverted {
  /** What leads from the disk to a state without the dialog's own work. */
  readonly differences: Difference[];
  /** The same for a commit. */
  readonly changes: FileChange[];
  /** Left as they are: changed by others in the same lines, or what they held is gone. */
  readonly left: Skipped[];
}

interface Version {
  readonly before: FileState | null;
  readonly after: FileState | null;
  readonly isOwn: boolean;
}

/** A state together with its content, when that may be in no store yet. */
interface Draft {
  readonly state: FileState | null;
  readonly content?: Uint8Array;
  /** It is what is there now. */
  readonly isOnDisk?: true;
}

/** Why a file is left as it is. */
interface Refusal {
  readonly reason: 'conflict' | 'content_gone';
}

/** Somebody else wrote over it. */
const CONFLICT: Refusal = { reason: 'conflict' };
/** Folded, or gone with its dialog. */
const GONE: Refusal = { reason: 'content_gone' };

/**
 * Takes a dialog's own edits and commands since a line of the ledger back, the newest first, and
 * leaves what anybody else did. Where others wrote on top, their lines are merged.
 */
export async function revertOwn(
  deps: OwnDeps,
  dialog: DialogState,
  { since, chosen }: { readonly since: number; readonly chosen: (path: Path) => boolean },
): Promise<Reverted> {
  const reverted: Reverted = { differences: [], changes: [], left: [] };
  for (const [path, versions] of await versionsSince(deps.ledger, dialog, since)) {
    if (!chosen(path) || !versions.some(({ isOwn }) => isOwn)) continue;
    const now = stateOf(deps.watcher.get(path));
    const wanted = await without(deps, path, { now, versions });
    if ('reason' in wanted) reverted.left.push({ path, ...wanted });
    else if (!sameState(wanted.state, now)) {
      reverted.differences.push({ path, from: now, to: wanted.state });
      reverted.changes.push(toChange(path, wanted));
    }
  }
  return reverted;
}

async function without(
  deps: OwnDeps,
  path: Path,
  { now, versions }: { readonly now: FileState | null; readonly versions: readonly Version[] },
): Promise<Draft | Refusal> {
  let draft: Draft = { state: now, isOnDisk: true };
  for (const { before, after, isOwn } of versions.toReversed()) {
    if (!isOwn) continue;
    if (sameState(draft.state, after)) {
      draft = { state: before };
      continue;
    }
    const merged = await merge(deps, path, { draft, before, after });
    if ('reason' in merged) return merged;
    draft = merged;
  }
  const { state, content, isOnDisk } = draft;
  if (state === null || content !== undefined || isOnDisk || sameState(state, now)) return draft;
  return (await deps.contents.isStored(state.hash)) ? draft : GONE;
}

/** Both changed it: their lines without ours. A file that is gone on one side cannot be merged. */
async function merge(
  { contents, text, blobId }: OwnDeps,
  path: Path,
  { draft, before, after }: { draft: Draft; before: FileState | null; after: FileState | null },
): Promise<Draft | Refusal> {
  if (draft.state === null || before === null || after === null) return CONFLICT;
  const [base, theirs] = await Promise.all([
    contents.stored(after.hash),
    contents.stored(before.hash),
  ]);
  const { state, isOnDisk } = draft;
  const ours =
    draft.content ?? (await (isOnDisk ? contents.read(path, state) : contents.stored(state.hash)));
  if (base === undefined || theirs === undefined || ours === undefined) return GONE;
  const { clean, content } = text.merge(base, ours, theirs);
  if (!clean) return CONFLICT;
  const mode = draft.state.mode === after.mode ? before.mode : draft.state.mode;
  return { state: { hash: blobId(content), mode }, content };
}

async function versionsSince(
  ledger: Ledger,
  dialog: DialogState,
  since: number,
): Promise<Map<Path, Version[]>> {
  const found = new Map<Path, Version[]>();
  const take = (entry: LedgerEntry): void => {
    if (entry['by'] === undefined || entry['noted'] === true) return;
    const isOwn = entry.dialog_id === dialog.id && entry.author.kind !== 'unknown';
    for (const { path, before, after, mode_before: from, mode_after: to } of entry.changes) {
      const versions = found.get(path as Path) ?? [];
      versions.push({ before: toState(before, from), after: toState(after, to), isOwn });
      found.set(path as Path, versions);
    }
  };
  await replay(ledger, take, since);
  return found;
}

export function toChange(path: Path, { state, content }: Draft): FileChange {
  if (state === null) return { path, deleted: true };
  if (content === undefined) return { path, ...state };
  return { path, ...state, content: () => content, size: content.length };
}
