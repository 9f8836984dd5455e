import type { LedgerEntry } from './ledger.js';
import { Column } from './column.js';

/** What to look for; absent means anything. */
export interface EventQuery {
  /** A file, or a folder with everything below it. */
  readonly file?: string | undefined;
  /** A name, or `kind:name`. */
  readonly author?: string | undefined;
  readonly branch?: string | undefined;
  readonly action?: string | undefined;
  readonly dialog?: string | undefined;
  /** Wall time in ms: not older. */
  readonly since?: number | undefined;
  /** Sequence numbers: larger than the one and smaller than the other. */
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

/** What many events have in common. */
interface Kind {
  readonly author: string;
  readonly name: string;
  readonly branches: readonly (string | null)[];
  readonly action: string;
  readonly dialog: string | null;
}

/** How much of the index there was at some time: nothing before it ever changes. */
export interface IndexMark {
  readonly events: number;
  readonly mentions: number;
  readonly kinds: number;
  readonly paths: number;
}

export const NO_INDEX: IndexMark = { events: 0, mentions: 0, kinds: 0, paths: 0 };

/** Places of events, from the one to before the other. */
interface Stretch {
  readonly first: number;
  readonly end: number;
}

/** Of one piece on disk; what it takes to make one is no more than a few ms. */
const PIECE_EVENTS = 20_000;
const HEAD = 4;
const NONE = 0xffff_ffff;

/**
 * Where in the ledger what is spoken of. Sixteen bytes an event and twelve for each path it names: a
 * million events take about 40 MB, and a look through all of them a few ms. Everything is only ever
 * appended to, so what is on disk is continued and never written again.
 */
export class EventIndex {
  #seqs = Column.small();
  #times = Column.wide();
  #kinds = Column.small();
  /** In the order of the events. Twice the place of the event, plus one for a change by somebody. */
  #marks = Column.small();
  /** The number of the path it names, and the mention of the same path before. */
  #named = Column.small();
  #earlier = Column.small();
  /** By the number of a path: its newest mention. */
  #newest = Column.small();
  #paths: string[] = [];
  #pathNumbers = new Map<string, number>();
  #known: Kind[] = [];
  /** What tells kinds apart, as JSON. */
  #keys: string[] = [];
  /** By the number of a kind: its first and its last place. */
  #kindFirst = Column.small();
  #kindLast = Column.small();
  #numbers = new Map<string, number>();

  reset(): void {
    this.#times = Column.wide();
    this.#seqs = Column.small();
    this.#kinds = Column.small();
    this.#marks = Column.small();
    this.#named = Column.small();
    this.#earlier = Column.small();
    this.#newest = Column.small();
    this.#kindFirst = Column.small();
    this.#kindLast = Column.small();
    this.#paths = [];
    this.#known = [];
    this.#keys = [];
    this.#pathNumbers.clear();
    this.#numbers.clear();
  }

