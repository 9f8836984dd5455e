import type { Answer } from '../api/table.js';
import type { Look } from './render-history.js';
import { ago, paint, printable, shownPath } from './text.js';

type Event = Answer<'history'>['events'][number];

const MOST_FILES = 3;
const LONGEST_TEXT = 60;

function renderHistory({ events, next }: Answer<'history'>, look: Look): string {
  if (events.length === 0) return 'Nothing of this kind has happened.\n';
  const rows = events.map((event) => [
    event.id,
    ago(look.now - Date.parse(event.ts)),
    printable(event.by ?? `${event.author.kind}:${event.author.name}`),
    event.action_type,
    event.branch ?? '-',
  ]);
  const widths = [0, 1, 2, 3, 4].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = events.map((event, number) => {
    const cells = (rows[number] ?? []).map((cell, at) => {
      const width = widths[at] ?? 0;
      return at === 1 ? cell.padStart(width) : cell.padEnd(width);
    });
    const [id = '', ...rest] = cells;
    return [paint(look.colour, 'yellow', id), ...rest, about(event, look)].join('  ').trimEnd();
  });
  if (next !== undefined) lines.push(`There is more: the same with --before ${next}`);
  return `${lines.join('\n')}\n`;
}

/** The files, what in them changed, and why or what was said, on one line. */
function about(event: Event, look: Look): string {
  const { files, action_type: type, rationale, message, semantic_block: block } = event;
  const isMove = type === 'file_move' || type === 'file_rename';
  const named = files
    .slice(0, MOST_FILES)
    .map(shownPath)
    .join(isMove ? ' -> ' : ', ');
  const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : '';
  const said = short(message ?? rationale ?? '');
  const gone = event.folded === undefined ? '' : `folded into ${event.folded}`;
  const inside = block === null ? '' : short(`${block.kind}:${block.id}`);
  return [
    `${named}${more}`,
    inside === '' ? '' : paint(look.colour, 'green', inside),
    said === '' ? '' : paint(look.colour, 'dim', said),
    gone === '' ? '' : paint(look.colour, 'dim', gone),
  ]
    .filter((part) => part !== '')
    .join('  ');
}

/** On one line. */
function short(text: string): string {
  const words = Array.from(text.replace(/\s+/gu, ' ').trim());
  const cut = words.length > LONGEST_TEXT ? '...' : '';
  return printable(words.slice(0, LONGEST_TEXT).join('')) + cut;
}

export const EVENT_RENDERERS = { history: renderHistory } as const;
