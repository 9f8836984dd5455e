import type { ConsoleNews } from './console-news.js';
import type { FileLine } from './file-news.js';
import type { NetworkNews } from './network-news.js';
import type { ActionEntry } from './streams.js';
import type { WebsocketNews } from './websocket-news.js';

export type Severity = 'clean' | 'warning' | 'error';
export type Floor = 'all' | 'warnings' | 'errors_only';

/** Lines added and removed in a file; null: nobody can tell. */
export interface Measured {
  readonly additions: number | null;
  readonly deletions: number | null;
  readonly diff?: string;
}

export interface FilesNews {
  /** Files that differ from what they were, however many lines tell of them. */
  readonly total: number;
  readonly lines: readonly FileLine[];
  readonly measure: (line: FileLine) => Measured;
}

export interface ActionsNews {
  readonly total: number;
  readonly actions: readonly ActionEntry[];
}

/** What happened, category by category; absent: not asked for. */
export interface News {
  readonly files?: FilesNews;
  readonly console?: ConsoleNews;
  readonly network?: NetworkNews;
  readonly websocket?: WebsocketNews;
  readonly actions?: ActionsNews;
}

/** Leaves out what is below the level that is asked for. */
export function above(floor: Floor, news: News): News {
  if (floor === 'all') return news;
  const isErrorsOnly = floor === 'errors_only';
  const { files, console, network, websocket, actions } = news;
  return {
    ...(files === undefined ? {} : { files: unknownOnly(files, isErrorsOnly) }),
    ...(console === undefined
      ? {}
      : { console: isErrorsOnly ? { ...console, warnings: [] } : console }),
    ...(network === undefined ? {} : { network: { ...network, fresh: [], degraded: [] } }),
    ...(websocket === undefined ? {} : { websocket: seriousOnly(websocket, isErrorsOnly) }),
    ...(actions === undefined ? {} : { actions: { ...actions, actions: [] } }),
  };
}

function unknownOnly(files: FilesNews, isErrorsOnly: boolean): FilesNews {
  return { ...files, lines: files.lines.filter(({ isUnknown }) => isUnknown && !isErrorsOnly) };
}

function seriousOnly(websocket: WebsocketNews, isErrorsOnly: boolean): WebsocketNews {
  const quiet = { ...websocket, connections: [] };
  return isErrorsOnly ? { ...quiet, disconnections: [], errors: [] } : quiet;
}

interface Tally {
  readonly severity: Severity;
  readonly count: number;
  readonly what: string;
}

/** Everything worth a word, the worst first. */
function tallies({ files, console, network, websocket }: News): Tally[] {
  const tally = (severity: Severity, what: string, all: readonly unknown[] = []): Tally => {
    return { severity, what, count: all.length };
  };
  return [
    tally('error', 'new console error(s)', console?.errors),
    tally('error', 'network failure(s)', network?.failures),
    tally('error', 'failing new endpoint(s)', network?.failingNew),
    tally('warning', 'new console warning(s)', console?.warnings),
    tally('warning', 'WebSocket disconnection(s)', websocket?.disconnections),
    tally('warning', 'WebSocket error(s)', websocket?.errors),
    { severity: 'warning', what: 'unknown file change(s)', count: countFiles(files, true) },
    tally('clean', 'degraded endpoint(s)', network?.degraded),
    { severity: 'clean', what: 'file(s) changed', count: countFiles(files, false) },
  ];
}

export function severityOf(news: News): Severity {
  return tallies(news).find(({ count }) => count > 0)?.severity ?? 'clean';
}

const NOTHING = 'No significant changes.';

/** `2 new console error(s), 1 network failure(s)`. */
export function summaryOf(news: News): string {
  const told = tallies(news).filter(({ count }) => count > 0);
  if (told.length === 0) return NOTHING;
  return told.map(({ count, what }) => `${count} ${what}`).join(', ');
}

function countFiles(files: FilesNews | undefined, isUnknown: boolean): number {
  const lines = files?.lines.filter((line) => line.isUnknown === isUnknown) ?? [];
  return lines.reduce((sum, line) => sum + (line.files ?? 1), 0);
}
