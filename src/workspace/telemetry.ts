import type { JudgedEntry } from '../core/changes/console-news.js';
import { Endpoints } from '../core/changes/endpoints.js';
import type { NoiseCategory, NoiseFilter, Told } from '../core/changes/noise.js';
import {
  CAPACITY,
  Ring,
  STREAMS,
  type Entries,
  type Positions,
  type StreamName,
} from '../core/changes/streams.js';
import { fingerprint, shorten } from '../core/changes/wording.js';

/** As it is kept: with the rule that says that it means nothing. */
type Kept<Name extends StreamName> = (Name extends 'console' ? JudgedEntry : Entries[Name]) & {
  readonly noise?: string | undefined;
};

export type Batch = { readonly [Name in StreamName]?: readonly Entries[Name][] | undefined };

/** A page or program that tells of itself as long as its connection lasts. */
export interface AttachedPage {
  readonly url: string;
  readonly title?: string | undefined;
}

/** Longer texts are cut when they come: what is kept is bounded by its number and this. */
const MOST_CHARACTERS = 2_000;
const MOST_PAGES = 50;

/**
 * What running programs tell: in memory only, the newest of each kind. Secrets are taken out as it comes,
 * because marks and baselines keep fingerprints and addresses of it, cut and with numbers left out.
 */
export class Telemetry {
  readonly #clean: (text: string) => string;
  readonly #rings: { readonly [Name in StreamName]: Ring<Kept<Name>> } = {
    console: new Ring(CAPACITY.console),
    network: new Ring(CAPACITY.network),
    websocket: new Ring(CAPACITY.websocket),
    actions: new Ring(CAPACITY.actions),
  };
  readonly endpoints = new Endpoints();
  readonly #attached = new Map<object, readonly AttachedPage[]>();
  #filter: NoiseFilter = { find: () => undefined };
  #wasAttached = false;
  #page: string | null = null;

  constructor(clean: (text: string) => string) {
    this.#clean = clean;
  }

  /** What fits nowhere any more when all of it is in counts as dropped. */
  push(batch: Batch): { accepted: number; dropped: number } {
    let given = 0;
    let dropped = 0;
    for (const name of STREAMS) {
      const count = batch[name]?.length ?? 0;
      given += count;
      dropped += Math.max(0, count - CAPACITY[name]);
    }
    const { console, websocket } = this.#rings;
    for (const entry of batch.console ?? []) console.add(this.#console(this.#plain(entry)));
    for (const entry of batch.network ?? []) this.#network(this.#plain(entry));
    for (const entry of batch.websocket ?? []) websocket.add(this.#websocket(this.#plain(entry)));
    for (const entry of batch.actions ?? []) this.#action(this.#plain(entry));
    return { accepted: given - dropped, dropped };
  }

  ring<Name extends StreamName>(name: Name): Ring<Kept<Name>> {
    return this.#rings[name];
  }

  positions(): Positions {
    const { console, network, websocket, actions } = this.#rings;
    return {
      console: console.total,
      network: network.total,
      websocket: websocket.total,
      actions: actions.total,
    };
  }

  /** The positions that somebody had who looked at that time. */
  positionsAt(time: number): Positions {
    const { console, network, websocket, actions } = this.#rings;
    return {
      console: console.positionAt(time),
      network: network.positionAt(time),
      websocket: websocket.positionAt(time),
      actions: actions.positionAt(time),
    };
  }

  /** These tell of themselves from now on, until their connection ends. True: it told of none before. */
  attach(connection: object, pages: readonly AttachedPage[]): boolean {
    const isNew = !this.#attached.has(connection);
    this.#wasAttached ||= pages.length > 0;
    const plain = pages.slice(0, MOST_PAGES).map((page) => this.#plain(page));
    this.#attached.set(connection, plain);
    this.#page = plain[0]?.url ?? this.#page;
    return isNew;
  }

  detach(connection: object): void {
    this.#attached.delete(connection);
  }

  /** Where silence comes from: nobody tells anything, or nothing happened. */
  state(): 'attached' | 'detached' | 'pushed' | 'none' {
    const isAttached = [...this.#attached.values()].some((pages) => pages.length > 0);
    if (isAttached) return 'attached';
    if (this.#wasAttached) return 'detached';
    return STREAMS.some((name) => this.#rings[name].total > 0) ? 'pushed' : 'none';
  }

  /** Addresses with a WebSocket that was opened and not closed since. */
  openSockets(): string[] {
    const open = new Map<string, number>();
    for (const { event, url } of this.#rings.websocket.since(0).entries) {
      const step = event === 'open' ? 1 : event === 'close' ? -1 : 0;
      open.set(url, Math.max(0, (open.get(url) ?? 0) + step));
    }
    return [...open].flatMap(([url, count]) => (count > 0 ? [url] : []));
  }

  /** The page that was last gone to. */
  page(): string | null {
    return this.#page;
  }

  /** Rules have changed: what is there is judged anew. */
  judge(filter: NoiseFilter): void {
    this.#filter = filter;
    this.#rings.console.replace((entry) => this.#console(entry));
    this.#rings.network.replace((entry) => this.#judged('network', entry, { text: entry.url }));
    this.#rings.websocket.replace((entry) => this.#websocket(entry));
  }

  /** Before anything is cut: half a secret looks like none. */
  #plain<T extends object>(entry: T): T {
    const texts = Object.entries(entry).map(([member, value]: [string, unknown]) => {
      return [member, typeof value === 'string' ? this.#clean(value) : value];
    });
    return Object.fromEntries(texts) as T;
  }

  #console(entry: Entries['console']): Kept<'console'> {
    const message = cut(entry.message);
    const source = entry.source === null ? null : cut(entry.source);
    const known = { ...entry, message, source, fingerprint: fingerprint(message) };
    return this.#judged('console', known, { text: message, source });
  }

  #network(given: Entries['network']): void {
    const ring = this.#rings.network;
    const entry = { ...given, url: cut(given.url), method: cut(given.method) };
    this.endpoints.record(entry, ring.total);
    ring.add(this.#judged('network', entry, { text: entry.url }));
  }

  #websocket(entry: Entries['websocket']): Kept<'websocket'> {
    const { url, id, closeReason, message } = entry;
    const short = {
      ...entry,
      url: cut(url),
      id: id === null ? null : cut(id),
      closeReason: closeReason === null ? null : cut(closeReason),
      message: message === null ? null : cut(message),
    };
    return this.#judged('websocket', short, { text: short.url });
  }

  #action(entry: Entries['actions']): void {
    const { type, url, target, value } = entry;
    if (type === 'navigation' && url !== null) this.#page = cut(url);
    this.#rings.actions.add({
      ...entry,
      type: cut(type),
      url: url === null ? null : cut(url),
      target: target === null ? null : cut(target),
      value: value === null ? null : cut(value),
    });
  }

  #judged<T extends object>(category: NoiseCategory, entry: T, told: Told) {
    return { ...entry, noise: this.#filter.find(category, told) };
  }
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : shorten(text, MOST_CHARACTERS);
}
