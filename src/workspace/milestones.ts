import type { Derived } from '../core/derived.js';
import type { Span } from '../core/edits.js';
import { SmithyError } from '../core/errors.js';
import { toResults, type FileResult } from '../core/file-results.js';
import type { Stretch } from '../core/folding.js';
import {
  eventId,
  eventNotFound,
  readEventId,
  type Ledger,
  type LedgerEntry,
} from '../core/ledger.js';
import type { Hash, Path } from '../core/model.js';
import { resolveId } from '../core/resolve-id.js';
import { sameState } from '../core/watching.js';
import { placeOf } from './adoption.js';
import { toEditedFile } from './edit-answer.js';
import type { EditNote } from './edit-book.js';
import type { EditDeps } from './edit-deps.js';
import { toState } from './explained.js';
import { replay } from './replay.js';

/** A named span of edits, as its ledger line tells it. */
interface Milestone {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  /** Lines after the first position and up to the second one. */
  readonly after: number;
  readonly upTo: number;
  readonly created_at: string;
}

export interface MilestoneRequest {
  readonly title: string;
  readonly description?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface MilestoneDeps extends EditDeps {
  readonly ledger: Ledger;
  readonly version: string;
}

/** Chapters of the work: what a few edits together came to. */
export class Milestones implements Derived {
  readonly name = 'milestones';
  readonly form = 1;
  readonly #deps: MilestoneDeps;
  readonly #known = new Map<string, Milestone>();

  constructor(deps: MilestoneDeps) {
    this.#deps = deps;
  }

  reset(): void {
    this.#known.clear();
  }

  save(): unknown[] {
    return [...this.#known.values()];
  }

  load(piece: unknown): void {
    const milestone = piece as Milestone;
    this.#known.set(milestone.id, milestone);
  }

  fold(entry: LedgerEntry): void {
    const milestone = entry['milestone'] as Omit<Milestone, 'id' | 'created_at'> | undefined;
    if (milestone === undefined) return;
    this.#known.set(entry.id, { ...milestone, id: entry.id, created_at: entry.ts });
  }

  /** The lines that they tell of. */
  spans(): Stretch[] {
    return [...this.#known.values()].map(({ after, upTo }) => ({ after, before: upTo + 1 }));
  }

  add(request: MilestoneRequest) {
    const { ledger, queue, clock, book, version } = this.#deps;
    return queue.share(async () => {
      const { title, description = null, tags = [] } = request;
      const last = [...this.#known.values()].at(-1);
      const after = request.from === undefined ? (last?.upTo ?? 0) : this.#seq(request.from) - 1;
      const upTo = request.to === undefined ? ledger.head().seq : this.#seq(request.to);
      if (upTo < after) throw backwards();
      const dialog = book.find(undefined);
      const [entry] = await ledger.append([
        {
          ts: new Date(clock.now()).toISOString(),
          author: { name: 'smithyd', version, kind: 'daemon' },
          action_type: 'milestone',
          ...(dialog === undefined ? {} : placeOf(dialog)),
          rationale: title,
          milestone: { title, description, tags, after, upTo },
        },
      ]);
      if (entry === undefined) throw new Error('a milestone left no line');
      this.fold(entry);
      return this.#describe(entry.id);
    });
  }

  list() {
    return this.#deps.queue.share(() => {
      return { milestones: [...this.#known.values()].map(toListed) };
    });
  }

  show(given: string) {
    return this.#deps.queue.share(() => {
      const known = this.#known.keys();
      return this.#describe(
        resolveId({ what: 'milestone', given, known, missing: 'EVENT_NOT_FOUND' }),
      );
    });
  }

  async #describe(id: string) {
    const milestone = this.#known.get(id);
    if (milestone === undefined) throw new Error(`milestone ${id} is not there`);
    const { spans, edits, events } = await this.#span(milestone);
    const results = toResults(spans);
    const accounts = await this.#deps.accounts.describe(results);
    const files = accounts.map(toEditedFile);
    const gone = await this.#gone(results);
    const sum = (of: 'additions' | 'deletions') => files.reduce((all, file) => all + file[of], 0);
    return {
      ...toListed(milestone),
      totals: {
        files: files.length,
        additions: sum('additions'),
        deletions: sum('deletions'),
        edits,
        events,
      },
      files: files.map(({ diff: _diff, ...file }) => file),
      ...(gone.length === 0 ? {} : { gone }),
      diff: files.map(({ diff = '' }) => diff).join(''),
    };
  }

  /** Those whose lines cannot be told any more. */
  async #gone(results: readonly FileResult[]): Promise<Path[]> {
    const { store, watcher } = this.#deps;
    const hashesOf = ({ before, after }: FileResult): Hash[] =>
      [before, after].flatMap((state) => state?.hash ?? []);
    const has = await store.has(results.flatMap(hashesOf));
    return results
      .filter((result) => {
        const onDisk = watcher.get(result.path)?.hash;
        return hashesOf(result).some((hash) => !has.has(hash) && hash !== onDisk);
      })
      .map(({ path }) => path);
  }

  /** For each path what it was first and what it became last; what cancels out is no change. */
  async #span({ after, upTo }: Milestone) {
    const spans = new Map<Path, Span>();
    const edits = new Set<string>();
    let events = 0;
    await replay(
      this.#deps.ledger,
      (entry) => {
        if (entry.seq > upTo) return false;
        if (entry['by'] === undefined || entry['noted'] === true) return true;
        if (entry.changes.length > 0) events += 1;
        const note = entry['edit'] as EditNote | undefined;
        if (note !== undefined) edits.add(note.id);
        for (const change of entry.changes) {
          const path = change.path as Path;
          const before = toState(change.before, change.mode_before);
          const first = spans.get(path);
          const state = toState(change.after, change.mode_after);
          spans.set(path, {
            path,
            before: first === undefined ? before : first.before,
            after: state,
          });
        }
        return true;
      },
      after,
    );
    const changed = [...spans.values()].filter((span) => !sameState(span.before, span.after));
    return { spans: changed, edits: edits.size, events };
  }

  /** The position of an event, or of the last line of an edit. */
  #seq(given: string): number {
    const { ledger, editBook } = this.#deps;
    const seq = readEventId(given);
    if (seq === undefined) return editBook.find(given).lines.at(-1) ?? 0;
    if (seq <= ledger.head().seq) return seq;
    throw eventNotFound(given);
  }
}

function toListed({ id, title, description, tags, after, upTo, created_at: at }: Milestone) {
  return {
    id,
    title,
    description,
    tags: [...tags],
    from: eventId(after + 1),
    to: eventId(upTo),
    created_at: at,
  };
}

function backwards(): SmithyError {
  return new SmithyError('INVALID_PARAMS', 'A milestone cannot end before it begins.', {
    hint: 'Give `from` before `to`.',
    data: { issues: [{ path: 'to', message: 'before from' }] },
  });
}
