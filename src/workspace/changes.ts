import { formatChangeCursor, type ChangeCursor } from '../core/changes/change-cursor.js';
import { fitted } from '../core/changes/answer.js';
import { consoleNews } from '../core/changes/console-news.js';
import { fileLines, type FileLine, type FileNews } from '../core/changes/file-news.js';
import {
  above,
  severityOf,
  summaryOf,
  type ActionsNews,
  type FilesNews,
  type Floor,
  type Measured,
  type News,
} from '../core/changes/news.js';
import { networkNews } from '../core/changes/network-news.js';
import {
  STREAMS,
  type ActionEntry,
  type StreamName,
  type Window,
} from '../core/changes/streams.js';
import { websocketNews } from '../core/changes/websocket-news.js';
import type { Ledger } from '../core/ledger.js';
import type { Clock } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { Watcher } from '../core/watching.js';
import type { Base, ChangeBases } from './change-bases.js';
import type { Client, ClientCursors } from './client-cursors.js';
import type { FilesSince, Recalled } from './files-since.js';
import type { FileTrail } from './file-trail.js';
import type { LineCounts } from './line-counts.js';
import type { Telemetry } from './telemetry.js';

export interface ChangesDeps {
  readonly run: string;
  readonly bases: ChangeBases;
  readonly clients: ClientCursors;
  readonly filesSince: FilesSince;
  readonly lineCounts: LineCounts;
  readonly trail: FileTrail;
  readonly telemetry: Telemetry;
  readonly watcher: Watcher;
  readonly ledger: Pick<Ledger, 'head'>;
  readonly clock: Clock;
  readonly queue: Pick<Queue, 'share'>;
}

export type Category = 'files' | StreamName;

export interface ChangesRequest {
  readonly checkpoint?: string | undefined;
  readonly include?: readonly Category[] | undefined;
  readonly severity?: Floor | undefined;
  readonly detail?: 'summary' | 'stat' | 'hunks' | undefined;
  readonly maxBytes?: number | undefined;
}

const ALL: readonly Category[] = ['files', ...STREAMS];
/** Two thousand tokens: more is a list to be asked for in parts. */
const MOST_BYTES = 8_192;
/** Five hundred tokens: what a look at everything should take. */
const SHORT_BYTES = 2_048;
/** As many as the longest list of an answer has. */
const MOST_MEASURED = 50;

/** A look at everything that happened after a point, and the point right after it. */
export interface Look {
  readonly base: Base;
  readonly here: ChangeCursor;
  readonly news: Omit<News, 'files'>;
  readonly files?: readonly FileNews[] | undefined;
  readonly evicted: readonly StreamName[];
}

/** What happened since somebody looked. */
export class Changes {
  readonly #deps: ChangesDeps;

  constructor(deps: ChangesDeps) {
    this.#deps = deps;
  }

  /** Without a named point: since this client's last look, which moves to now. */
  async since(request: ChangesRequest, client: Client) {
    const { queue, watcher } = this.#deps;
    const { fresh } = await watcher.settle();
    // Not in the middle of a restore, nor before the ledger was read.
    const look = await queue.share(() => this.#lookFor(request, client));
    return this.#answer(look, request, fresh);
  }

  #lookFor(request: ChangesRequest, client: Client): Promise<Look> {
    const { bases, clients } = this.#deps;
    const { checkpoint } = request;
    if (checkpoint !== undefined) return this.#lookFrom(bases.resolve(checkpoint), request);
    const last = clients.get(client);
    const known = last === undefined ? undefined : bases.atClient(last);
    const base = known ?? bases.beginning();
    return this.#lookFrom(base, request, (here) => clients.set(client, here));
  }

  /** In words, without moving anybody: since a point, or since this daemon began. In a turn. */
  async glance(base: Base = this.#deps.bases.beginning()) {
    const look = await this.#lookFrom(base, {});
    const news = this.#whole(look, fileLines(look.files ?? []));
    return { look, news, severity: severityOf(news), summary: summaryOf(news) };
  }

  /** The position of now. */
  here(): ChangeCursor {
    const { run, ledger, trail, telemetry, clock } = this.#deps;
    return {
      seq: ledger.head().seq,
      run,
      observed: trail.observed,
      positions: telemetry.positions(),
      at: clock.now(),
    };
  }

