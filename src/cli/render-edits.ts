import type { Answer } from '../api/table.js';
import { counted } from '../core/counted.js';
import type { Look } from './render-history.js';
import {
  ago,
  columns,
  duration,
  lineCounts,
  padded,
  paint,
  printable,
  shownPath,
  skippedRow,
  tellWarnings,
  widthOf,
} from './text.js';

const MOST_SHOWN = 20;

/** The id alone on the first line, for scripts: `id=$(smithyd edit start a.ts | head -n 1)`. */
function renderStarted(answer: Answer<'start_edit'>, look: Look): string {
  const { edit_id: id, files, warnings } = answer;
  const rows = files.map(
    ({ path, exists }) => `  ${exists ? 'saved' : 'new  '}  ${shownPath(path)}`,
  );
  const held = rows.length === 0 ? ['  whatever changes from now on'] : atMost(rows);
  look.aside(text(held));
  tellWarnings({ warnings }, look);
  return text([id]);
}

function renderFinalized(answer: Answer<'finalize_edit'>, look: Look): string {
  tellWarnings(answer, look);
  const { edit_id: id, files, skipped } = answer;
  const changed = files.filter(({ change }) => change !== 'unchanged');
  return text([
    `Edit ${id} is recorded: ${describeChanges(changed, look)}.`,
    ...changeRows(files, look),
    ...skipped.map((one) => skippedRow(one, look)),
  ]);
}

function renderAborted(answer: Answer<'abort_edit'>, look: Look): string {
  const { edit_id: id, restored, removed, saved, skipped } = answer;
  const isIdle = restored.length + removed.length + skipped.length === 0;
  return text([
    `Edit ${id} is taken back${isIdle ? '; nothing had changed' : ''}.`,
    ...atMost(restored.map((path) => `  restored  ${shownPath(path)}`)),
    ...atMost(removed.map((path) => `  removed   ${shownPath(path)}`)),
    ...atMost(saved.map(({ path, hash }) => `  saved     ${shownPath(path)} as ${hash}`)),
    ...skipped.map((one) => skippedRow(one, look)),
  ]);
}

function renderEdits({ edits }: Answer<'list_edits'>, look: Look): string {
  if (edits.length === 0) return 'No edits are open.\n';
  const rows = edits.map((edit) => [
    edit.edit_id,
    edit.state === 'open' ? 'open' : paint(look.colour, 'yellow', 'incomplete'),
    ago(look.now - Date.parse(edit.since)),
    endOf(edit, look),
    whoOf(edit),
    describePaths(edit.paths),
  ]);
  return table([['EDIT', 'STATE', 'SINCE', 'ENDS', 'BY', 'FILES'], ...rows]);
}

type Listed = Answer<'list_edits'>['edits'][number];

function endOf({ expires_at: at, state }: Listed, { now }: Look): string {
  if (state === 'incomplete') return '-';
  if (at === null) return 'with its client';
  return `in ${duration(Math.max(0, Date.parse(at) - now))}`;
}

function whoOf({ agent, tool }: Listed): string {
  const names = [agent?.name, tool].filter((name) => name !== undefined && name !== null);
  return names.length === 0 ? '-' : shownPath(names.join(', '));
}

function describePaths(paths: readonly string[] | undefined): string {
  if (paths === undefined) return 'the whole project';
  const shown = paths.slice(0, 3).map(shownPath).join(', ');
  return paths.length > 3 ? `${shown} and ${paths.length - 3} more` : shown;
}

function renderMilestone(answer: Answer<'milestone_add'>, look: Look): string {
  const { id, title } = answer;
  return text([
    `${id} is the milestone ${printable(title)}: ${describeTotals(answer, look)}.`,
    ...changeRows(answer.files, look),
  ]);
}

function renderMilestones({ milestones }: Answer<'milestone_list'>, look: Look): string {
  if (milestones.length === 0) {
    return 'No milestones yet; `smithyd milestone add TITLE` makes one.\n';
  }
  const rows = milestones.map(({ id, title, tags, from, to, created_at: at }) => {
    const tagged = tags.length === 0 ? '' : ` (${printable(tags.join(', '))})`;
    const age = ago(look.now - Date.parse(at));
    return [id, age, `${from} to ${to}`, `${printable(title)}${tagged}`];
  });
  return table(rows);
}

function renderShownMilestone(answer: Answer<'milestone_show'>, look: Look): string {
  const { id, title, description, tags, from, to, files, gone = [], diff } = answer;
  const about = [description ?? '', tags.join(', ')].filter((line) => line !== '');
  return text([
    `${id}  ${printable(title)}`,
    ...about.map((line) => `  ${printable(line).replaceAll('\n', '\n  ')}`),
    `  ${from} to ${to}: ${describeTotals(answer, look)}`,
    ...changeRows(files, look),
    ...gone.map((path) => `  ${shownPath(path)}: what it was before is not kept any more`),
    ...(diff === '' ? [] : ['', printable(diff).trimEnd()]),
  ]);
}

function describeTotals(
  { totals, files }: Pick<Answer<'milestone_show'>, 'totals' | 'files'>,
  look: Look,
): string {
  return `${counted(totals.edits, 'edit')}, ${describeChanges(files, look)}`;
}

type Changed = Pick<
  Answer<'finalize_edit'>['files'][number],
  'path' | 'from' | 'additions' | 'deletions'
> & { readonly change: string };

/** "3 files changed, +10 -2", or "nothing changed". */
export function describeChanges(changed: readonly Changed[], look: Pick<Look, 'colour'>): string {
  if (changed.length === 0) return 'nothing changed';
  const total = (pick: (file: Changed) => number): number =>
    changed.reduce((sum, file) => sum + pick(file), 0);
  const counts = lineCounts(
    { additions: total((file) => file.additions), deletions: total((file) => file.deletions) },
    look,
  );
  return `${counted(changed.length, 'file')} changed, ${counts}`;
}

function changeRows(files: readonly Changed[], look: Look): string[] {
  const rows = files.slice(0, MOST_SHOWN).map((file) => {
    const { path, from, change } = file;
    const name = from === undefined ? shownPath(path) : `${shownPath(from)} => ${shownPath(path)}`;
    const counts = change === 'unchanged' ? '' : lineCounts(file, look);
    return [`${change.padEnd(9)}  ${name}`, counts] as const;
  });
  if (rows.length === 0) return [];
  return [columns(rows, '  '), ...more(files.length)];
}

function atMost(rows: readonly string[]): string[] {
  return [...rows.slice(0, MOST_SHOWN), ...more(rows.length)];
}

function more(count: number): string[] {
  return count > MOST_SHOWN ? [`  and ${count - MOST_SHOWN} more`] : [];
}

/** Columns as wide as they must be; the last one is free to run on. */
function table(rows: readonly (readonly string[])[]): string {
  const width = (at: number): number => Math.max(...rows.map((row) => widthOf(row[at] ?? '')));
  return text(
    rows.map((row) =>
      row
        .map((cell, at) => {
          const isLast = at === row.length - 1;
          return isLast ? cell : padded(cell, width(at));
        })
        .join('  '),
    ),
  );
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

export const EDIT_RENDERERS = {
  start_edit: renderStarted,
  finalize_edit: renderFinalized,
  abort_edit: renderAborted,
  list_edits: renderEdits,
  milestone_add: renderMilestone,
  milestone_list: renderMilestones,
  milestone_show: renderShownMilestone,
  reset_known_state: ({ files }: Answer<'reset_known_state'>) =>
    `${files} ${files === 1 ? 'file was' : 'files were'} unknown and ${files === 1 ? 'is' : 'are'} known now.\n`,
} as const;
