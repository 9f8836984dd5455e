import { ascribe, BASELINE, countLines, toRanges, type Ascription } from '../core/attribution.js';
import { byOf } from '../core/edits.js';
import { SmithyError } from '../core/errors.js';
import { readEventId, type LedgerEntry } from '../core/ledger.js';
import type { Hash, Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import type { TextDiff } from '../core/text-diff.js';
import type { Moves } from './entry-results.js';
import { stateOf } from './claims.js';
import type { EditNote } from './edit-book.js';
import { steadily, type EditDeps } from './edit-deps.js';
import type { FoldBook } from './fold-book.js';
import type { Timeline } from './timeline.js';

/** One change of a path, as the ledger tells it. */
interface Version {
  readonly seq: number;
  readonly before: Hash | null;
  readonly after: Hash | null;
  readonly author: Ascription;
  /**
   * `restored`: put back by us, its lines are by whoever wrote them first. `noted`: it was there,
   * and nothing came of it yet.
   */
  readonly how: 'changed' | 'restored' | 'noted';
  /** Put back to what it was when the ledger was here. */
  readonly asOf: number;
  /** What the file was under the name it had before. */
  readonly former?: readonly Version[];
}

/** A content and who each of its lines is by. */
interface Text {
  readonly hash: Hash | null;
  /** The last one that can be had, which `lines` are those of; undefined: none so far. */
  readonly content: Uint8Array | undefined;
  readonly lines: readonly Ascription[];
  readonly last: Ascription;
  /** Who changed it since, to contents that are gone. */
  readonly owed: readonly Ascription[];
}

type Read = (hash: Hash | null) => Promise<Uint8Array | undefined>;

const UNKNOWN: Ascription = { by: 'unknown' };
/** Older changes than these show as one; nobody looks further back line by line. */
const MOST_VERSIONS = 2_000;

export interface BlameDeps extends EditDeps {
  readonly timeline: Timeline;
  readonly folds: Pick<FoldBook, 'of'>;
}

/** For every line of a file, who wrote it last. */
export class Blame {
  readonly #deps: BlameDeps;

  constructor(deps: BlameDeps) {
    this.#deps = deps;
  }

  async of(given: string) {
    const { root, watcher, claims, contents } = this.#deps;
    const path = toPath(given, root);
    return steadily(this.#deps, async () => {
      const now = stateOf(watcher.get(path));
      if (now === null) throw nothingThere(path);
      // Nobody may have saved it yet.
      const present = await contents.read(path, now);
      const read: Read = async (hash) => (hash === now.hash ? present : this.#content(hash));
      const owner = claims.table.claimant(path);
      const begun = owner === undefined ? now : (owner.before.get(path) ?? null);
      const doubtful = claims.known.doubt(path);
      const expected = doubtful === undefined ? begun : doubtful.expected;
      let text = await this.#fold(
        await this.#versions(path, Infinity),
        expected?.hash ?? null,
        read,
      );
      text = await this.#step(text, { hash: begun?.hash ?? null, author: UNKNOWN }, read);
      const author = owner && { by: byOf(owner.facts), edit_id: owner.facts.id };
      text = await this.#step(text, { hash: now.hash, author: author ?? UNKNOWN }, read);
      return { path, lines: toRanges(text.lines), last: text.last.by };
    });
  }

  /** Oldest first, as far back as any present line can come from. */
  async #versions(path: Path, until: number): Promise<Version[]> {
    const seqs = this.#deps.timeline.index.changesOf(path).filter((seq) => seq < until);
    const found: Version[] = [];
    /** Contents that were put back, and how far back their origin lies. */
    const wanted = new Map<Hash | null, number>();
    for (const seq of seqs.toReversed().slice(0, MOST_VERSIONS)) {
      const entry = await this.#deps.editBook.entry(seq);
      if (entry === undefined) continue;
      const version = await this.#version(entry, path);
      found.push(version);
      const { after, asOf } = version;
      const since = wanted.get(after) ?? Infinity;
      if (version.how === 'restored') wanted.set(after, Math.min(since, asOf));
      else if (seq <= since) wanted.delete(after);
      // A file that was made here owes nothing to one that had its name before.
      const isOrigin = version.how === 'changed' && version.before === null;
      if (wanted.size === 0 && (isOrigin || version.former !== undefined)) break;
    }
    return found.toReversed();
  }

  async #version(entry: LedgerEntry, path: Path): Promise<Version> {
    const version = toVersion(entry, path);
    const from = (entry['moves'] as Moves | undefined)?.[path];
    const source = from && entry.changes.find((change) => change.path === from);
    // A move that was only noted has not happened yet, and what was put back is what it was here.
    if (from === undefined || source === undefined || version.how !== 'changed') return version;
    const former = await this.#versions(from, entry.seq);
    return { ...version, before: source.before as Hash, former };
  }

  /** The text that the versions lead to; without any it is what was there at first. */
  async #fold(versions: readonly Version[], base: Hash | null, read: Read): Promise<Text> {
    const [oldest] = versions;
    let text = await this.#first(oldest === undefined ? base : oldest.before, read);
    const seen = new Seen(versions);
    seen.add(0, text);
    const noted = new Map<Hash | null, Ascription>();
    for (const { seq, before, after, author, how, former, asOf } of versions) {
      if (former !== undefined) text = await this.#fold(former, before, read);
      const between = { hash: before, author: noted.get(before) ?? UNKNOWN };
      const begun = await this.#step(text, between, read);
      if (begun !== text) seen.add(seq, begun);
      const earlier = how === 'restored' ? seen.at(after, asOf) : undefined;
      const then = earlier ?? (await this.#step(begun, { hash: after, author }, read));
      seen.add(seq, then);
      if (how !== 'noted') text = then;
      // What an edit found when it began; its own work under way is never what another found.
      else if (author.by === UNKNOWN.by) noted.set(after, author);
    }
    return text;
  }

  async #first(hash: Hash | null, read: Read): Promise<Text> {
    const content = await read(hash);
    const count = content === undefined ? 0 : countLines(content);
    const lines = Array.from({ length: count }, () => BASELINE);
    const owed = content === undefined ? [BASELINE] : [];
    return { hash, content, lines, last: BASELINE, owed };
  }

  async #step(
    from: Text,
    { hash, author }: { readonly hash: Hash | null; readonly author: Ascription },
    read: Read,
  ): Promise<Text> {
    if (hash === from.hash) return from;
    const content = await read(hash);
    const owed = [...from.owed, author];
    // Which lines are new shows when one can be read again.
    if (content === undefined) return { ...from, hash, last: author, owed };
    const writer = this.#oneOf(owed);
    const hunks = hunksBetween(this.#deps.text, from.content, content);
    const all = Array.from({ length: countLines(content) }, () => writer);
    const lines = hunks === undefined ? all : ascribe(from.lines, hunks, writer);
    return { hash, content, lines, last: author, owed: [] };
  }

  /** Whose lines are new after changes by all of these. */
  #oneOf(owed: readonly Ascription[]): Ascription {
    const last = owed.at(-1) ?? UNKNOWN;
    if (owed.every(({ by }) => by === last.by)) return last;
    const run = owed
      .map(({ event }) => this.#deps.folds.of(readEventId(event ?? '') ?? 0))
      .findLast((found) => found !== undefined);
    return run === undefined ? UNKNOWN : { by: 'folded', event: run.event };
  }

  async #content(hash: Hash | null): Promise<Uint8Array | undefined> {
    return hash === null ? new Uint8Array() : this.#deps.contents.stored(hash);
  }
}