  async #lookFrom(
    base: Base,
    { include = ALL }: ChangesRequest,
    advance?: (here: ChangeCursor) => void,
  ): Promise<Look> {
    const isWithFiles = include.includes('files');
    const recalled = isWithFiles ? await this.#deps.filesSince.recall(base) : undefined;
    // From here on without a pause: nothing can come between what is told and the position after it.
    const look = this.#look(base, include, recalled);
    advance?.(look.here);
    return look;
  }

  #look(base: Base, include: readonly Category[], recalled: Recalled | undefined): Look {
    const { telemetry, filesSince } = this.#deps;
    const files = include.includes('files') ? filesSince.news(base, recalled) : undefined;
    const evicted: StreamName[] = [];
    const window = <Name extends StreamName>(name: Name) => {
      const found = telemetry.ring(name).since(base.positions[name]);
      if (found.evicted > 0 || base.isForgotten === true) evicted.push(name);
      return found;
    };
    const news = {
      ...(include.includes('console')
        ? { console: consoleNews({ window: window('console'), expected: base.expected }) }
        : {}),
      ...(include.includes('network')
        ? { network: networkNews({ window: window('network'), before: this.#before(base) }) }
        : {}),
      ...(include.includes('websocket') ? { websocket: websocketNews(window('websocket')) } : {}),
      ...(include.includes('actions') ? { actions: actionsNews(window('actions')) } : {}),
    };
    return { base, here: this.here(), files, news, evicted };
  }

  /** What an endpoint did before: as far as the base says so itself, else as it was heard. */
  #before({ endpoints, positions }: Base) {
    const { endpoints: heard } = this.#deps.telemetry;
    return (path: string) => {
      if (endpoints === undefined || !Object.hasOwn(endpoints, path)) {
        return heard.before(path, positions.network);
      }
      const known = endpoints[path];
      return { status: known?.status, durationMs: known?.durationMs };
    };
  }

  #whole(
    { news, files }: Look,
    lines: readonly FileLine[],
    measured?: ReadonlyMap<FileLine, Measured>,
  ): News {
    if (files === undefined) return news;
    const measure: FilesNews['measure'] = (line) => measured?.get(line) ?? NOT_MEASURED;
    return { ...news, files: { total: files.length, lines, measure } };
  }

  async #answer(look: Look, request: ChangesRequest, fresh: boolean) {
    const { base, here, files = [], evicted } = look;
    const { detail = 'summary', maxBytes = MOST_BYTES, severity: floor = 'all' } = request;
    const lines = fileLines(files, detail === 'summary');
    const measured = await this.#measure(lines.slice(0, MOST_MEASURED), detail, maxBytes);
    const news = above(floor, this.#whole(look, lines, measured));
    const telemetry = this.#deps.telemetry.state();
    const head = {
      from: new Date(base.at).toISOString(),
      to: new Date(here.at).toISOString(),
      duration_ms: Math.max(0, here.at - base.at),
      severity: severityOf(news),
      summary: summaryOf(news),
      cursor: formatChangeCursor(here),
      fresh,
      ...(evicted.length === 0 ? {} : { evicted: [...evicted] }),
      ...(telemetry === 'none' || telemetry === 'detached' ? { telemetry } : {}),
    };
    const isOpen = request.maxBytes === undefined && request.include === undefined;
    return fitted(head, news, {
      mostBytes: maxBytes,
      shortBytes: isOpen ? SHORT_BYTES : undefined,
    });
  }

  async #measure(lines: readonly FileLine[], detail: string, maxBytes: number) {
    const { lineCounts } = this.#deps;
    const counts: Map<FileLine, Measured> = await lineCounts.of(lines);
    if (detail !== 'hunks') return counts;
    // The rest of the answer needs room too.
    let room = maxBytes * TEXT_SHARE;
    for (const [line, count] of counts) {
      const diff = room > 0 ? await lineCounts.textOf(line) : undefined;
      const bytes = diff === undefined ? 0 : Buffer.byteLength(JSON.stringify(diff));
      if (diff === undefined || bytes > room) continue;
      room -= bytes;
      counts.set(line, { ...count, diff });
    }
    return counts;
  }
}

const NOT_MEASURED: Measured = { additions: null, deletions: null };
const TEXT_SHARE = 0.75;

function actionsNews({ entries, evicted }: Window<ActionEntry>): ActionsNews {
  return { total: entries.length + evicted, actions: entries };
}
