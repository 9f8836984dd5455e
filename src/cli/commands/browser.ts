import { setTimeout as pause } from 'node:timers/promises';
import { TelemetryFeed } from '../../client/telemetry-feed.js';
import { processEnvironment } from '../../config.js';
import { safeEnvironment } from '../../core/environment.js';
import { SmithyError } from '../../core/errors.js';
import { findRoot } from '../../host/find-root.js';
import { collect, type Collector, type Page } from '../../telemetry/browser/collector.js';
import { findBrowser, launchBrowser } from '../../telemetry/browser/launch.js';
import type { GlobalFlags } from '../args.js';
import type { Around } from '../local-run.js';
import { printable, printableJson } from '../text.js';

interface Words {
  readonly url?: string;
  readonly attach?: string;
  readonly headless?: boolean;
}

type Wanted = { readonly url: string; readonly headless: boolean } | { readonly port: number };

/** What a part of this command is told to work with. */
interface Stage {
  readonly root: string;
  readonly feed: TelemetryFeed;
  readonly say: Say;
  /** Ctrl-C, or somebody ends us kindly. */
  readonly over: AbortSignal;
}

/** A word for programs, and what people read. */
type Say = (event: string, text: string, more?: object) => void;

const FIRST_RETRY_MS = 250;
const SLOWEST_RETRY_MS = 5_000;

/** Listens to a browser and tells the daemon what pages say and do, until it is interrupted. */
export async function browser(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  const wanted = readWanted(read(words));
  const root = findRoot(globals.root, process.cwd());
  const say: Say = (event, text, more = {}) => {
    const line = globals.json ? printableJson({ event, ...more }) : `${printable(text)}\n`;
    process.stdout.write(line);
  };
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => ending.abort());
  }
  const feed = new TelemetryFeed({
    ...{ root, startFrom: processEnvironment, force: globals.force },
    connection: (isThere) => {
      if (isThere) say('daemon_back', 'Connected to the daemon again.');
      else say('daemon_gone', 'The daemon is gone; waiting for the next one.');
    },
    dropped: (count) => {
      say('dropped', `${count} entries came faster than they could be told.`, { count });
    },
  });
  await feed.open();
  const stage = { root, feed, say, over: ending.signal };
  try {
    await ('port' in wanted ? join(stage, wanted.port) : start(stage, wanted));
  } finally {
    await feed.close();
  }
  return 0;
}

/** A browser of our own: it ends with us, and we with it. */
async function start(stage: Stage, wanted: { url: string; headless: boolean }): Promise<void> {
  const { root, say, over } = stage;
  const since = Date.now();
  const { DISPLAY: x11, WAYLAND_DISPLAY: wayland } = processEnvironment;
  const hasWindows = process.platform !== 'linux' || Boolean(x11) || Boolean(wayland);
  const isHeadless = wanted.headless || !hasWindows;
  const program = findBrowser(safeEnvironment(processEnvironment, root)['PATH'] ?? '', isHeadless);
  const launched = await launchBrowser({
    ...{ program, isHeadless, environment: processEnvironment },
    isRoot: process.getuid?.() === 0,
  });
  let collector: Collector | undefined;
  try {
    collector = await listen(stage, launched.port, since);
    const failure = await collector.goTo(wanted.url);
    if (failure !== undefined) {
      say('load_failed', `${wanted.url} could not be loaded: ${failure}.`, { failure });
    }
    await Promise.race([aborted(over), launched.ended]);
    if (!over.aborted) say('browser_gone', 'The browser has ended.');
  } finally {
    await collector?.endBrowser();
    await launched.end();
    await collector?.close();
  }
}

/** Somebody else's browser: it may come and go. */
async function join(stage: Stage, port: number): Promise<void> {
  const { say, over, feed } = stage;
  let collector: Collector | undefined = await listen(stage, port, Date.now());
  while (collector !== undefined) {
    await Promise.race([aborted(over), collector.closed]);
    const gone = Date.now();
    await collector.close();
    if (over.aborted) return;
    feed.attach([]);
    say('browser_gone', 'The browser is gone; waiting for it to come back.');
    collector = await again(stage, port, gone);
  }
}

/** Undefined when nobody wants it any more. */
async function again(stage: Stage, port: number, since: number): Promise<Collector | undefined> {
  const { over } = stage;
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, SLOWEST_RETRY_MS)) {
    await pause(retryMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return undefined;
    try {
      return await listen(stage, port, since);
    } catch {
      // Still away; it was said once, and that is enough.
    }
  }
}

async function listen({ feed, say }: Stage, port: number, since: number): Promise<Collector> {
  const named = new Map<string, string>();
  const collector = await collect({
    port,
    since,
    tell: (told) => feed.add(told),
    pagesChanged: (pages) => {
      feed.attach(pages.map(({ url, title }) => ({ url, title })));
      announce(say, named, pages);
    },
  });
  const browser = collector.product;
  say('listening', `Listening to ${browser}; Ctrl-C ends it.`, { browser });
  return collector;
}

/** Each tab once when it is somewhere, and once when it is gone. */
function announce(say: Say, named: Map<string, string>, pages: readonly Page[]): void {
  for (const { id, url, title } of pages.filter((page) => page.url !== '')) {
    if (named.has(id) || /^(about:blank|chrome:)/u.test(url)) continue;
    named.set(id, url);
    const name = title === '' || url.includes(title) ? '' : ` (${title})`;
    say('attached', `Attached to ${url}${name}`, { url, title });
  }
  const there = new Map(pages.map(({ id, url }) => [id, url]));
  for (const [id, first] of [...named]) {
    const url = there.get(id);
    if (url === undefined) say('detached', `Detached from ${first}`, { url: first });
    if (url === undefined) named.delete(id);
    else named.set(id, url);
  }
}

function aborted(over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (over.aborted) resolve();
    else over.addEventListener('abort', () => resolve(), { once: true });
  });
}

function readWanted({ url, attach, headless = false }: Words): Wanted {
  if (attach !== undefined && url === undefined && !headless) return { port: readPort(attach) };
  if (url !== undefined && attach === undefined) return { url: readUrl(url), headless };
  throw usage('browser needs --url URL or --attach PORT.');
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw usage(`--attach needs a port, not "${text}".`);
}

/** `localhost:3000` is what people type. */
function readUrl(text: string): string {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//iu.test(text) ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url !== undefined && ['http:', 'https:', 'file:'].includes(url.protocol)) return url.href;
  throw usage(`--url needs an address of a page, not "${text}".`);
}

function usage(message: string): SmithyError {
  return new SmithyError('INVALID_PARAMS', message, {
    hint: 'For example: smithyd browser --url http://localhost:3000, or --attach 9222.',
  });
}