/** The texts that were put back later, each time they came to be. */
class Seen {
  readonly #texts = new Map<Hash | null, { readonly seq: number; readonly text: Text }[]>();

  constructor(versions: readonly Version[]) {
    for (const { how, after } of versions) if (how === 'restored') this.#texts.set(after, []);
  }

  add(seq: number, text: Text): void {
    this.#texts.get(text.hash)?.push({ seq, text });
  }

  /** The same content may be by others at another time. */
  at(hash: Hash | null, asOf: number): Text | undefined {
    const texts = this.#texts.get(hash) ?? [];
    return (texts.findLast(({ seq }) => seq <= asOf) ?? texts.at(-1))?.text;
  }
}

function hunksBetween(text: TextDiff, a: Uint8Array | undefined, b: Uint8Array | undefined) {
  if (a === undefined || b === undefined) return undefined;
  const mode = '100644';
  const sides = { before: { mode, content: a }, after: { mode, content: b } } as const;
  return text.file({ path: 'file', change: 'modified', ...sides }, { context: 0 }).hunks;
}

function toVersion(entry: LedgerEntry, path: Path): Version {
  const change = entry.changes.find((one) => one.path === path);
  const note = entry['edit'] as EditNote | undefined;
  const asOf = entry['as_of'];
  return {
    seq: entry.seq,
    asOf: typeof asOf === 'number' ? asOf : Infinity,
    before: (change?.before ?? null) as Hash | null,
    after: (change?.after ?? null) as Hash | null,
    author: {
      by: String(entry['by']),
      ...(note === undefined ? {} : { edit_id: note.id }),
      event: entry.id,
      at: entry.ts,
    },
    how: entry['restored'] === true ? 'restored' : entry['noted'] === true ? 'noted' : 'changed',
  };
}

function nothingThere(path: Path): SmithyError {
  return new SmithyError('PATH_UNSUPPORTED', `${path} is no tracked file.`, {
    hint: 'See `smithyd status --why PATH`.',
    data: { path },
  });
}
