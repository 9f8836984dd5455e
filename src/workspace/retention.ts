import type { Config } from '../core/config.js';
import { SmithyError } from '../core/errors.js';
import { eventId, type Ledger, type NewEvent } from '../core/ledger.js';
import type { Clock, Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { Run } from '../core/folding.js';
import { fullness, thin, type Thinning } from '../core/retention.js';
import { KEPT, type BranchUpdate, type CheckpointStore } from '../core/store.js';
import type { BookmarkBook } from './bookmark-book.js';
import type { Contents } from './contents.js';
import type { DialogBook } from './dialog-book.js';
import type { EditBook } from './edit-book.js';
import type { EventStream } from './event-stream.js';
import type { FileCheckpoints } from './file-checkpoints.js';
import type { FoldBook } from './fold-book.js';
import type { Age, Folding } from './folding.js';
import type { MarkBook } from './mark-book.js';
import { reportProgress } from './progress.js';
import type { PruneNote, SnapshotBook } from './snapshot-book.js';
import type { Snapshots } from './snapshots.js';
import type { Unrecorded } from './unrecorded.js';

export interface RetentionDeps {
  readonly snapshots: SnapshotBook;
  readonly saved: Pick<Snapshots, 'isInUse'>;
  readonly bookmarks: BookmarkBook;
  readonly marks: Pick<MarkBook, 'isAutomatic'>;
  readonly folds: FoldBook;
  readonly folding: Folding;
  readonly contents: Pick<Contents, 'forget'>;
  readonly fileCheckpoints: Pick<FileCheckpoints, 'cleanup' | 'outdated'>;
  readonly book: DialogBook;
  readonly editBook: Pick<EditBook, 'append'>;
  readonly editsOpen: () => number;
  readonly ledger: Pick<Ledger, 'stats'>;
  readonly store: CheckpointStore;
  readonly unrecorded: Pick<Unrecorded, 'recorded'>;
  readonly events: EventStream;
  readonly config: () => Config;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

export interface Collecting {
  readonly dryRun?: boolean | undefined;
  /** Instead of the setting. */
  readonly foldAfterDays?: number | undefined;
  /** Ends it early; what has gone by then is gone. */
  readonly signal?: AbortSignal | undefined;
}

/** Who asks, and for what. */
interface Asked {
  readonly isUnattended: boolean;
  readonly foldAfterDays?: number | undefined;
}

interface Plan extends Thinning {
  readonly age: Age;
  readonly runs: readonly Run[];
  readonly fileCheckpoints: { readonly removed: readonly string[]; readonly kept: number };
}

/** Ids in one line of the ledger. */
const MOST_IN_A_LINE = 1_000;

/**
 * What is thrown away, and the space it took. Everything else stays: lines, checkpoints, sessions
 * of any kind, what has a name, and every content that a line speaks of unless it is folded.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  readonly #stop = new AbortController();

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  async gc({ dryRun = false, foldAfterDays, signal }: Collecting) {
    const { queue, store, folding } = this.#deps;
    const how = this.#pruning(signal);
    how.signal.throwIfAborted();
    const told = await queue.run(async () => {
      const plan = this.plan({ isUnattended: false, foldAfterDays });
      const kept = this.#kept(plan);
      if (!dryRun) await this.#carryOut(plan);
      return { plan, kept };
    });
    const { runs, age } = told.plan;
    const folded = dryRun ? runs : await folding.carryOut(runs, age, how.signal);
    const removed = {
      snapshots: told.plan.go.map(({ id }) => id),
      file_checkpoints: [...told.plan.fileCheckpoints.removed],
      folded: folded.map(toAnswer),
    };
    const names = [...removed.snapshots, ...removed.file_checkpoints];
    const freedBytes = dryRun
      ? (await store.prunable({ names, runs }, how)).freedBytes
      : await this.prune(signal);
    const bytes = store.sizes().bytes - (dryRun ? freedBytes : 0);
    const { limitBytes } = this.#deps.config().store;
    return {
      dry_run: dryRun,
      freed_bytes: freedBytes,
      removed,
      kept: {
        ...told.kept,
        store_bytes: bytes,
        limit_bytes: limitBytes,
        over_limit_bytes: Math.max(0, bytes - limitBytes),
      },
      warnings: [fullness(bytes, limitBytes)].filter((one) => one !== undefined),
    };
  }

  /** What would go now; in a turn of the queue. */
  plan({ isUnattended, foldAfterDays }: Asked): Plan {
    const { snapshots, bookmarks, saved, config, fileCheckpoints, folding } = this.#deps;
    const named = new Set(bookmarks.list().flatMap(({ id, commit }) => [id, commit]));
    const thinning = thin(snapshots.list(), config().snapshots, {
      isBookmarked: ({ id, commit }) => named.has(id) || named.has(commit),
      isInUse: ({ id }) => saved.isInUse(id),
      isUnattended,
    });
    const gone = new Set(thinning.go);
    const left = snapshots.list().filter((snapshot) => !gone.has(snapshot));
    const days = foldAfterDays ?? config().snapshots.foldAfterDays ?? undefined;
    const age = { snapshots: left, days };
    const runs = folding.plan(age);
    return { ...thinning, age, runs, fileCheckpoints: fileCheckpoints.outdated() };
  }

  /** In a turn of the queue. */
  async thinOut(plan: Plan): Promise<void> {
    await this.#carryOut(plan);
    this.#deps.log.write('info', 'snapshots were thinned out', { removed: plan.go.length });
  }

  /** Outside the queue: each run has a turn of its own. */
  async fold({ runs, age }: Plan): Promise<void> {
    await this.#deps.folding.carryOut(runs, age, this.#stop.signal);
  }

  /** Gives the space back and writes that down. Outside the queue: checkpoints go on. */
  async prune(signal?: AbortSignal): Promise<number> {
    const { store, queue, snapshots, folds, contents } = this.#deps;
    const { freedBytes } = await store.prune(this.#pruning(signal));
    contents.forget();
    if (freedBytes === 0 && snapshots.past.thinned === 0 && folds.due().length === 0) return 0;
    const pruned: PruneNote = { freed_bytes: freedBytes, store_bytes: store.sizes().bytes };
    await queue.run(() => this.#record(`Freed ${freedBytes} bytes`, { pruned }));
    return freedBytes;
  }

  /** To be called when the ledger was read: branches that a cut-off thinning left go. */
  async open(): Promise<void> {
    await this.#dropBranches();
  }

  close(): void {
    this.#stop.abort(
      new SmithyError('SHUTTING_DOWN', 'The daemon stops; nothing needed was removed.', {
        hint: 'Call again in a moment; a new daemon starts on demand.',
        data: { retry_after_ms: 500 },
      }),
    );
  }

  /** The lines first: a branch without one is dropped later, one that is gone too early is lost. */
  async #carryOut({ go, fileCheckpoints }: Plan): Promise<void> {
    const ids = go.map(({ id }) => id);
    for (let at = 0; at < ids.length; at += MOST_IN_A_LINE) {
      const thinned = ids.slice(at, at + MOST_IN_A_LINE);
      await this.#record(`Thinned out ${thinned.length} snapshots`, { thinned });
    }
    await this.#dropBranches();
    if (fileCheckpoints.removed.length > 0) this.#deps.fileCheckpoints.cleanup(undefined);
  }

  async #record(message: string, more: object): Promise<void> {
    const { editBook, snapshots, folds, clock, version } = this.#deps;
    const line: NewEvent = {
      ts: new Date(clock.now()).toISOString(),
      author: { name: 'smithyd', version, kind: 'daemon' },
      action_type: 'meta_note',
      message,
      ...more,
    };
    for (const entry of await editBook.append([line])) {
      snapshots.fold(entry);
      folds.fold(entry);
    }
  }

  async #dropBranches(): Promise<void> {
    const { store, snapshots, unrecorded } = this.#deps;
    const gone = snapshots.gone();
    const updates: BranchUpdate[] = [...(await store.branches(KEPT))]
      .filter(([name]) => gone.has(name))
      .map(([name, expected]) => ({ name, to: null, expected }));
    if (updates.length === 0) return;
    await store.setBranches(KEPT, updates);
    unrecorded.recorded(KEPT);
  }

  #kept({ stay, fileCheckpoints }: Plan) {
    const { book, bookmarks, marks, ledger, editsOpen } = this.#deps;
    const dialogs = book.list();
    const sessions = { active: 0, merged: 0, abandoned: 0 };
    for (const { status } of dialogs.flatMap((dialog) => dialog.sessions)) sessions[status] += 1;
    return {
      events: ledger.stats().events,
      dialogs: dialogs.length,
      sessions,
      checkpoints: dialogs.reduce((sum, { id }) => sum + book.made(id).length, 0),
      snapshots: { ...stay },
      bookmarks: bookmarks.list().filter(({ name }) => !marks.isAutomatic(name)).length,
      file_checkpoints: fileCheckpoints.kept,
      edits_open: editsOpen(),
    };
  }

  #pruning(signal: AbortSignal | undefined) {
    const stop = this.#stop.signal;
    const either = signal === undefined ? stop : AbortSignal.any([stop, signal]);
    return { onProgress: reportProgress(this.#deps, { what: 'gc' }), signal: either };
  }
}

/** Of a run that is only planned there is no line yet. */
function toAnswer({ after, before, from, to, events, ...rest }: Run & { readonly event?: string }) {
  const { event } = rest;
  const span = { first: eventId(after + 1), last: eventId(before - 1) };
  return { ...(event === undefined ? {} : { event }), from, to, ...span, events };
}
