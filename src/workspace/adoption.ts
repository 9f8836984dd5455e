import { activeSession, type DialogState } from '../core/dialogs.js';
import type { EditFacts, Span } from '../core/edits.js';
import { toResults, type FileResult } from '../core/file-results.js';
import type { NewEvent } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import type { Clock } from '../core/ports.js';
import { summaryLines, type Voice } from './account-lines.js';
import { type Accounts } from './accounts.js';
import { stateOf, type Claims } from './claims.js';
import type { PendingChange } from './pending.js';

/** Work of others that a checkpoint has taken in, and what to do once its lines are written. */
export interface Adoption {
  readonly results: readonly FileResult[];
  done(): void;
}

/**
 * A checkpoint holds whatever is on disk, so from then on that is known. What no edit claims is
 * written down as somebody's work.
 */
export function adopt(
  claims: Claims,
  taken: readonly PendingChange[],
  /** Paths that have changed again since. */
  stillPending: ReadonlySet<Path> = new Set(),
): Adoption {
  const inCommit = new Map(taken.map(({ path, after }) => [path, stateOf(after ?? undefined)]));
  const spans = claims.unexplained().flatMap(({ path, expected, actual }): Span[] => {
    const committed = inCommit.get(path);
    if (committed === undefined && stillPending.has(path)) return [];
    return [{ path, before: expected, after: committed === undefined ? actual : committed }];
  });
  return {
    results: toResults(spans),
    done: () => {
      for (const { path, after } of spans) claims.explain(path, after);
    },
  };
}

/**
 * A checkpoint also holds what edits have not finished. Nothing is known by that, but whoever goes
 * back to it finds lines that are theirs.
 */
export function notedUnderWay(
  claims: Claims,
  taken: readonly PendingChange[],
  voiceFor: (facts: EditFacts) => Voice,
): NewEvent[] {
  const inCommit = new Map(taken.map(({ path, after }) => [path, stateOf(after ?? undefined)]));
  return claims.table.list().flatMap(({ facts, before }) => {
    const spans = [...before].flatMap(([path, state]): Span[] => {
      const after = inCommit.get(path);
      return after === undefined ? [] : [{ path, before: state, after }];
    });
    const rationale = 'Saved while the edit was open.';
    return summaryLines(toResults(spans), voiceFor(facts)).map((line) => {
      return { ...line, action_type: 'meta_note' as const, rationale, noted: true };
    });
  });
}

/** Where in the history something is written down. */
interface Place {
  readonly dialog_id: string | null;
  readonly session: string | null;
}

export function unknownVoice(place: Place, clock: Clock): Voice {
  const author = { name: 'unknown', version: null, kind: 'unknown' };
  return { by: 'unknown', author, ts: new Date(clock.now()).toISOString(), ...place };
}

/** What a dialog did itself: restores and resets. */
export function dialogVoice(dialog: DialogState, clock: Clock): Voice {
  const author = { name: dialog.id, version: null, kind: 'dialog' };
  const ts = new Date(clock.now()).toISOString();
  return { by: `dialog:${dialog.id}`, author, ts, ...placeOf(dialog) };
}

/** The lines of files that we put back to what they were when the ledger was at `asOf`. */
export async function restoredLines(
  accounts: Accounts,
  changes: readonly Span[],
  { voice, asOf }: { readonly voice: Voice; readonly asOf: number | undefined },
): Promise<NewEvent[]> {
  return (await accounts.tell(toResults(changes), voice)).map((line) => {
    return { ...line, restored: true, ...(asOf === undefined ? {} : { as_of: asOf }) };
  });
}

export function placeOf(dialog: DialogState): Place {
  return { dialog_id: dialog.id, session: activeSession(dialog).name };
}
