import { actionOf, type FileResult } from '../core/file-results.js';
import type { ActionType, NewEvent } from '../core/ledger.js';
import type { LineChange } from '../core/line-change.js';
import type { Path } from '../core/model.js';
import type { FileState } from '../core/watching.js';

/** Who a change is by, as its ledger line says it. */
export interface Voice {
  readonly by: string;
  readonly author: {
    readonly name: string;
    readonly version: string | null;
    readonly kind: string;
  };
  readonly ts: string;
  readonly dialog_id: string | null;
  readonly session: string | null;
  readonly rationale?: string | null;
  readonly run_id?: string | null;
  readonly artifacts?: string[];
}

/** A result together with its size and text. */
export interface Account extends FileResult {
  readonly additions: number;
  /** The edit had so much text that this file was not looked into. */
  readonly isUntold?: true;
  readonly deletions: number;
  readonly diff?: string;
  readonly affectedLines: readonly number[];
  /** What became of the lines of a text. */
  readonly lines: LineChange;
}

/** A checkout changes thousands: one line tells of this many. */
const CHANGES_PER_LINE = 1_000;

/** One line per changed file. */
export function linesFor(
  accounts: readonly Account[],
  voice: Voice,
  edit?: { readonly id: string; readonly what: string },
): NewEvent[] {
  return accounts
    .filter(({ change }) => change !== 'unchanged')
    .map((account) => {
      const { change, additions, deletions } = account;
      const untold = account.isUntold === true ? { untold: true } : {};
      return {
        ...voice,
        ...changeFields([account]),
        action_type: actionOf(account, account.lines),
        affected_lines: [...account.affectedLines],
        ...(edit === undefined ? {} : { told: { change, additions, deletions, ...untold }, edit }),
      };
    });
}

/** Few lines for many files: what changed, without looking into it. */
export function summaryLines(results: readonly FileResult[], voice: Voice): NewEvent[] {
  const alike = new Map<ActionType, FileResult[]>();
  for (const result of results) {
    if (result.change === 'unchanged') continue;
    const action = actionOf(result, 'edit_replace');
    const others = alike.get(action);
    if (others === undefined) alike.set(action, [result]);
    else others.push(result);
  }
  return [...alike].flatMap(([action_type, all]) => {
    return inLines(all).map((told): NewEvent => ({ ...voice, ...told, action_type }));
  });
}

/** So many results as one line can tell of, each time with the members that tell of them. */
export function inLines(results: readonly FileResult[]): ReturnType<typeof changeFields>[] {
  const lines: ReturnType<typeof changeFields>[] = [];
  for (let at = 0; at < results.length; at += CHANGES_PER_LINE) {
    lines.push(changeFields(results.slice(at, at + CHANGES_PER_LINE)));
  }
  return lines;
}

function changeFields(results: readonly FileResult[]) {
  const moved = results.filter(({ from }) => from !== undefined);
  return {
    files: results.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path])),
    changes: results.flatMap(changesOf),
    ...(moved.length === 0
      ? {}
      : { moves: Object.fromEntries(moved.map(({ path, from }) => [path, from])) }),
  };
}

function changesOf({ path, from, before, after }: FileResult) {
  if (from === undefined) return [change(path, before, after)];
  return [change(from, before, null), change(path, null, after)];
}

function change(path: Path, before: FileState | null, after: FileState | null) {
  return {
    path,
    before: before?.hash ?? null,
    after: after?.hash ?? null,
    ...(before === null ? {} : { mode_before: before.mode }),
    ...(after === null ? {} : { mode_after: after.mode }),
  };
}
