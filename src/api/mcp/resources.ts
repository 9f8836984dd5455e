import { SmithyError } from '../../core/errors.js';
import { DATA_NOTE, fenced, quoted } from '../../core/untrusted-text.js';
import type { Answer } from '../table.js';
import { changesText } from './changes-text.js';

/** One call of a method on behalf of the model. */
export type Ask = (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;

const MARKDOWN = { mimeType: 'text/markdown' } as const;

export const RESOURCES = [
  {
    uri: 'smithyd://timeline',
    name: 'timeline',
    description: 'What happened in the project, newest first.',
    ...MARKDOWN,
  },
  {
    uri: 'smithyd://session',
    name: 'session',
    description: 'What of the present session is not approved yet, file by file.',
    ...MARKDOWN,
  },
  {
    uri: 'smithyd://changes',
    name: 'changes',
    description: 'What happened since the session began: files, console, requests, WebSockets.',
    ...MARKDOWN,
  },
  {
    uri: 'smithyd://diff/main/worktree',
    name: 'unapproved diff',
    description: 'All changes since the approved state.',
    ...MARKDOWN,
  },
];

export const TEMPLATES = [
  {
    uriTemplate: 'smithyd://diff/{from}/{to}',
    name: 'diff',
    description:
      'The difference of two of: a checkpoint, bookmark, event, session, main, worktree.',
    ...MARKDOWN,
  },
  {
    uriTemplate: 'smithyd://changes/{since}',
    name: 'changes since',
    description: 'What happened since a mark, bookmark, checkpoint, ISO time or cursor.',
    ...MARKDOWN,
  },
];

/** A model reads no more at once. */
const MOST_DIFF = 100_000;
const MOST_EVENTS = 50;

const SESSION_START = 'session_start';
const BEFORE_EVERYTHING = '1970-01-01T00:00:00Z';

export async function readResource(uri: string, ask: Ask): Promise<string> {
  if (uri === 'smithyd://timeline') return timeline(ask);
  if (uri === 'smithyd://session') return session(ask);
  if (uri === 'smithyd://changes') return changes(ask, await beginning(ask));
  const [, since] = /^smithyd:\/\/changes\/([^/]+)$/u.exec(uri) ?? [];
  if (since !== undefined) return changes(ask, decode(since));
  const [, from, to] = /^smithyd:\/\/diff\/([^/]+)\/([^/]+)$/u.exec(uri) ?? [];
  if (from === undefined || to === undefined) throw noResource(uri);
  return diff(ask, { from: decode(from), to: decode(to) });
}

async function timeline(ask: Ask): Promise<string> {
  const { events } = (await ask('history', { limit: MOST_EVENTS })) as Answer<'history'>;
  const lines = events.map(({ id, ts, action_type: action, author, files, rationale }) => {
    const where = files.slice(0, 5).map((file) => quoted(file));
    const more = files.length > where.length ? ` and ${files.length - where.length} more` : '';
    const why = rationale === null ? '' : `: ${quoted(rationale)}`;
    return `- ${id} ${ts} **${action}** by ${quoted(author.name)} ${where.join(', ')}${more}${why}`;
  });
  return document('Timeline', lines.length === 0 ? ['Nothing happened yet.'] : lines);
}

async function session(ask: Ask): Promise<string> {
  const present = (await ask('get_session', {})) as Answer<'get_session'>;
  const { active_session: name, last_approved_at: approved, changed_files: files } = present;
  return document('Session', [
    name === null ? 'Everything is approved.' : `${quoted(name)} is not approved.`,
    `Last approved: ${approved ?? 'never'}.`,
    '',
    ...files.map(
      ({ path, status, additions, deletions }) =>
        `- ${status} ${quoted(path)} +${additions} -${deletions}`,
    ),
  ]);
}

/** Always of a named point: whoever reads a resource must not move on by it. */
async function changes(ask: Ask, since: string): Promise<string> {
  const params = { checkpoint: since };
  const found = (await ask('get_changes_since', params)) as Answer<'get_changes_since'>;
  return document(`Changes since ${quoted(since)}`, changesText(found));
}

async function beginning(ask: Ask): Promise<string> {
  const { marks } = (await ask('list_marks', {})) as Answer<'list_marks'>;
  const start = marks.find(({ name }) => name === SESSION_START);
  return start?.name ?? BEFORE_EVERYTHING;
}

async function diff(ask: Ask, places: { from: string; to: string }): Promise<string> {
  const { files, text } = (await ask('diff', places)) as Answer<'diff'>;
  const rest = Math.max(0, text.length - MOST_DIFF);
  return document(`Diff of ${quoted(places.from)} and ${quoted(places.to)}`, [
    ...files.map(
      (file) => `- ${file.change} ${quoted(file.path)} +${file.additions} -${file.deletions}`,
    ),
    '',
    fenced(text.slice(0, MOST_DIFF), 'diff'),
    ...(rest === 0 ? [] : [`Cut: ${rest} more characters. Use the tool \`diff\` with paths.`]),
  ]);
}

function document(title: string, lines: readonly string[]): string {
  return [`# ${title}`, '', `> ${DATA_NOTE}`, '', ...lines, ''].join('\n');
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function noResource(uri: string): SmithyError {
  const known = [...RESOURCES.map((one) => one.uri), ...TEMPLATES.map((one) => one.uriTemplate)];
  return new SmithyError('INVALID_PARAMS', `There is no resource ${uri.slice(0, 200)}.`, {
    hint: `There are: ${known.join(', ')}.`,
  });
}
