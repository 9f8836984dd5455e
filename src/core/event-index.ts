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

/**
 * Where in the ledger what is spoken of. Sixteen bytes an event and eight for each path it names: a
 * million events take about 30 MB, and a look through all of them a few ms.
 */
export class EventIndex {
  readonly #seqs = new Column((size) => new Uint32Array(size));
  readonly #times = new Column((size) => new Float64Array(size));
  readonly #kinds = new Column((size) => new Uint32Array(size));
  readonly #known: Kind[] = [];
  readonly #numbers = new Map<string, number>();
  /** Twice the place of the event, plus one when it tells of a change by somebody. */
  readonly #paths = new Map<string, number[]>();

  /** In the order of the ledger; an entry that is known already is left out. */
  add(entry: LedgerEntry): void {
    const place = this.#seqs.length;
    if (place > 0 && entry.seq <= this.#seqs.at(place - 1)) return;
    this.#seqs.push(entry.seq);
    this.#times.push(Date.parse(entry.ts));
    this.#kinds.push(this.#kindOf(entry));
    const changed = new Set(entry['by'] === undefined ? [] : entry.changes.map(pathOf));
    const named = new Set([...changed, ...entry.files, ...entry.changes.map(pathOf)]);
    for (const path of named) {
      const mark = place * 2 + (changed.has(path) ? 1 : 0);
      const places = this.#paths.get(path);
      if (places === undefined) this.#paths.set(path, [mark]);
      else places.push(mark);
    }
  }

  /** Sequence numbers of the lines in which somebody changed a path, oldest first. */
  changesOf(path: string): number[] {
    const marks = this.#paths.get(path) ?? [];
    return marks.flatMap((mark) => (mark % 2 === 1 ? [this.#seqs.at((mark - 1) / 2)] : []));
  }

  /** Sequence numbers, newest first. */
  find(query: EventQuery): number[] {
    const { before = Infinity, after = 0, since = -Infinity, limit } = query;
    const isWanted = Uint8Array.from(this.#known, (kind) => (matches(kind, query) ? 1 : 0));
    const places = query.file === undefined ? undefined : this.#placesOf(query.file);
    const first = this.#placeOf(after + 1);
    const end = this.#placeOf(before);
    const found: number[] = [];
    const take = (place: number): void => {
      if (isWanted[this.#kinds.at(place)] === 1 && this.#times.at(place) >= since) {
        found.push(this.#seqs.at(place));
      }
    };
    if (places === undefined) {
      for (let at = end - 1; at >= first && found.length < limit; at -= 1) take(at);
      return found;
    }
    for (let at = places.length - 1; at >= 0 && found.length < limit; at -= 1) {
      const place = places[at] ?? 0;
      if (place >= first && place < end) take(place);
    }
    return found;
  }

  /** Places of the events that name a path or one below it, each once, in order. */
  #placesOf(file: string): readonly number[] {
    const folder = `${file}/`;
    const below = [...this.#paths].filter(([path]) => path.startsWith(folder));
    const own = this.#paths.get(file) ?? [];
    if (below.length === 0) return own.map((mark) => mark >>> 1);
    // Marked and counted off: to sort them takes twenty times as long.
    const isNamed = new Uint8Array(this.#seqs.length);
    for (const marks of [own, ...below.map(([, one]) => one)]) {
      for (const mark of marks) isNamed[mark >>> 1] = 1;
    }
    const places: number[] = [];
    for (let place = 0; place < isNamed.length; place += 1) {
      if (isNamed[place] === 1) places.push(place);
    }
    return places;
  }

  /** The place of the first event that is not before this number. */
  #placeOf(seq: number): number {
    let low = 0;
    let high = this.#seqs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#seqs.at(middle) < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #kindOf({ author, branch, session, action_type: action, dialog_id: dialog }: LedgerEntry) {
    const key = JSON.stringify([author.kind, author.name, branch, session, action, dialog]);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#known.length;
    const full = `${author.kind}:${author.name}`;
    // Lines of the first daemons name their branch in full.
    const short = branch?.replace(/^refs\/heads\//u, '') ?? null;
    const branches = [branch, short, session];
    this.#known.push({ author: full, name: author.name, branches, action, dialog });
    this.#numbers.set(key, number);
    return number;
  }
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
