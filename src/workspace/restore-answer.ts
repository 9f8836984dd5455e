import type { DialogState } from '../core/dialogs.js';
import type { CommitId } from '../core/model.js';
import type { Moved } from './tree-moves.js';

/** What a restore says it did, path by path. */
export interface RestoreAnswer {
  /** A checkpoint, or the event that was asked for. */
  restored_to: string;
  new_checkpoint: CommitId;
  safety_checkpoint: CommitId | null;
  restored: string[];
  deleted: string[];
  kept: string[];
  skipped: { path: string; reason: string }[];
}

/** The answer of a restore that changes nothing. */
export function untouched(dialog: DialogState, target: string): RestoreAnswer {
  return {
    restored_to: target,
    new_checkpoint: dialog.tip,
    safety_checkpoint: null,
    restored: [],
    deleted: [],
    kept: [],
    skipped: [],
  };
}

export function countsOf({ restored, deleted, skipped }: Moved) {
  return { restored: restored.length, deleted: deleted.length, skipped: skipped.length };
}

export function listsOf({ restored, deleted, skipped }: Moved) {
  return { restored, deleted, skipped };
}
