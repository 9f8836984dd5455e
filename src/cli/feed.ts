import { fit } from '../core/display-width.js';
import type { StreamedEvent } from '../core/events.js';
import { countLines } from './diff-view.js';
import { paint, printable, shownPath, type Colour } from './text.js';

export interface FeedLook {
  readonly colour: boolean;
  /** Columns of the terminal; undefined: lines as long as they are. */
  readonly width: number | undefined;
  readonly root: string;
}

const MOST_SHOWN = 8;
const KIND_WIDTH = 11;
/** More are not open at a time; a feed may run for weeks. */
const MOST_AUTHORS = 1_000;

/** One line of the feed: what kind of thing it is, the colour that tells it apart, and the rest. */
interface Line {
  readonly kind: string;
  readonly colour: Colour | undefined;
  readonly text: string;
}

/** Turns events into lines for people. It remembers who began an edit, to name the author later. */
export class Feed {
  readonly #authors = new Map<string, string>();
  readonly #look: () => FeedLook;

  constructor(look: () => FeedLook) {
    this.#look = look;
  }

  /** Edits that were open before anybody listened. */
  knows(edits: readonly OpenEdit[]): void {
    for (const edit of edits) remember(this.#authors, edit);
  }

  line(event: StreamedEvent): string {
    return this.#draw(timeOf(event.at), this.#describe(event));
  }

  /** Something of our own to say, in the same columns. */
  notice(text: string, at: Date): string {
    return this.#draw(clock(at), { kind: 'smithyd', colour: 'dim', text });
  }

  #draw(time: string, { kind, colour, text }: Line): string {
    const look = this.#look();
    // A name or a message may have line ends, and a line is one thing that happened.
    const flat = printable(text.replace(/\s*\n\s*/gu, ' '));
    const head = `${time}  ${kind.padEnd(KIND_WIDTH)} `;
    const room = look.width === undefined ? undefined : Math.max(10, look.width - head.length);
    const body = room === undefined ? flat : fit(flat, room);
    if (colour === undefined) return `${head}${body}\n`;
    // What nobody announced stands out as a whole line.
    const isAlarm = colour === 'alarm';
    const kindText = kind.padEnd(KIND_WIDTH);
    const painted = paint(look.colour, colour, isAlarm ? `${kindText} ${body}` : kindText);
    return `${time}  ${painted}${isAlarm ? '' : ` ${body}`}\n`;
  }

