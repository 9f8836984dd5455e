import type { EditFacts } from '../core/edits.js';
import type { FileResult } from '../core/file-results.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import type { Account } from './account-lines.js';
import type { EditRecord } from './edit-book.js';
import type { Started } from './edit-starts.js';
import type { Moves } from './entry-results.js';
import type { UnknownChangeResult } from './unknown-result.js';

export interface EditedFile {
  path: string;
  from?: string;
  change: FileResult['change'];
  before: string | null;
  after: string | null;
  additions: number;
  deletions: number;
  diff?: string;
}

export interface EditAnswer {
  edit_id: string;
  files: EditedFile[];
  events: string[];
  skipped: { path: string; reason: string }[];
  warnings?: string[];
}

export function toEditedFile(account: Account): EditedFile {
  const { path, from, change, before, after, additions, deletions, diff } = account;
  return {
    path,
    ...(from === undefined ? {} : { from }),
    change,
    before: before?.hash ?? null,
    after: after?.hash ?? null,
    additions,
    deletions,
    ...(diff === undefined ? {} : { diff }),
  };
}

/** What a line of one file tells beside its `changes`. */
export interface Told {
  readonly change: FileResult['change'];
  readonly additions: number;
  readonly deletions: number;
}

/** The same out of the ledger: without the text. Undefined for a line of another kind. */
export function fromLine(entry: LedgerEntry): EditedFile | undefined {
  const told = entry['told'] as Told | undefined;
  const last = entry.changes.at(-1);
  if (told === undefined || last === undefined) return undefined;
  const from = (entry['moves'] as Moves | undefined)?.[last.path];
  const before = from === undefined ? last.before : (entry.changes[0]?.before ?? null);
  return {
    path: last.path,
    ...(from === undefined ? {} : { from }),
    ...told,
    before,
    after: last.after,
  };
}

export interface StartAnswer {
  edit_id: string;
  files: { path: string; exists: boolean; hash: string | null }[];
  unknown: UnknownChangeResult;
  warnings: string[];
}

export function answerFor({ edit, unknown, warnings }: Started): StartAnswer {
  const files = [...edit.before].map(([path, state]) => {
    return { path, exists: state !== null, hash: state?.hash ?? null };
  });
  return { edit_id: edit.facts.id, files, unknown, warnings: [...warnings] };
}

/** The call came twice: its first answer was lost on the way, not the edit. */
export function answerAgain({ facts, before }: EditRecord): StartAnswer {
  const files = [...before].map(([path, state]) => {
    return { path, exists: state !== null, hash: state?.hash ?? null };
  });
  const unknown = { hasUnknownChanges: false, unknownChanges: [], affectedFiles: [] };
  return { edit_id: facts.id, files, unknown, warnings: ['This edit was opened before.'] };
}

export function toListed(facts: EditFacts, paths: Iterable<Path>) {
  const { id, scope, agent, tool, dialog, since } = facts;
  const where = scope === 'project' ? { scope: 'project' as const } : { paths: [...paths] };
  return { edit_id: id, ...where, agent, tool, dialog_id: dialog, since };
}
