import { parseChangeCursor, type ChangeCursor } from '../core/changes/change-cursor.js';
import type { Baseline } from '../core/changes/baseline.js';
import { BEGINNING, STREAMS, type Positions } from '../core/changes/streams.js';
import { SmithyError } from '../core/errors.js';
import { readEventId, type Ledger } from '../core/ledger.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { resolveId } from '../core/resolve-id.js';
import type { BaselineBook } from './baselines.js';
import type { BookmarkBook } from './bookmark-book.js';
import type { Chronicle } from './chronicle.js';
import type { DialogBook } from './dialog-book.js';
import type { FileTrail } from './file-trail.js';
import type { Mark, MarkBook } from './mark-book.js';
import type { Telemetry } from './telemetry.js';
import type { Timeline } from './timeline.js';

export interface ChangeBaseDeps {
  readonly run: string;
  readonly marks: MarkBook;
  readonly bookmarks: BookmarkBook;
  readonly baselines: BaselineBook;
  readonly book: DialogBook;
  readonly chronicle: Chronicle;
  readonly timeline: Timeline;
  readonly trail: FileTrail;
  readonly telemetry: Telemetry;
  readonly ledger: Pick<Ledger, 'head'>;
}

/** Where a look begins, and how things were there. */
export interface Base {
  readonly seq: number;
  /** Changes of files noticed by then; undefined: only the ledger can tell what came after. */
  readonly observed?: number | undefined;
  readonly positions: Positions;
  /** What was told of running programs then is forgotten: another daemon heard it. */
  readonly isForgotten?: boolean;
  /** Wall time in ms. */
  readonly at: number;
  /** What endpoints did, where that is to be taken for what they did before. */
  readonly endpoints?: Baseline['endpoints'] | undefined;
  /** What the console said there too. */
  readonly expected?: ReadonlySet<string> | undefined;
}

const ISO =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/u;

/** Points in time by the names that callers give them. */
export class ChangeBases {
  readonly #deps: ChangeBaseDeps;

  constructor(deps: ChangeBaseDeps) {
    this.#deps = deps;
  }

  /** @throws SmithyError MARK_NOT_FOUND, CHECKPOINT_NOT_FOUND, EVENT_NOT_FOUND, AMBIGUOUS_ID */
  resolve(given: string): Base {
    const { marks, bookmarks, baselines, chronicle } = this.#deps;
    const mark = marks.get(given);
    if (mark !== undefined) return this.#atMark(mark);
    const bookmark = bookmarks.get(given);
    if (bookmark !== undefined) return this.#atLine(bookmark.asOf);
    const baseline = baselines.get(given);
    if (baseline !== undefined) return this.#atBaseline(baseline);
    // A date looks like a cursor of the event stream, and people write dates.
    if (ISO.test(given)) return this.#atTime(this.#timeOf(given));
    const cursor = parseChangeCursor(given);
    if (cursor !== undefined) return this.#atGiven(cursor);
    if (readEventId(given) !== undefined) return this.#atLine(chronicle.seq(given));
    if (/^[0-9a-f]{4,40}$/iu.test(given)) return this.#atLine(this.#lineOfCheckpoint(given));
    throw this.#unknown(given);
  }

  atCursor({ run, observed, positions, seq, at }: ChangeCursor): Base {
    if (run === this.#deps.run) return { seq, observed, positions, at };
    const isForgotten = STREAMS.some((name) => positions[name] > 0);
    return { seq, positions: BEGINNING, isForgotten, at };
  }

  /** Where a client was; undefined when that is nowhere in this ledger. */
  atClient(cursor: ChangeCursor): Base | undefined {
    return this.#isBeyond(cursor) ? undefined : this.atCursor(cursor);
  }

  #atGiven(cursor: ChangeCursor): Base {
    if (this.#isBeyond(cursor)) throw beyond();
    // One of the event stream says nothing but the line.
    return cursor.run === '' ? this.#atLine(cursor.seq) : this.atCursor(cursor);
  }

  /** Of another project, or of a ledger that was longer once. */
  #isBeyond({ seq }: ChangeCursor): boolean {
    return seq > this.#deps.ledger.head().seq;
  }

  #timeOf(given: string): number {
    const time = Date.parse(given);
    if (Number.isNaN(time)) throw this.#unknown(given);
    return time;
  }

  /** Before everything that this run has seen. */
  beginning(): Base {
    const { beganAfter: seq, beganAt: at } = this.#deps.trail;
    return { seq, observed: 0, positions: BEGINNING, at };
  }

  #atMark(mark: Mark): Base {
    const cursor = parseChangeCursor(mark.cursor);
    const base = cursor === undefined ? this.#atTime(Date.parse(mark.at)) : this.atCursor(cursor);
    const baseline = mark.baseline === null ? undefined : this.#deps.baselines.get(mark.baseline);
    if (baseline !== undefined) return { ...base, ...expectations(baseline) };
    // Requests of an earlier run are not remembered; the mark knows what came of them.
    return base.isForgotten === true ? { ...base, endpoints: mark.endpoints } : base;
  }

  #atBaseline(baseline: Baseline): Base {
    return { ...this.#atTime(Date.parse(baseline.at)), ...expectations(baseline) };
  }

  /** Right after a line of the ledger, which says more than what was noticed and when. */
  #atLine(seq: number): Base {
    const at = this.#deps.timeline.index.timeOf(seq) ?? 0;
    return { seq, positions: this.#deps.telemetry.positionsAt(at), at };
  }

  #atTime(at: number): Base {
    const { timeline, trail, telemetry } = this.#deps;
    const seq = timeline.index.seqAt(at);
    const base = { seq, positions: telemetry.positionsAt(at), at };
    return at < trail.beganAt ? base : { ...base, observed: trail.observedAt(at) };
  }

  /** Of any dialog: an answer is about the whole project. */
  #lineOfCheckpoint(given: string): number {
    const { book, bookmarks } = this.#deps;
    const known = new Map<string, number>();
    for (const { commit, asOf } of bookmarks.list()) known.set(commit, asOf);
    for (const { id } of book.list())
      for (const { commit, seq } of book.made(id)) known.set(commit, seq);
    const names = this.#names();
    const missing = 'CHECKPOINT_NOT_FOUND';
    return (
      known.get(resolveId({ what: 'checkpoint', given, known: known.keys(), names, missing })) ?? 0
    );
  }

  #names(): string[] {
    const { marks, bookmarks, baselines } = this.#deps;
    const all = [...marks.list(), ...bookmarks.list(), ...baselines.list()];
    return [...new Set(all.map(({ name }) => name))];
  }

  #unknown(given: string): SmithyError {
    const near = nearest(given, this.#names());
    return new SmithyError('MARK_NOT_FOUND', `There is no mark ${given.slice(0, 100)}.`, {
      hint:
        didYouMean(near) ??
        'Name a mark (see `smithyd marks` or list_marks), a bookmark, a checkpoint id, an ISO time or a cursor.',
      data: { id: given, near },
    });
  }
}

function beyond(): SmithyError {
  return new SmithyError('MARK_NOT_FOUND', 'This cursor is of another ledger.', {
    hint: 'Ask without it once, and go on with the cursor of that answer.',
    data: { near: [] },
  });
}

function expectations({ endpoints, errors, warnings }: Baseline) {
  return { endpoints, expected: new Set([...errors, ...warnings]) };
}
