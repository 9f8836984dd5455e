import { SmithyError } from '../core/errors.js';
import { blockMembers, type EventBlocks } from '../core/event-blocks.js';
import { eventNotFound, readEventId, type Ledger, type LedgerEntry } from '../core/ledger.js';
import { toPath } from '../core/paths.js';
import type { Queue } from '../core/queue.js';
import type { Blocks } from './blocks.js';
import type { DialogBook } from './dialog-book.js';
import type { EditNote } from './edit-book.js';
import type { FoldBook } from './fold-book.js';
import type { Evaluation } from './remarks.js';
import type { Timeline } from './timeline.js';

export interface ChronicleDeps {
  readonly root: string;
  readonly timeline: Timeline;
  readonly ledger: Pick<Ledger, 'head'>;
  readonly book: DialogBook;
  readonly queue: Queue;
  readonly blocks: Blocks;
  readonly folds: Pick<FoldBook, 'of'>;
}

export interface HistoryRequest {
  readonly file?: string | undefined;
  readonly author?: string | undefined;
  readonly branch?: string | undefined;
  readonly action?: string | undefined;
  readonly dialog?: string | undefined;
  readonly since?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

const DEFAULT_LIMIT = 50;
/** Of one answer: a line that tells of a thousand files has 200 KiB. */
const MOST_BYTES = 4 * 1024 * 1024;
const LONGEST_MESSAGE = 200;

/** What happened, newest first, for whoever asks. */
export class Chronicle {
  readonly #deps: ChronicleDeps;

  constructor(deps: ChronicleDeps) {
    this.#deps = deps;
  }

  async history(request: HistoryRequest) {
    const { timeline, queue, root, blocks, folds, book } = this.#deps;
    // Before the ledger is read there is nothing to find.
    await queue.share(() => undefined);
    const { limit = DEFAULT_LIMIT, file, author, branch, action, before, since } = request;
    const seqs = timeline.index.find({
      ...{ author, branch, action },
      ...(file === undefined ? {} : { file: toPath(file, root) }),
      ...(before === undefined ? {} : { before: this.seq(before) }),
      ...(since === undefined ? {} : this.#from(since)),
      dialog: request.dialog === undefined ? undefined : book.idOf(request.dialog),
      limit: limit + 1,
    });
    const entries = await timeline.entries(seqs.slice(0, limit));
    const derived = await blocks.of(entries);
    const events = withinBytes(
      entries.map((entry) => {
        const run = folds.of(entry.seq);
        const folded = run === undefined ? {} : { folded: run.event };
        return { ...toEvent(entry, derived.get(entry.seq)), ...folded };
      }),
    );
    const last = events.at(-1);
    const isAll = last === undefined || last.seq === seqs.at(-1);
    return { events, ...(isAll ? {} : { next: last.id }) };
  }

  /** @throws SmithyError EVENT_NOT_FOUND */
  seq(given: string): number {
    const seq = readEventId(given);
    if (seq === undefined || seq > this.#deps.ledger.head().seq) throw eventNotFound(given);
    return seq;
  }

  /** After an event, or not before a time. */
  #from(since: string): { readonly after: number } | { readonly since: number } {
    if (since.startsWith('evt-')) return { after: this.seq(since) };
    const time = /^\d{4}-\d\d/u.test(since) ? Date.parse(since) : NaN;
    if (!Number.isNaN(time)) return { since: time };
    throw new SmithyError('INVALID_PARAMS', `"${since}" is neither a time nor an event.`, {
      hint: 'For example 2026-01-31, 2026-01-31T09:00:00Z or evt-000012.',
      data: { issues: [{ path: 'since', message: 'neither a time nor an event' }] },
    });
  }
}

/** A line as others get it: without what only we make something of. */
function toEvent(entry: LedgerEntry, derived: EventBlocks | undefined) {
  const { seq, id, ts, author, action_type, branch, run_id, parent_event_id, files } = entry;
  const { diff_path, affected_lines, semantic_block, rationale, artifacts, snapshot_ref } = entry;
  const { bookmark, dialog_id, session, changes, prev } = entry;
  const note = entry['edit'] as EditNote | undefined;
  const evaluation = entry['eval'] as Evaluation | undefined;
  const message = entry['message'] ?? entry['content'];
  return {
    ...{ seq, id, ts, author, action_type, branch, run_id, parent_event_id, files },
    ...{ diff_path, affected_lines, semantic_block, rationale, artifacts, snapshot_ref },
    ...{ bookmark, dialog_id, session, changes, prev },
    ...(derived === undefined ? {} : blockMembers(derived)),
    ...(typeof entry['by'] === 'string' ? { by: entry['by'] } : {}),
    ...(note === undefined ? {} : { edit_id: note.id }),
    ...(evaluation === undefined ? {} : { eval: evaluation }),
    ...(typeof message === 'string' ? { message: message.slice(0, LONGEST_MESSAGE) } : {}),
  };
}

/** As many as fit, but always one. */
function withinBytes<Event>(events: readonly Event[]): Event[] {
  let room = MOST_BYTES;
  return events.filter((event, at) => {
    room -= JSON.stringify(event).length;
    return at === 0 || room >= 0;
  });
}
