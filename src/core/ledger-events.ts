import type { DialogFact } from './dialogs.js';
import type { EditFacts } from './edits.js';
import type { PublishedEvent } from './events.js';
import type { LedgerEntry } from './ledger.js';
import type { SnapshotNote } from './snapshots.js';

/**
 * What a ledger line tells subscribers; undefined for lines that are nobody's news. The same when
 * it happens and when it is read back later: there is no second way to say it.
 */
export function eventOf(entry: LedgerEntry, root: string): PublishedEvent | undefined {
  const edit = entry['edit'] as EditLine | undefined;
  if (edit !== undefined) return editEvent(edit, entry, root);
  const besides = besidesDialogs(entry);
  if (besides !== undefined) return besides;
  const fact = entry['fact'] as DialogFact | undefined;
  if (fact === undefined || entry.dialog_id === null) return undefined;
  const told = describe(fact, entry);
  if (told === undefined) return undefined;
  const recovered = entry['recovered'] === true ? { recovered: true } : {};
  return { ...told, dialog_id: entry.dialog_id, ...recovered };
}

function describe(fact: DialogFact, entry: LedgerEntry): PublishedEvent | undefined {
  const { session } = entry;
  switch (fact.what) {
    case 'created':
      return {
        type: 'dialog',
        what: 'created',
        title: fact.title,
        ...(fact.earlier === undefined ? {} : { migrated: true }),
      };
    case 'used':
    case 'deleted':
      return { type: 'dialog', what: fact.what };
    case 'saved':
      return {
        type: 'checkpoint',
        commit_id: fact.commit,
        kind: fact.kind,
        message: entry['message'],
        session,
        changed: entry['changed'],
      };
    case 'message':
      return { type: 'user', content: entry['content'], checkpoint: entry['checkpoint'], session };
    case 'approved':
      return {
        type: 'session',
        what: 'approved',
        approved_commit: fact.commit,
        new_session: fact.session,
        commits_approved: entry['commits_approved'],
      };
    case 'reset':
      return { type: 'session', what: 'reset', reset_to: fact.tip, new_session: fact.session };
    case 'rewound':
      return {
        type: 'session',
        what: 'rewound',
        rewound_to: entry['rewound_to'],
        new_session: fact.session,
        new_checkpoint: fact.tip,
        ...(entry['counts'] as object | undefined),
      };
    case 'moved':
      return {
        type: 'restore',
        restored_to: entry['restored_to'],
        new_checkpoint: entry['new_checkpoint'],
        ...(entry['counts'] as object | undefined),
      };
    default:
      // A fact of a newer daemon.
      return undefined;
  }
}

/** Bookmarks, snapshots, remarks and evaluations: they belong to the project, with or without a dialog. */
function besidesDialogs(entry: LedgerEntry): PublishedEvent | undefined {
  const { id: event, dialog_id, files, rationale } = entry;
  const bookmarked = entry['bookmarked'] as { what: string; id: string } | undefined;
  if (bookmarked !== undefined) {
    // A mark that sets itself comes with a session or a checkpoint, which is told already.
    if (entry['automatic'] === true) return undefined;
    const { what, id } = bookmarked;
    return { type: 'bookmark', what, name: entry.bookmark, id, event, dialog_id };
  }
  const snapshot = entry['snapshot'] as SnapshotNote | undefined;
  if (snapshot !== undefined) {
    const { name, reason, commit: commit_id } = snapshot;
    return { type: 'snapshot', id: entry.snapshot_ref, name, reason, commit_id, event, dialog_id };
  }
  if (entry['remark'] === true) {
    return { type: 'note', text: rationale, files, event, dialog_id };
  }
  const evaluation = entry['eval'] as { name: string; report?: string } | undefined;
  if (evaluation === undefined) return undefined;
  const { report: _report, ...told } = evaluation;
  return { type: 'eval', ...told, event, dialog_id };
}

/** What the line of an edit says of it. */
interface EditLine {
  readonly what: string;
  readonly id: string;
  readonly facts?: Pick<EditFacts, 'agent' | 'tool' | 'scope'>;
}

function editEvent(edit: EditLine, entry: LedgerEntry, root: string): PublishedEvent | undefined {
  const named = { edit_id: edit.id, dialog_id: entry.dialog_id };
  const { action_type: action } = entry;
  if (action === 'edit_started') {
    const { agent, tool, scope } = edit.facts ?? {};
    const where = scope === 'project' ? { scope } : { paths: entry.files };
    return { type: 'edit_started', ...named, agent, tool, ...where };
  }
  if (action === 'edit_aborted') {
    const { reason, saved, outcome } = entry as Readonly<Record<string, unknown>>;
    return { type: 'edit_aborted', ...named, reason, saved, ...(outcome as object | undefined) };
  }
  if (action === 'edit_incomplete') {
    return { type: 'edit_incomplete', ...named, reason: entry['reason'], paths: entry['paths'] };
  }
  return fileEdit(edit, entry, { ...named, root });
}

/** One line per changed file; what went over to another edit is told by that one. */
function fileEdit(
  { what }: EditLine,
  { changes }: LedgerEntry,
  { root, ...named }: { readonly root: string; readonly edit_id: string },
): PublishedEvent | undefined {
  const path = changes.at(-1)?.path;
  if (path === undefined || what === 'passed_on') return undefined;
  return { type: 'file_edit', file: `${root}/${path}`, ...named };
}