  /** In the order of the ledger; an entry that is known already is left out. */
  add(entry: LedgerEntry): void {
    const place = this.#seqs.length;
    if (place > 0 && entry.seq <= this.#seqs.at(place - 1)) return;
    this.#seqs.push(entry.seq);
    this.#times.push(Date.parse(entry.ts));
    const kind = this.#kindOf(entry);
    this.#kinds.push(kind);
    this.#seen(kind, place);
    const changed = new Set(entry['by'] === undefined ? [] : entry.changes.map(pathOf));
    const named = new Set([...changed, ...entry.files, ...entry.changes.map(pathOf)]);
    for (const path of named) {
      this.#marks.push(place * 2 + (changed.has(path) ? 1 : 0));
      this.#mention(this.#pathNumber(path));
    }
  }

  /** Sequence numbers of the lines in which somebody changed a path, oldest first. */
  changesOf(path: string): number[] {
    const seqs: number[] = [];
    for (const mention of this.#mentionsOf(path)) {
      const mark = this.#marks.at(mention);
      if (mark % 2 === 1) seqs.push(this.#seqs.at(mark >>> 1));
    }
    return seqs.reverse();
  }

  /** How many lines after the one and before the other changed a path by somebody's hand. */
  changesBetween(after: number, before: number): number {
    const first = this.#marks.firstNotBelow(this.#seqs.firstNotBelow(after + 1) * 2);
    const end = this.#marks.firstNotBelow(this.#seqs.firstNotBelow(before) * 2);
    let [count, last] = [0, -1];
    for (let at = first; at < end; at += 1) {
      const mark = this.#marks.at(at);
      if (mark % 2 === 1 && mark >>> 1 !== last) count += 1;
      if (mark % 2 === 1) last = mark >>> 1;
    }
    return count;
  }

  /** Sequence numbers, newest first. */
  find(query: EventQuery): number[] {
    const { before = Infinity, after = 0, since = -Infinity, limit } = query;
    const { isWanted, first, end } = this.#kindsFor(query);
    const stretch = {
      first: Math.max(first, this.#seqs.firstNotBelow(after + 1)),
      end: Math.min(end, this.#seqs.firstNotBelow(before)),
    };
    const [kinds, times] = [this.#kinds.numbers, this.#times.numbers];
    const found: number[] = [];
    /** False: there is enough. */
    const take = (place: number): boolean => {
      if (isWanted[kinds[place] ?? 0] === 1 && (times[place] ?? 0) >= since) {
        found.push(this.#seqs.at(place));
      }
      return found.length < limit;
    };
    if (query.file !== undefined) this.#lookAtMentions(query.file, stretch, take);
    else for (let at = stretch.end - 1; at >= stretch.first && take(at); at -= 1);
    return found;
  }

  /** The newest line that is not younger than a time; 0: all are. */
  seqAt(time: number): number {
    const times = this.#times.numbers;
    for (let place = this.#seqs.length - 1; place >= 0; place -= 1) {
      if ((times[place] ?? 0) <= time) return this.#seqs.at(place);
    }
    return 0;
  }

  /** When a line was written, in wall time; undefined when there is no such line. */
  timeOf(seq: number): number | undefined {
    const place = this.#seqs.firstNotBelow(seq);
    return place < this.#seqs.length && this.#seqs.at(place) === seq
      ? this.#times.at(place)
      : undefined;
  }

  mark(): IndexMark {
    const [events, mentions] = [this.#seqs.length, this.#marks.length];
    return { events, mentions, kinds: this.#known.length, paths: this.#paths.length };
  }

  /** What came between, in pieces that `load` takes one after the other. */
  *pieces(from: IndexMark, to: IndexMark): Generator<Uint8Array> {
    let begun = from;
    while (begun.events < to.events) {
      const ended = this.#markAt(begun, Math.min(begun.events + PIECE_EVENTS, to.events));
      yield this.#piece(begun, ended);
      begun = ended;
    }
  }

  /** @throws Error when it does not go on where the index ends. */
  load(piece: Uint8Array): void {
    const head = new DataView(piece.buffer, piece.byteOffset, HEAD * 4);
    const count = (number: number): number => head.getUint32(number * 4, true);
    const [events, mentions, nameBytes, firstPlace] = [count(0), count(1), count(2), count(3)];
    if (firstPlace !== this.#seqs.length) throw new Error('a piece of the index is missing');
    let at = HEAD * 4;
    const next = (bytes: number): Uint8Array => piece.subarray(at, (at += bytes));
    for (const column of [this.#seqs, this.#times, this.#kinds]) {
      column.append(next(events * column.width));
    }
    this.#marks.append(next(mentions * this.#marks.width));
    const named = Column.small();
    named.append(next(mentions * named.width));
    const { keys, paths } = JSON.parse(new TextDecoder().decode(next(nameBytes))) as {
      readonly keys: readonly string[];
      readonly paths: readonly string[];
    };
    for (const key of keys) this.#addKind(key);
    for (const path of paths) this.#pathNumber(path);
    for (let place = firstPlace; place < this.#kinds.length; place += 1) {
      this.#seen(this.#kinds.at(place), place);
    }
    for (let number = 0; number < mentions; number += 1) this.#mention(named.at(number));
  }

  #piece(from: IndexMark, to: IndexMark): Uint8Array {
    const names = new TextEncoder().encode(
      JSON.stringify({
        keys: this.#keys.slice(from.kinds, to.kinds),
        paths: this.#paths.slice(from.paths, to.paths),
      }),
    );
    const counts = [to.events - from.events, to.mentions - from.mentions, names.length];
    const head = new Uint32Array([...counts, from.events]);
    return joined([
      new Uint8Array(head.buffer),
      ...[this.#seqs, this.#times, this.#kinds].map((one) => one.bytes(from.events, to.events)),
      ...[this.#marks, this.#named].map((one) => one.bytes(from.mentions, to.mentions)),
      names,
    ]);
  }

  /** How much there was when the index had so many events. */
  #markAt({ events: begun, ...from }: IndexMark, events: number): IndexMark {
    let { kinds, paths } = from;
    for (let at = begun; at < events; at += 1) kinds = Math.max(kinds, this.#kinds.at(at) + 1);
    const mentions = this.#marks.firstNotBelow(events * 2);
    for (let at = from.mentions; at < mentions; at += 1) {
      paths = Math.max(paths, this.#named.at(at) + 1);
    }
    return { events, mentions, kinds, paths };
  }

  /** Which kinds are asked for, and where in the index any of them is. */
  #kindsFor(query: EventQuery): Stretch & { readonly isWanted: Uint8Array } {
    const isWanted = new Uint8Array(this.#known.length);
    let [first, end] = [Infinity, 0];
    for (const [number, kind] of this.#known.entries()) {
      if (!matches(kind, query)) continue;
      isWanted[number] = 1;
      first = Math.min(first, this.#kindFirst.at(number));
      end = Math.max(end, this.#kindLast.at(number) + 1);
    }
    return { isWanted, first, end };
  }

  /** Each event that names a path or one below it once, newest first. */
  #lookAtMentions(file: string, { first, end }: Stretch, take: (place: number) => boolean): void {
    let last = end;
    for (const mention of this.#mentionsBelow(file)) {
      const place = this.#marks.at(mention) >>> 1;
      if (place < first) return;
      if (place < last && !take((last = place))) return;
    }
  }

  /** Mentions of a path and of those below it, newest first. */
  *#mentionsBelow(file: string): Generator<number> {
    const folder = `${file}/`;
    const isBelow = Uint8Array.from(this.#paths, (path) => (path.startsWith(folder) ? 1 : 0));
    if (!isBelow.includes(1)) {
      yield* this.#mentionsOf(file);
      return;
    }
    const own = this.#pathNumbers.get(file);
    if (own !== undefined) isBelow[own] = 1;
    const named = this.#named.numbers;
    for (let mention = this.#named.length - 1; mention >= 0; mention -= 1) {
      if (isBelow[named[mention] ?? 0] === 1) yield mention;
    }
  }

  /** Newest first. */
  *#mentionsOf(path: string): Generator<number> {
    const number = this.#pathNumbers.get(path);
    if (number === undefined) return;
    let mention = this.#newest.at(number);
    for (; mention !== NONE; mention = this.#earlier.at(mention)) yield mention;
  }

  #mention(number: number): void {
    this.#named.push(number);
    this.#earlier.push(this.#newest.at(number));
    this.#newest.set(number, this.#named.length - 1);
  }

  #pathNumber(path: string): number {
    const known = this.#pathNumbers.get(path);
    if (known !== undefined) return known;
    const number = this.#paths.push(path) - 1;
    this.#pathNumbers.set(path, number);
    this.#newest.push(NONE);
    return number;
  }

  #kindOf({ author, branch, session, action_type: action, dialog_id: dialog }: LedgerEntry) {
    const key = JSON.stringify([author.kind, author.name, branch, session, action, dialog]);
    return this.#numbers.get(key) ?? this.#addKind(key);
  }

  /** An event of a kind: they tend to be together, a dialog's above all. */
  #seen(kind: number, place: number): void {
    if (this.#kindFirst.at(kind) === NONE) this.#kindFirst.set(kind, place);
    this.#kindLast.set(kind, place);
  }

  #addKind(key: string): number {
    const [kind, name, branch, session, action, dialog] = JSON.parse(key) as KindKey;
    // Lines of the first daemons name their branch in full.
    const short = branch?.replace(/^refs\/heads\//u, '') ?? null;
    const branches = [branch, short, session];
    this.#keys.push(key);
    this.#kindFirst.push(NONE);
    this.#kindLast.push(0);
    this.#numbers.set(key, this.#known.length);
    return this.#known.push({ author: `${kind}:${name}`, name, branches, action, dialog }) - 1;
  }
}

type KindKey = [string, string, string | null, string | null, string, string | null];

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function matches(kind: Kind, { author, branch, action, dialog }: EventQuery): boolean {
  return (
    (author === undefined || author === kind.name || author === kind.author) &&
    (branch === undefined || kind.branches.includes(branch)) &&
    (action === undefined || action === kind.action) &&
    (dialog === undefined || dialog === kind.dialog)
  );
}

function pathOf({ path }: { readonly path: string }): string {
  return path;
}
