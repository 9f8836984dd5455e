import type { Answer } from '../api/table.js';
import { counted } from '../core/counted.js';
import {
  ago,
  bytes,
  columns,
  lineCounts,
  paint,
  printable,
  shownPath,
  skippedRow,
  tellWarnings,
} from './text.js';

/** What people read about dialogs, checkpoints and sessions. */
export interface Look {
  readonly colour: boolean;
  readonly now: number;
  /** Beside the answer, so that a script gets the answer alone. */
  readonly aside: (text: string) => void;
}

function renderLog({ checkpoints }: Answer<'list_checkpoints'>, look: Look): string {
  if (checkpoints.length === 0) return 'No checkpoints yet.\n';
  const rows = checkpoints.map(
    ({ commit_id: id, created_at: at, session, kind, message, changed }) => {
      const counts = describeCounts(changed, look);
      const subject = printable(message.split('\n')[0] ?? '');
      return [
        paint(look.colour, 'yellow', id.slice(0, 8)),
        ago(look.now - Date.parse(at)).padStart(12),
        session.padEnd(10),
        kind.padEnd(10),
        `${subject}${counts === '' ? '' : `  ${counts}`}`,
      ].join('  ');
    },
  );
  return `${rows.join('\n')}\n`;
}

function renderDialogs(
  { dialogs, current_dialog_id: current }: Answer<'list_dialogs'>,
  look: Look,
): string {
  if (dialogs.length === 0) return 'No dialogs yet; the first checkpoint opens one.\n';
  const rows = dialogs.map(({ id, title, updated_at: at, active_session: session }) => {
    const mark = id === current ? paint(look.colour, 'green', '*') : ' ';
    const age = ago(look.now - Date.parse(at));
    return `${mark} ${id}  ${age.padStart(12)}  ${(session ?? '-').padEnd(10)}  ${printable(title)}`;
  });
  return `${rows.join('\n')}\n`;
}

function renderSession(answer: Answer<'get_session'>, look: Look): string {
  const { active_session: session, changed_files: files } = answer;
  if (session === null) return 'Nothing to approve: the project is in its approved state.\n';
  const rows = files.map(({ path, status, additions, deletions, is_binary: binary }) => {
    const size = binary ? 'binary' : lineCounts({ additions, deletions }, look);
    return [`${status.charAt(0).toUpperCase()} ${shownPath(path)}`, size] as const;
  });
  const all = files.length + (answer.omitted ?? 0);
  const count = `${all} ${all === 1 ? 'file differs' : 'files differ'}`;
  return `${session}: ${count} from the approved state\n${columns(rows, '  ')}\n`;
}

function renderSessions({ sessions }: Answer<'list_sessions'>, look: Look): string {
  const rows = sessions.map(
    ({ session_name: name, status, created_at: at, checkpoints_count: n }) => {
      const state = paint(look.colour, status === 'active' ? 'green' : 'dim', status.padEnd(9));
      return `${name.padEnd(12)}  ${state}  ${ago(look.now - Date.parse(at)).padStart(12)}  ${counted(n, 'checkpoint')}`;
    },
  );
  return rows.length === 0 ? 'No sessions.\n' : `${rows.join('\n')}\n`;
}

const renderRestore = (answer: Answer<'restore'>, look: Look): string =>
  renderMoved(answer, look, '`smithyd undo` goes back.');

const renderUndo = (answer: Answer<'undo'>, look: Look): string =>
  renderMoved(answer, look, '`smithyd redo` goes forward again.');

function renderMoved(answer: Answer<'restore'>, look: Look, wayBack: string): string {
  const { restored, deleted, kept, skipped, safety_checkpoint: safety } = answer;
  const to = shortId(answer.restored_to);
  const isIdle = [restored, deleted, kept, skipped].every((paths) => paths.length === 0);
  const would = isIdle ? 'change nothing.' : 'do this:';
  const lines = [
    answer.dry_run === true
      ? `Nothing was done; a restore to ${to} would ${would}`
      : `Restored to ${to}; this state is ${answer.new_checkpoint.slice(0, 8)}.`,
    ...listed('restored', restored),
    ...listed('deleted', deleted),
    ...listed('kept', kept),
    ...skipped.map((one) => skippedRow(one, look)),
  ];
  if (safety !== null) lines.push(`What was here is saved in ${safety.slice(0, 8)}; ${wayBack}`);
  return `${lines.join('\n')}\n`;
}

function renderRewind(answer: Answer<'rewind'>, look: Look): string {
  const moved = renderMoved(answer, look, `\`smithyd rewind\` goes there again.`);
  return `${moved}${answer.session} begins (${answer.event}).\n`;
}

function renderBookmarks({ details }: Answer<'bookmark_list'>, look: Look): string {
  if (details.length === 0) return 'No bookmarks yet; `smithyd bookmark add NAME` makes one.\n';
  const rows = details.map(({ name, id, created_at: at }) => {
    const age = ago(look.now - Date.parse(at));
    return [printable(name), `${shortId(id).padEnd(12)}  ${age}`] as const;
  });
  return `${columns(rows)}\n`;
}

function renderSnapshot({ id, name, files }: Answer<'snapshot_save'>): string {
  return `Saved ${counted(files, 'file')} as ${id}${name === null ? '' : ` (${printable(name)})`}.\n`;
}

