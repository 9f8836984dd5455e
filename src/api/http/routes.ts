import { SmithyError } from '../../core/errors.js';
import { HttpRefusal } from './answers.js';
import { malformed } from './gate.js';

/** What a route leads to: a method of the table, or one of the few things that are none. */
export type Goal =
  | { readonly method: string }
  | { readonly special: 'rpc' | 'events' | 'metrics' | 'health' | 'mcp' | 'page' };

interface Route {
  readonly verb: 'GET' | 'POST';
  /** `:name` stands for one part of the path. */
  readonly path: string;
  readonly goal: Goal;
  /** Query parameters it takes; `#` marks numbers, `,` lists. */
  readonly query?: readonly string[];
}

const EVENT_QUERY = ['types,', 'since'];

/** Contract 5. Each is a spelling of a method; nothing is decided here. */
const ROUTES: readonly Route[] = [
  { verb: 'POST', path: '/rpc/:method', goal: { special: 'rpc' } },
  { verb: 'GET', path: '/api/dialogs', goal: { method: 'list_dialogs' } },
  { verb: 'POST', path: '/api/dialogs', goal: { method: 'create_dialog' } },
  { verb: 'GET', path: '/api/dialogs/:dialog_id/session', goal: { method: 'get_session' } },
  { verb: 'POST', path: '/api/dialogs/:dialog_id/approve', goal: { method: 'approve' } },
  { verb: 'POST', path: '/api/dialogs/:dialog_id/reset', goal: { method: 'reset' } },
  { verb: 'POST', path: '/api/dialogs/:dialog_id/restore', goal: { method: 'restore' } },
  {
    verb: 'GET',
    path: '/api/dialogs/:dialog_id/checkpoints',
    goal: { method: 'list_checkpoints' },
    query: ['session', 'limit#', 'before'],
  },
  {
    verb: 'GET',
    path: '/api/dialogs/:dialog_id/events',
    goal: { special: 'events' },
    query: EVENT_QUERY,
  },
  {
    verb: 'GET',
    path: '/api/events',
    goal: { special: 'events' },
    query: ['dialog_id', ...EVENT_QUERY],
  },
  { verb: 'GET', path: '/metrics', goal: { special: 'metrics' } },
  { verb: 'GET', path: '/healthz', goal: { special: 'health' } },
  { verb: 'POST', path: '/mcp', goal: { special: 'mcp' } },
  { verb: 'GET', path: '/', goal: { special: 'page' } },
];

export interface Target {
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface Found {
  readonly goal: Goal;
  /** From the path and the query. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Only the plain form: a proxy's `http://host/` or `//host/` could mean another server. */
export function readTarget(url: string): Target {
  if (!url.startsWith('/') || url.startsWith('//')) throw malformed('its target is no path');
  const [path, query] = splitOnce(url, '?');
  return { path, query: new URLSearchParams(query) };
}

export function findRoute(verb: string, { path, query }: Target): Found {
  const matching = ROUTES.flatMap((route) => {
    const params = match(route.path, path);
    return params === undefined ? [] : [{ route, params }];
  });
  const found = matching.find(({ route }) => route.verb === verb);
  if (found !== undefined) {
    const params = { ...readQuery(query, found.route.query ?? []), ...found.params };
    return { goal: found.route.goal, params };
  }
  if (matching.length === 0) throw notFound(path);
  throw wrongVerb(verb, matching.map(({ route }) => route.verb).join(', '));
}

function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const actual = given[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== actual) return undefined;
    } else if (actual === '') return undefined;
    else params[part.slice(1)] = decode(actual);
  }
  return params;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw malformed('its path is wrongly escaped');
  }
}

/** Unknown parameters are refused by name, as everywhere. */
function readQuery(query: URLSearchParams, known: readonly string[]): Record<string, unknown> {
  const kinds = new Map(known.map((name) => [name.replace(/[#,]$/u, ''), name.at(-1)]));
  const params: Record<string, unknown> = {};
  for (const [name, text] of query) {
    if (!kinds.has(name) || Object.hasOwn(params, name)) throw wrongQuery(name, [...kinds.keys()]);
    const kind = kinds.get(name);
    if (kind === '#') params[name] = Number(text);
    else params[name] = kind === ',' ? text.split(',') : text;
  }
  return params;
}

function wrongQuery(name: string, known: readonly string[]): SmithyError {
  const shown = name.slice(0, 100);
  return new SmithyError('INVALID_PARAMS', `The parameter "${shown}" is unknown or given twice.`, {
    hint: known.length === 0 ? 'It takes none.' : `It takes: ${known.join(', ')}.`,
    data: { issues: [{ path: shown, message: 'unknown key' }] },
  });
}

function notFound(path: string): SmithyError {
  return new SmithyError('METHOD_NOT_FOUND', `There is nothing at ${path.slice(0, 100)}.`, {
    hint: 'Methods offered on http are at POST /rpc/METHOD; see docs/METHODS.md.',
    data: { near: [] },
  });
}

function wrongVerb(verb: string, allow: string): HttpRefusal {
  const error = new SmithyError('INVALID_REQUEST', `${verb.slice(0, 20)} is no way to ask this.`, {
    hint: `Use ${allow}.`,
  });
  return new HttpRefusal(error, 405, { allow });
}

function splitOnce(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index === -1 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