  #describe(event: StreamedEvent): Line {
    const told = DESCRIBERS[event.type];
    if (told !== undefined) return told(event, { authors: this.#authors, root: this.#look().root });
    const { type, at: _at, cursor: _cursor, ...rest } = event;
    return { kind: type, colour: 'dim', text: JSON.stringify(rest) };
  }
}

interface OpenEdit {
  readonly edit_id: string;
  readonly agent?: { readonly name: string } | null | undefined;
  readonly tool?: string | null | undefined;
}

interface Surroundings {
  readonly authors: Map<string, string>;
  readonly root: string;
}

type Describer = (event: StreamedEvent, around: Surroundings) => Line;

/** The rest is shown as it is. */
const DESCRIBERS: Readonly<Partial<Record<StreamedEvent['type'], Describer>>> = {
  user: ({ content, session, checkpoint }) => {
    const where = `  (${short(checkpoint)}, ${words(session)})`;
    return { kind: 'message', colour: 'bold', text: `${words(content)}${where}` };
  },
  edit_started: (event, { authors }) => {
    const author = remember(authors, event as unknown as OpenEdit);
    const paths = event['paths'] as readonly string[] | undefined;
    const what = paths === undefined ? 'the project' : list(paths.map(shownPath));
    return { kind: 'edit begins', colour: 'dim', text: `${author}  ${what}` };
  },
  file_edit: (event, { authors, root }) => {
    const file = words(event['file']);
    const path = file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
    const author = authors.get(words(event['edit_id'])) ?? 'somebody';
    return { kind: 'edit', colour: 'green', text: `${author}  ${shownPath(path)}${counts(event)}` };
  },
  edit_aborted: (event, { authors }) => ended('edit undone', event, authors),
  edit_incomplete: (event, { authors }) => ended('edit open', event, authors),
  unknown_change: ({ changes, total, origin }) => {
    const all = changes as readonly { readonly path: string; readonly change: string }[];
    const named = list(
      all.map(({ path, change }) => `${change} ${shownPath(path)}`),
      Number(total),
    );
    const isLive = origin === 'live';
    const isGit = origin === 'git';
    return {
      kind: isGit ? 'git' : 'UNKNOWN',
      colour: isGit ? 'yellow' : 'alarm',
      text: `${named}${isLive || isGit ? '' : ` (${words(origin)})`}`,
    };
  },
  git_operation: ({ what, from, to }) => {
    const way = from === undefined ? '' : ` ${short(from)} -> ${short(to)}`;
    return { kind: 'git', colour: 'yellow', text: `${words(what)}${way}` };
  },
  checkpoint: ({ commit_id: id, kind, message, changed }) => {
    const { added = 0, modified = 0, deleted = 0 } = (changed ?? {}) as Record<string, number>;
    const text = `${short(id)} ${words(kind)}  ${words(message)}  +${added} ~${modified} -${deleted}`;
    return { kind: 'checkpoint', colour: 'green', text };
  },
  session: ({ what, new_session: next }) => {
    return { kind: 'session', colour: 'bold', text: `${words(what)}, now ${words(next)}` };
  },
  restore: ({ restored_to: to, restored, deleted }) => {
    const numbers = [number(restored, 'restored'), number(deleted, 'deleted')].filter(
      (part) => part !== '',
    );
    return { kind: 'restore', colour: 'bold', text: [short(to), ...numbers].join(', ') };
  },
  dialog: ({ what, title, dialog_id: id }) => {
    return { kind: 'dialog', colour: undefined, text: `${words(what)} ${words(title ?? id)}` };
  },
  bookmark: ({ what, name, id }) => {
    return {
      kind: 'bookmark',
      colour: undefined,
      text: `${words(what)} ${words(name)} ${short(id)}`,
    };
  },
  shutting_down: () => ({ kind: 'smithyd', colour: 'dim', text: 'the daemon is stopping' }),
};

function ended(kind: string, event: StreamedEvent, authors: ReadonlyMap<string, string>): Line {
  const author = authors.get(words(event['edit_id'])) ?? 'somebody';
  return { kind, colour: 'red', text: `${author}  ${words(event['reason'])}` };
}

function remember(authors: Map<string, string>, edit: OpenEdit): string {
  const author = authorOf(edit);
  authors.set(edit.edit_id, author);
  const [oldest] = authors.keys();
  if (authors.size > MOST_AUTHORS && oldest !== undefined) authors.delete(oldest);
  return author;
}

/** `claude-code Write`, `npm`, or who knows. */
function authorOf({ agent, tool }: OpenEdit): string {
  const named = [agent?.name, tool].filter((part) => part !== undefined && part !== null);
  return named.length === 0 ? 'somebody' : named.join(' ');
}

function counts({ diff }: StreamedEvent): string {
  if (typeof diff !== 'string') return '';
  const { additions, deletions } = countLines(diff);
  return `  +${additions} -${deletions}`;
}

function list(names: readonly string[], total = names.length): string {
  const shown = names.slice(0, MOST_SHOWN);
  if (total > shown.length) shown.push(`and ${total - shown.length} more`);
  return shown.join(', ');
}

function number(value: unknown, what: string): string {
  return typeof value === 'number' ? `${value} ${what}` : '';
}

function words(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function short(id: unknown): string {
  const text = words(id);
  return /^[0-9a-f]{40}$/u.test(text) ? text.slice(0, 8) : text;
}

function timeOf(at: string): string {
  return clock(new Date(at));
}

/** As the clock on the wall has it. */
function clock(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