function renderSnapshots({ snapshots }: Answer<'snapshot_list'>, look: Look): string {
  if (snapshots.length === 0) return 'No snapshots yet; `smithyd snapshot save` makes one.\n';
  const rows = snapshots.map(({ id, ts, base_event_id: base, reason, files, name }) => {
    const age = ago(look.now - Date.parse(ts)).padStart(12);
    const cells = [id, age, base, reason.padEnd(8), counted(files, 'file'), printable(name ?? '')];
    return cells.join('  ').trimEnd();
  });
  return `${rows.join('\n')}\n`;
}

/** Checkpoints are long; events and snapshots are as short as they can be. */
function shortId(id: string): string {
  return /^[0-9a-f]{40}$/u.test(id) ? id.slice(0, 8) : id;
}

function renderReset(answer: Answer<'reset'>, look: Look): string {
  const { reset_to: to, new_session: session, pre_reset_checkpoint: saved, ...lists } = answer;
  const lines = [
    `Back at the approved state ${to.slice(0, 8)}; ${session} begins.`,
    ...listed('restored', lists.restored),
    ...listed('deleted', lists.deleted),
    ...lists.skipped.map((one) => skippedRow(one, look)),
    `What was here is saved in ${saved.slice(0, 8)}.`,
  ];
  return `${lines.join('\n')}\n`;
}

function renderSaved(answer: Answer<'create_checkpoint'>, look: Look): string {
  tellWarnings(answer, look);
  const { commit_id: id, session, changed, skipped, duration_ms: took } = answer;
  const counts = describeCounts(changed, look);
  const what = counts === '' ? 'nothing changed' : counts;
  const left = skipped.map((one) => skippedRow(one, look));
  return `${[`${id.slice(0, 8)} on ${session}: ${what} (${took} ms)`, ...left].join('\n')}\n`;
}

function renderApproved(answer: Answer<'approve'>): string {
  const { approved_commit: commit, new_session: session, commits_approved: count } = answer;
  if (count === 0) return `There was nothing to approve; ${session} begins.\n`;
  return `Approved ${counted(count, 'checkpoint')} as ${commit.slice(0, 8)}; ${session} begins.\n`;
}

function renderOpened({
  dialog_id: id,
  title,
  initial_checkpoint: commit,
}: Answer<'create_dialog'>): string {
  return `Opened dialog ${id} (${printable(title)}); the project is saved in ${commit.slice(0, 8)}.\n`;
}

function renderMessage(answer: Answer<'user_message'>, look: Look): string {
  const { checkpoint, session } = answer;
  tellWarnings(answer, look);
  return `The project as it was before the message is saved in ${checkpoint.slice(0, 8)} on ${session}.\n`;
}

function renderDeleted({ dialog_id: id, freed_bytes: freed }: Answer<'delete_dialog'>): string {
  return `Deleted dialog ${id}; ${bytes(freed)} are free again.\n`;
}

const MOST_SHOWN = 20;

function listed(what: string, paths: readonly string[]): string[] {
  const lines = paths.slice(0, MOST_SHOWN).map((path) => `  ${what.padEnd(8)}  ${shownPath(path)}`);
  if (paths.length > MOST_SHOWN)
    lines.push(`  ${what.padEnd(8)}  and ${paths.length - MOST_SHOWN} more`);
  return lines;
}

function describeCounts(
  { added, modified, deleted }: { added: number; modified: number; deleted: number },
  { colour }: Look,
): string {
  return [
    added === 0 ? '' : paint(colour, 'green', `+${added}`),
    modified === 0 ? '' : `~${modified}`,
    deleted === 0 ? '' : paint(colour, 'red', `-${deleted}`),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

export const HISTORY_RENDERERS = {
  list_dialogs: renderDialogs,
  create_checkpoint: renderSaved,
  list_checkpoints: renderLog,
  get_session: renderSession,
  list_sessions: renderSessions,
  approve: renderApproved,
  reset: renderReset,
  restore: renderRestore,
  undo: renderUndo,
  redo: renderRestore,
  create_dialog: renderOpened,
  user_message: renderMessage,
  use_dialog: ({ current_dialog_id: id }: Answer<'use_dialog'>) => `The current dialog is ${id}.\n`,
  delete_dialog: renderDeleted,
  bookmark_add: ({ name, id }: Answer<'bookmark_add'>) => `${printable(name)} is ${shortId(id)}.\n`,
  bookmark_remove: ({ name, id }: Answer<'bookmark_remove'>) =>
    `Removed ${printable(name)}, which was ${shortId(id)}.\n`,
  bookmark_list: renderBookmarks,
  rewind: renderRewind,
  snapshot_save: renderSnapshot,
  snapshot_list: renderSnapshots,
  snapshot_import: renderSnapshot,
  snapshot_export: ({ id, to, bytes: size, files }: Answer<'snapshot_export'>) =>
    `Wrote ${counted(files, 'file')} of ${id} to ${printable(to)} (${bytes(size)}).\n`,
  note: (answer: Answer<'note'>, look: Look) => {
    tellWarnings(answer, look);
    return `Noted as ${answer.event}.\n`;
  },
} as const;
