import type { ConsoleNews, Said } from './console-news.js';
import type { ActionsNews, FilesNews, News } from './news.js';
import type { NetworkNews } from './network-news.js';
import type { WebsocketNews } from './websocket-news.js';
import { shorten } from './wording.js';

/** What the reader takes of each list. */
interface Room {
  readonly entries: number;
  readonly characters: number;
  /** Of what went well: actions, new endpoints, connections. */
  readonly context: number;
}

/** From what a whole answer has to the least that still is one. */
const ROOMS: readonly Room[] = [
  { entries: 50, characters: 200, context: 50 },
  { entries: 50, characters: 100, context: 50 },
  { entries: 30, characters: 80, context: 30 },
  { entries: 20, characters: 80, context: 20 },
  { entries: 10, characters: 80, context: 10 },
  { entries: 5, characters: 60, context: 5 },
  { entries: 2, characters: 60, context: 2 },
  { entries: 1, characters: 40, context: 1 },
  { entries: 0, characters: 0, context: 0 },
];
/** So much of what went well is left beside what did not, when there is too much for a short answer. */
const CONTEXTS: readonly number[] = [50, 10, 5];

export interface Limits {
  readonly mostBytes: number;
  /** What went well makes room for the rest beyond this. */
  readonly shortBytes?: number | undefined;
}

/** The whole answer in as many bytes as the reader has room for; what did not fit is counted. */
export function fitted<Head extends object>(
  head: Head,
  news: News,
  { mostBytes, shortBytes = mostBytes }: Limits,
): Head & Sections & { token_count: number } {
  const make = (room: Room) => counted(head, sectionsOf(news, room));
  const [whole = LEAST] = ROOMS;
  let answer = make(whole);
  let most = whole.context;
  for (const context of CONTEXTS) {
    if (bytesOf(answer) <= Math.min(shortBytes, mostBytes)) return answer;
    // Somebody who set a limit gets as much as fits of everything.
    if (shortBytes >= mostBytes) break;
    answer = make({ ...whole, context });
    most = context;
  }
  for (const room of ROOMS) {
    if (bytesOf(answer) <= mostBytes) return answer;
    answer = make({ ...room, context: Math.min(most, room.context) });
  }
  return answer;
}

const LEAST: Room = { entries: 0, characters: 0, context: 0 };
const BYTES_PER_TOKEN = 4;

function counted<Head extends object>(head: Head, sections: Sections) {
  const answer = { ...head, token_count: 0, ...sections };
  return { ...answer, token_count: Math.ceil(bytesOf(answer) / BYTES_PER_TOKEN) };
}

function bytesOf(answer: object): number {
  return Buffer.byteLength(JSON.stringify(answer));
}

type Sections = ReturnType<typeof sectionsOf>;

function sectionsOf({ files, console, network, websocket, actions }: News, room: Room) {
  return {
    ...(files === undefined ? {} : { files: filesSection(files, room) }),
    ...(console === undefined ? {} : { console: consoleSection(console, room) }),
    ...(network === undefined ? {} : { network: networkSection(network, room) }),
    ...(websocket === undefined ? {} : { websocket: websocketSection(websocket, room) }),
    ...(actions === undefined ? {} : { actions: actionsSection(actions, room) }),
  };
}

function filesSection({ total, lines, measure }: FilesNews, room: Room) {
  const changed = lines.slice(0, room.entries).map((line) => {
    const { path, from, change, by, also, origin, files } = line;
    return {
      path,
      ...(from === undefined ? {} : { from }),
      change,
      by,
      ...measure(line),
      ...(also.length === 0 ? {} : { also: [...also] }),
      ...(origin === undefined || origin === 'live' ? {} : { origin }),
      ...(files === undefined ? {} : { files }),
    };
  });
  return { total_new: total, changed, ...omitted(lines.length - changed.length) };
}

function consoleSection({ total, errors, warnings, noise }: ConsoleNews, room: Room) {
  const shown = (all: readonly Said[]) =>
    all.slice(0, room.entries).map(({ message, source, count }) => ({
      message: shorten(message, room.characters),
      source: source === null ? null : shorten(source, room.characters),
      count,
    }));
  const left = beyond(room, [errors, warnings]);
  return {
    total_new: total,
    errors: shown(errors),
    warnings: shown(warnings),
    ...left,
    ...muted(noise),
  };
}

function networkSection(news: NetworkNews, room: Room) {
  const { total, failures, failingNew, fresh, degraded, noise } = news;
  const text = (path: string) => shorten(path, room.characters);
  const most = room.entries;
  const well = fresh.slice(0, room.context);
  return {
    total_new: total,
    failures: failures.slice(0, most).map(({ path, status, previous }) => {
      return { path: text(path), status, previous_status: previous };
    }),
    failing_new_endpoints: failingNew.slice(0, most).map(({ path, status }) => {
      return { path: text(path), status };
    }),
    new_endpoints: well.map(text),
    degraded: degraded.slice(0, most).map(({ path, durationMs, baselineMs }) => {
      return { path: text(path), duration_ms: durationMs, baseline_ms: baselineMs };
    }),
    ...beyond(room, [failures, failingNew, degraded], [fresh]),
    ...muted(noise),
  };
}

function websocketSection(news: WebsocketNews, room: Room) {
  const { total, disconnections, connections, errors, noise } = news;
  const text = (one: string) => shorten(one, room.characters);
  return {
    total_new: total,
    disconnections: disconnections.slice(0, room.entries).map((one) => ({
      url: text(one.url),
      close_code: one.closeCode,
      close_reason: one.closeReason === null ? null : text(one.closeReason),
      ...times(one.count),
    })),
    connections: connections.slice(0, room.context).map(text),
    errors: errors.slice(0, room.entries).map(({ url, message, count }) => ({
      url: text(url),
      message: message === null ? null : text(message),
      ...times(count),
    })),
    ...beyond(room, [disconnections, errors], [connections]),
    ...muted(noise),
  };
}

/** The last ones: what somebody did just before is what matters. */
function actionsSection({ total, actions }: ActionsNews, room: Room) {
  const last = room.context === 0 ? [] : actions.slice(-room.context);
  return {
    total_new: total,
    actions: last.map(({ type, url, target, at }) => ({
      type: shorten(type, room.characters),
      url: url === null ? null : shorten(url, room.characters),
      ...(target === null ? {} : { target: shorten(target, room.characters) }),
      timestamp: new Date(at).toISOString(),
    })),
    ...omitted(actions.length - last.length),
  };
}

type Lists = readonly (readonly unknown[])[];

function beyond(room: Room, lists: Lists, context: Lists = []) {
  const over = (all: Lists, most: number) =>
    all.reduce((sum, list) => sum + Math.max(0, list.length - most), 0);
  return omitted(over(lists, room.entries) + over(context, room.context));
}

function omitted(count: number) {
  return count === 0 ? {} : { omitted: count };
}

function muted(count: number) {
  return count === 0 ? {} : { noise: count };
}

function times(count: number) {
  return count === 1 ? {} : { count };
}
