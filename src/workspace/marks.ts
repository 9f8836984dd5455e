import { formatChangeCursor } from '../core/changes/change-cursor.js';
import { PINNED, requireMarkName } from '../core/changes/mark-name.js';
import type { DialogState } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import type { CommitId } from '../core/model.js';
import { didYouMean, nearest } from '../core/nearest.js';
import type { Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { Watcher } from '../core/watching.js';
import type { BaselineBook } from './baselines.js';
import type { BookmarkBook } from './bookmark-book.js';
import type { Bookmarks } from './bookmarks.js';
import type { ChangeBases } from './change-bases.js';
import type { Changes, Look } from './changes.js';
import type { Checkpoints } from './checkpoints.js';
import type { DialogBook } from './dialog-book.js';
import type { Dialogs } from './dialogs.js';
import type { Mark, MarkBook, MarkNote } from './mark-book.js';
import { settled } from './settled.js';
import type { Telemetry } from './telemetry.js';

export interface MarkDeps {
  readonly marks: MarkBook;
  readonly bookmarks: Bookmarks;
  readonly bookmarkBook: BookmarkBook;
  readonly baselineBook: BaselineBook;
  readonly bases: ChangeBases;
  readonly changes: Changes;
  readonly checkpoints: Checkpoints;
  readonly dialogs: Dialogs;
  readonly book: DialogBook;
  readonly telemetry: Telemetry;
  readonly watcher: Watcher;
  readonly queue: Queue;
  readonly log: Log;
}

export interface MarkRequest {
  readonly name: string;
  readonly dialog?: string | undefined;
  /** Compare with this baseline whenever somebody asks what happened since. */
  readonly baseline?: string | undefined;
}

/** Marks that somebody set, besides those that stay; the oldest make room. */
const MOST_MARKS = 20;
const MOST_IN_ALL = 100;
/** Of one mark, in the ledger for good: about five KB. */
const MOST_ENDPOINTS = 100;

/** Named points: a checkpoint, a bookmark of it, and a position in everything that can change. */
export class Marks {
  readonly #deps: MarkDeps;

  constructor(deps: MarkDeps) {
    this.#deps = deps;
  }

  async mark({ name, dialog: given, baseline }: MarkRequest) {
    const { bookmarks, baselineBook, checkpoints, dialogs, queue, watcher } = this.#deps;
    requireMarkName(name);
    if (baseline !== undefined) baselineBook.require(baseline);
    await settled(watcher);
    return queue.run(async () => {
      if (!PINNED.includes(name)) bookmarks.requireFree(name);
      const room = this.#room(name);
      const dialog = await dialogs.wanted(given);
      const saved = await checkpoints.save(dialog, {
        kind: 'manual',
        message: `Mark ${name}`,
        always: true,
      });
      const cursor = await this.#set(name, saved.commit, { dialog, baseline });
      for (const oldest of room) await bookmarks.drop(oldest);
      return { name, checkpoint: saved.commit, cursor };
    });
  }

  /** One that sets itself: moved to a checkpoint that was just made. In a turn; never in anybody's way. */
  async moveTo(name: 'session_start' | 'pre_commit', dialog: DialogState, commit: CommitId) {
    try {
      const known = this.#deps.bookmarkBook.get(name);
      // A bookmark of a person that happens to have this name is theirs.
      if (known !== undefined && this.#deps.marks.get(name) === undefined) return;
      await this.#set(name, commit, { dialog });
    } catch (error) {
      this.#deps.log.write('warn', 'a mark could not be set', { mark: name, error: String(error) });
    }
  }

  /** Those that set themselves go with their dialog: nobody asked to keep what they name. In a turn. */
  async leave(dialog: DialogState): Promise<void> {
    const { book, bookmarks, marks } = this.#deps;
    const own = new Set<string>(book.made(dialog.id).map(({ commit }) => commit));
    for (const { name, checkpoint } of marks.list()) {
      if (marks.isAutomatic(name) && own.has(checkpoint)) await bookmarks.drop(name);
    }
  }

  list() {
    return this.#deps.queue.share(() => ({
      marks: this.#deps.marks
        .list()
        .map(({ name, at, checkpoint, severity, summary, ...mark }) => ({
          ...{ name, created_at: at, checkpoint, severity, summary, url: mark.url },
          ...(mark.baseline === null ? {} : { baseline: mark.baseline }),
        })),
    }));
  }

  remove(name: string) {
    return this.#deps.queue.run(async () => {
      const { marks, bookmarks } = this.#deps;
      if (marks.get(name) === undefined) throw notFound(name, marks.list());
      const { event } = await bookmarks.drop(name);
      return { name, event };
    });
  }

  /** How things are since the session began, in few words. */
  async sessionHealth() {
    const { fresh } = await this.#deps.watcher.settle();
    return this.#deps.queue.share(() => this.#health(fresh));
  }

  async #health(fresh: boolean) {
    const { marks, bases, changes, telemetry } = this.#deps;
    const start = marks.get('session_start');
    const base = start === undefined ? bases.beginning() : bases.resolve(start.name);
    const { look, news, severity, summary } = await changes.glance(base);
    const { at } = look.here;
    return {
      severity,
      summary,
      since: start?.name ?? null,
      from: new Date(base.at).toISOString(),
      to: new Date(at).toISOString(),
      duration_ms: Math.max(0, at - base.at),
      ...countsOf(look, news),
      telemetry: telemetry.state(),
      fresh,
    };
  }

  async #set(
    name: string,
    commit: CommitId,
    { dialog, baseline }: { readonly dialog: DialogState; readonly baseline?: string | undefined },
  ): Promise<string> {
    const { bookmarks, changes, telemetry, book } = this.#deps;
    const { severity, summary } = await this.#sinceLast();
    const cursor = formatChangeCursor(changes.here());
    const note: MarkNote = {
      cursor,
      url: telemetry.page(),
      endpoints: telemetry.endpoints.snapshot(MOST_ENDPOINTS),
      severity,
      summary,
      baseline: baseline ?? null,
    };
    const asOf = book.madeAt(dialog.id, commit);
    await bookmarks.set(name, { id: commit, place: { kind: 'commit', commit, asOf } }, note);
    return cursor;
  }

  /** What happened after the mark before this one. */
  #sinceLast() {
    const { marks, bases, changes } = this.#deps;
    const last = marks.list().at(-1);
    return changes.glance(last === undefined ? undefined : bases.resolve(last.name));
  }

  /** Who has to go for one more; nobody when it takes the place of its own. */
  #room(name: string): string[] {
    const { marks } = this.#deps;
    const count = marks.list().length;
    if (count >= MOST_IN_ALL && marks.get(name) === undefined) throw tooMany(count);
    const free = marks.list().filter((mark) => mark.name !== name && !this.#isPinned(mark));
    if (PINNED.includes(name) || free.length < MOST_MARKS) return [];
    return free.slice(0, free.length - MOST_MARKS + 1).map((mark) => mark.name);
  }

  /** Somebody gave its checkpoint a name of their own. */
  #isPinned({ name, checkpoint }: Mark): boolean {
    if (PINNED.includes(name)) return true;
    const { bookmarkBook, marks } = this.#deps;
    return bookmarkBook
      .list()
      .some((one) => one.commit === checkpoint && one.name !== name && !marks.get(one.name));
  }
}

function countsOf({ files = [] }: Look, { console, network, websocket }: Look['news']) {
  return {
    files_changed: files.length,
    unknown_changes: files.filter(({ isUnknown }) => isUnknown).length,
    console_errors: console?.errors.length ?? 0,
    console_warnings: console?.warnings.length ?? 0,
    network_failures: (network?.failures.length ?? 0) + (network?.failingNew.length ?? 0),
    websocket_disconnections: websocket?.disconnections.length ?? 0,
  };
}

function tooMany(count: number): SmithyError {
  return new SmithyError('LIMIT_EXCEEDED', `There are ${count} marks already.`, {
    hint: 'Delete some, or remove the bookmarks that keep them: smithyd bookmark list.',
    data: { limit: 'marks', value: MOST_IN_ALL },
  });
}

function notFound(name: string, all: readonly Mark[]): SmithyError {
  const near = nearest(
    name,
    all.map((mark) => mark.name),
  );
  return new SmithyError('MARK_NOT_FOUND', `There is no mark ${name.slice(0, 100)}.`, {
    hint: didYouMean(near) ?? 'See `smithyd marks` (list_marks).',
    data: { id: name, near },
  });
}
