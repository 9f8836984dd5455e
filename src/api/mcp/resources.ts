import { SmithyError } from '../../core/errors.js';
import { DATA_NOTE, fenced, quoted } from '../../core/untrusted-text.js';
import type { Answer } from '../table.js';

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
];

/** A model reads no more at once. */
const MOST_DIFF = 100_000;
const MOST_EVENTS = 50;

export async function readResource(uri: string, ask: Ask): Promise<string> {
  if (uri === 'smithyd://timeline') return timeline(ask);
  if (uri === 'smithyd://session') return session(ask);
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
