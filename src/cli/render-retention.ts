import type { Answer } from '../api/table.js';
import { counted } from '../core/counted.js';
import type { Look } from './render-history.js';
import { bytes, columns, paint, printable } from './text.js';

const MOST_NAMED = 10;

function renderGc({ dry_run: isDry, freed_bytes: freed, removed, kept, warnings }: Gc, look: Look) {
  const { snapshots, file_checkpoints: files, folded } = removed;
  const rows: [string, string][] = [
    [isDry ? 'would go' : 'removed', describe(snapshots, 'snapshot')],
    ['', describe(files, 'file checkpoint')],
    ...folds(folded, isDry),
    ['kept', counted(sum(kept.snapshots), 'snapshot') + reasons(kept.snapshots)],
    ['', `${counted(kept.checkpoints, 'checkpoint')} in ${counted(kept.dialogs, 'dialog')}`],
    ['', `${counted(kept.events, 'event')}, ${counted(kept.bookmarks, 'bookmark')}`],
    ['store', `${bytes(kept.store_bytes)} of ${bytes(kept.limit_bytes)}`],
  ];
  if (kept.over_limit_bytes > 0) {
    rows.push(['', `${bytes(kept.over_limit_bytes)} over the limit are all needed`]);
  }
  const told = warnings.map((text) => paint(look.colour, 'yellow', `! ${printable(text)}`));
  const first = `${isDry ? 'Would free' : 'Freed'} ${bytes(freed)}.`;
  return `${[first, columns(rows, '  '), ...told].join('\n')}\n`;
}

type Gc = Answer<'gc'>;

function describe(ids: readonly string[], what: string): string {
  if (ids.length === 0) return counted(0, what);
  const named = ids.slice(0, MOST_NAMED).map(printable).join(', ');
  const more = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : '';
  return `${counted(ids.length, what)}: ${named}${more}`;
}

/** Nothing of it when nothing is folded: most people never ask for it. */
function folds(runs: Gc['removed']['folded'], isDry: boolean): [string, string][] {
  const events = runs.reduce((all, run) => all + run.events, 0);
  const rows = runs.slice(0, MOST_NAMED).map(({ event, from, to, first, last }, at) => {
    const into = event === undefined ? '' : ` into ${event}`;
    const label = at > 0 ? '' : isDry ? 'would fold' : 'folded';
    return [label, `${first} to ${last}, between ${from} and ${to}${into}`] as [string, string];
  });
  if (runs.length > MOST_NAMED) rows.push(['', `and ${runs.length - MOST_NAMED} more`]);
  if (runs.length > 0) rows.push(['', `${counted(events, 'change')} let go, their lines stay`]);
  return rows;
}

function reasons(stay: Readonly<Record<string, number>>): string {
  const told = Object.entries(stay).filter(([, count]) => count > 0);
  if (told.length === 0) return '';
  return ` (${told.map(([why, count]) => `${count} ${why.replace('_', ' ')}`).join(', ')})`;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

export const RETENTION_RENDERERS = {
  gc: renderGc,
  cleanup_checkpoints: ({ removed, kept }: Answer<'cleanup_checkpoints'>) =>
    `Removed ${counted(removed, 'file checkpoint')}; ${counted(kept, 'file checkpoint')} ${kept === 1 ? 'is' : 'are'} left.\n`,
};
