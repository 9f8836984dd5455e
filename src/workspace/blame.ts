import { ascribe, BASELINE, countLines, toRanges, type Ascription } from '../core/attribution.js';
import { byOf } from '../core/edits.js';
import { SmithyError } from '../core/errors.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { Hash, Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import type { TextDiff } from '../core/text-diff.js';
import type { Moves } from './accounts.js';
import { stateOf } from './claims.js';
import type { EditNote } from './edit-book.js';
import type { EditDeps } from './edit-deps.js';
import { settled } from './settled.js';

/** One change of a path, as the ledger tells it. */
interface Version {
  readonly before: Hash | null;
  readonly after: Hash | null;
  readonly author: Ascription;
  /** Put back by us: its lines are by whoever wrote them first. */
  readonly restored: boolean;
}

/** A content and who each of its lines is by. */
interface Text {
  readonly hash: Hash | null;
  /** Undefined: no lines to speak of, or no longer to be had. */
  readonly content: Uint8Array | undefined;
  readonly lines: readonly Ascription[];
  readonly last: Ascription;
}

const UNKNOWN: Ascription = { by: 'unknown' };
/** Older changes than these show as one; nobody looks further back line by line. */
const MOST_VERSIONS = 2_000;

/** For every line of a file, who wrote it last. */
export class Blame {
  readonly #deps: EditDeps;

  constructor(deps: EditDeps) {
    this.#deps = deps;
  }

  async of(given: string) {
    const { root, watcher, claims, queue } = this.#deps;
    const path = toPath(given, root);
    await settled(watcher);
    return queue.share(async () => {
      const now = stateOf(watcher.get(path));
      if (now === null) throw nothingThere(path);
      const owner = claims.table.claimant(path);
      const expected = claims.known.expected(path)?.hash ?? null;
      const versions = await this.#versions(path, Infinity);
      let text = await this.#first(
        versions[0]?.before ?? (versions.length === 0 ? expected : null),
      );
      const seen = new Map<Hash | null, Text>([[text.hash, text]]);
      const step = async (to: Hash | null, author: Ascription): Promise<void> => {
        if (to === text.hash) return;
        text = await this.#change(text, to, author);
        seen.set(to, text);
      };
      for (const { before, after, author, restored } of versions) {
        await step(before, UNKNOWN);
        const earlier = restored ? seen.get(after) : undefined;
        if (earlier === undefined) await step(after, author);
        else text = earlier;
      }
      const open = owner && { by: byOf(owner.facts), edit_id: owner.facts.id };
      await step(now.hash, open ?? UNKNOWN);
      return { path, lines: toRanges(text.lines), last: text.last.by };
    });
  }

  /** Oldest first; followed to the names the file had before. */
  async #versions(path: Path, until: number): Promise<Version[]> {
    const seqs = this.#deps.editBook.linesOf(path).filter((seq) => seq < until);
    const found: Version[] = [];
    for (const seq of seqs.toReversed().slice(0, MOST_VERSIONS)) {
      const entry = await this.#deps.editBook.entry(seq);
      if (entry === undefined) continue;
      const version = toVersion(entry, path);
      const from = (entry['moves'] as Moves | undefined)?.[path];
      const source = from && entry.changes.find((change) => change.path === from);
      if (from !== undefined && source !== undefined) {
        const older = await this.#versions(from, seq);
        return [...older, { ...version, before: source.before as Hash }, ...found.toReversed()];
      }
      found.push(version);
      // A file that was made here owes nothing to one that had its name before.
      if (version.before === null && !version.restored) break;
    }
    return found.toReversed();
  }

  async #first(hash: Hash | null): Promise<Text> {
    const content = await this.#content(hash);
    const count = content === undefined ? 0 : countLines(content);
    const lines = Array.from({ length: count }, () => BASELINE);
    return { hash, content, lines, last: BASELINE };
  }

  async #change(from: Text, to: Hash | null, author: Ascription): Promise<Text> {
    const content = await this.#content(to);
    const hunks = hunksBetween(this.#deps.text, from.content, content);
    const all = Array.from(
      { length: content === undefined ? 0 : countLines(content) },
      () => author,
    );
    const lines = hunks === undefined ? all : ascribe(from.lines, hunks, author);
    return { hash: to, content, lines, last: author };
  }

  async #content(hash: Hash | null): Promise<Uint8Array | undefined> {
    return hash === null ? new Uint8Array() : this.#deps.contents.stored(hash);
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
  return {
    before: (change?.before ?? null) as Hash | null,
    after: (change?.after ?? null) as Hash | null,
    author: {
      by: String(entry['by']),
      ...(note === undefined ? {} : { edit_id: note.id }),
      event: entry.id,
      at: entry.ts,
    },
    restored: entry['restored'] === true,
  };
}

function nothingThere(path: Path): SmithyError {
  return new SmithyError('PATH_UNSUPPORTED', `${path} is no tracked file.`, {
    hint: 'See `smithyd status --why PATH`.',
    data: { path },
  });
}
