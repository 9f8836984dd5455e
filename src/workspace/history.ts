import type { DialogState } from '../core/dialogs.js';
import type { Ledger, LedgerEntry } from '../core/ledger.js';
import { createQueue, type Queue } from '../core/queue.js';
import { type Account } from './account-lines.js';
import { Accounts } from './accounts.js';
import { BaselineBook } from './baselines.js';
import { Blame } from './blame.js';
import { Blocks } from './blocks.js';
import { BookmarkBook } from './bookmark-book.js';
import { Bookmarks } from './bookmarks.js';
import { Checkpoints } from './checkpoints.js';
import { Chronicle } from './chronicle.js';
import { Claims } from './claims.js';
import { createCollecting } from './collecting.js';
import { Contents } from './contents.js';
import type { WorkspaceDeps } from './deps.js';
import { DialogBook, type BookDeps } from './dialog-book.js';
import { Dialogs } from './dialogs.js';
import { Diffs } from './diffs.js';
import { EditBook } from './edit-book.js';
import { Edits } from './edits.js';
import { Examination } from './examination.js';
import { DerivedState } from './derived-state.js';
import { ExplainedSince } from './explained.js';
import { FileCheckpoints } from './file-checkpoints.js';
import { FileTrail } from './file-trail.js';
import { FoldBook } from './fold-book.js';
import { freshBooks } from './fresh-books.js';
import { Goals } from './goals.js';
import { countingFreed, reportRecorded } from './metrics.js';
import { createLeaving } from './left-edits.js';
import { createLooking } from './looking.js';
import { MarkBook } from './mark-book.js';
import { createMending } from './mending.js';
import { Milestones } from './milestones.js';
import { createOpening, StartReport } from './opening.js';
import { Patches } from './patches.js';
import { holdingOf } from './pins.js';
import { Places } from './places.js';
import { Present } from './present.js';
import { Projection } from './projection.js';
import { Readiness } from './readiness.js';
import { Remarks } from './remarks.js';
import { Restores } from './restores.js';
import { Rewinds } from './rewinds.js';
import { Saving } from './saving.js';
import { Sessions } from './sessions.js';
import { Showing } from './showing.js';
import { Sights } from './sights.js';
import { SnapshotBook } from './snapshot-book.js';
import { SnapshotTransfers } from './snapshot-transfers.js';
import { SnapshotWatch } from './snapshot-watch.js';
import { Snapshots } from './snapshots.js';
import { Timeline } from './timeline.js';
import { createTidying } from './tidying.js';
import { Unknown } from './unknown.js';
import { Unrecorded } from './unrecorded.js';
import { Verification } from './verification.js';

/** Everything about saving, editing and going back, put together. */
export function createHistory(given: WorkspaceDeps) {
  const timeline = new Timeline(given.ledger);
  const explained = new ExplainedSince();
  const sights = new Sights();
  const append: Ledger['append'] = async (events) => {
    // A line that names a commit is told when the branch lasts as well.
    const written = timeline.append(sights.withNews(events));
    const [entries] = await Promise.all([written, given.store.lasting()]);
    for (const entry of entries) for (const one of [explained, sights]) one.fold(entry);
    derived.wake();
    // Nobody who waits for the line waits for the log as well.
    setImmediate(() => reportRecorded(given, entries));
    patches.follower.wake();
    blocks.follower.wake();
    for (const entry of entries) {
      snapshotWatch.fold(entry);
      looking.recorded(entry);
    }
    snapshotWatch.wake();
    retentionWatch.wake();
    return entries;
  };
  const ledger: Ledger = { ...given.ledger, append };
  const deps = { ...given, ledger, store: countingFreed(given.store, given.metrics) };
  const { watcher, identity, clock, log } = deps;
  const report = new StartReport();
  const unrecorded = new Unrecorded(deps.store);
  const store = unrecorded.watched();
  const config = () => deps.settings.config();
  const contents = new Contents(store, deps.files);
  const tidy = createTidying(store, log);
  const folds = new FoldBook();
  const isFolded = (seq: number) => folds.of(seq) !== undefined;
  const accounts = new Accounts({ ...deps, contents, store, tidy, isFolded });
  const calm = (): Promise<void> => turns.calm();
  const blocks = new Blocks({ ...deps, accounts, contents, calm });
  const patched = (bytes: number) => snapshotWatch.patched(bytes);
  const patches = new Patches({ ...deps, accounts, isFolded, patched, calm });
  const claims = new Claims(watcher, config);
  const told = deps.events.tell;
  const editBook = new EditBook({ ledger, clock, told });
  const projection = new Projection({ ...deps, timeline, accounts });
  const bookDeps: BookDeps = {
    ledger,
    clock,
    version: identity.version,
    underWay: () => claims.underWay(),
    recorded: (told, dialog, lines) => {
      unrecorded.recorded(dialog);
      projection.recorded(told, dialog, lines);
    },
    alsoRecorded: (entries) => entries.forEach((entry) => editBook.fold(entry)),
    told,
  };
  const book = new DialogBook(bookDeps);
  deps.events.describeWith(async (entry) => {
    const diff = await accounts.diffOf(entry);
    return diff === null ? {} : { diff };
  });
  const saving = new Saving({ ...deps, store, contents });
  const readiness = new Readiness({ ...deps, book, saving, calm });
  const present = new Present(store, saving);
  const turns = createQueue();
  // The verbs are made with the queue that mends after them, so it comes to be in two steps.
  const queue: Queue = { ...turns, run: (turn) => mended.run(turn) };
  const snapshotBook = new SnapshotBook();
  const shared = {
    ...deps,
    ...{ store, root: identity.root, config, contents, accounts, claims, editBook },
    ...{ book, saving, present, queue, sights, timeline, folds },
  };
  const sessionBegan = (dialog: DialogState) =>
    looking.marks.moveTo('session_start', dialog, dialog.tip);
  const dialogs = new Dialogs({
    ...{ ...shared, newId: deps.newDialogId, sessionBegan },
    goes: (dialog) => looking.marks.leave(dialog),
  });
  const checkpoints = new Checkpoints({
    ...shared,
    dialogs,
    findMessage: (dialog, id) => projection.findMessage(book, dialog, id),
    marked: (name, dialog, commit) => looking.marks.moveTo(name, dialog, commit),
    tidy,
  });
  const chronicle = new Chronicle({ ...shared, blocks });
  const bookmarkBook = new BookmarkBook();
  const places = new Places({
    ...{ ...shared, bookmarks: bookmarkBook, snapshots: snapshotBook, chronicle },
  });
  const goals = new Goals({ ...shared, places });
  const diffs = new Diffs({ ...shared, dialogs, places });
  const showing = new Showing({ ...shared, dialogs, places });
  const edited = (entries: readonly LedgerEntry[], told: readonly Account[]) =>
    projection.edited(book, entries, told);
  const edits = new Edits({
    ...shared,
    dialogs,
    unsaved: (dialog) => saving.pending(book.get(dialog)),
    edited,
  });
  const leaving = createLeaving({ ...shared, edits, edited });
  const unknown = new Unknown(shared);
  const restores = new Restores({
    ...shared,
    dialogs,
    checkpoints,
    goals,
    requireFree: (paths) => edits.requireFree(paths),
    isEdited: () => edits.open > 0,
  });
  const sessions = new Sessions({
    ...{ ...shared, dialogs, checkpoints, diffs, restores, sessionBegan },
  });
  const moving = { ...shared, dialogs, checkpoints, places, goals, unrecorded };
  const rewinds = new Rewinds({ ...moving, restores, sessionBegan });
  const { version } = identity;
  const [markBook, baselineBook] = [new MarkBook(), new BaselineBook()];
  const books = { bookmarks: bookmarkBook, snapshots: snapshotBook, marks: markBook };
  const bookmarks = new Bookmarks({ ...moving, ...books, version });
  const snapshots = new Snapshots({ ...moving, ...books, version });
  const carried = { ...moving, ...books, saved: snapshots, version };
  const transfers = new SnapshotTransfers(carried);
  const watching = { ...shared, snapshots, rhythm: () => config().snapshots };
  const snapshotWatch = new SnapshotWatch(watching);
  const looking = createLooking({
    ...{ ...shared, dialogs, checkpoints, chronicle, bookmarks, version },
    books: { ...books, baselines: baselineBook },
    trail: new FileTrail(ledger.head().seq, clock.now()),
  });
  const remarks = new Remarks({ ...shared, version });
  const blame = new Blame(shared);
  const named = { ...shared, version };
  const milestones = new Milestones(named);
  const fileCheckpoints = new FileCheckpoints({
    ...shared,
    newId: deps.newEditId,
    unsavedNow: async () => {
      const dialog = book.find(undefined);
      return dialog === undefined ? [] : (await saving.pending(dialog)).map(({ path }) => path);
    },
  });
  deps.holdBy(holdingOf({ folds, claims, editBook, watcher }));
  const { folding, retention, retentionWatch } = createCollecting({
    ...{ ...carried, fileCheckpoints, milestones, patches, projection },
    editsOpen: () => edits.open,
  });
  const derived = new DerivedState({
    ...deps,
    ...{ turns, index: timeline.index, version: identity.version },
    files: deps.derived,
    all: [
      ...[timeline, book, editBook, milestones, bookmarkBook, explained, sights],
      ...[snapshotBook, snapshotWatch, markBook, baselineBook, folds],
    ],
    fresh: () =>
      freshBooks({ ledger, bookDeps, editBook: { ledger, clock, told }, named, watching }),
    progress: (percent) => {
      report.unread = `what was saved is still being read: ${percent} %`;
      deps.events.publish({ type: 'progress', what: 'history', step: 'ledger', percent });
    },
    tell: (sentence) => report.tell(sentence),
  });
  const examined = { ...shared, derived, patches, projection, bookmarks };
  const examination = new Examination({
    ...examined,
    unread: () => report.unread,
    warnings: () => report.notMigrated,
  });
  const verification = new Verification({ ...examined, examination });
  const mended = createMending({ unrecorded, saving, restores, log })(turns);

  const opening = createOpening(
    {
      ...{ ...examined, restores, sessions, rewinds, goals, explained, turns, leaving },
      ...{ folding, retention, blocks, snapshotWatch, retentionWatch, readiness },
      // What it moves is to stay, with or without a line.
      store: deps.store,
    },
    report,
  );

  // Right after the turn that found out.
  deps.onJournalDue(() => void projection.keepUp(book, turns));

  return {
    /** What the start found cut off, and what became of it. */
    recovered: report.recovered as readonly string[],
    ...{ book, dialogs, checkpoints, diffs, edits, unknown, restores, sessions, blame, claims },
    ...{ milestones, fileCheckpoints, examination, verification, chronicle, showing },
    ...{ bookmarks, rewinds, remarks, snapshots, transfers, retention, looking },

    eventsSinceSnapshot: () => timeline.sinceSnapshot(),

    /** What cannot be read, or be taken over from an older program, one sentence each. */
    warnings: (): readonly string[] => [
      ...(report.failure === undefined ? [] : [report.failure]),
      ...report.notMigrated,
      ...looking.noise.warnings(),
    ],

    /** Reads the ledger and mends what a crash left. Verbs may be called when it is done. */
    open: (): Promise<void> => queue.open(opening),

    /** Once nobody calls any more. */
    putAside: (): Promise<void> => derived.close(),

    /** `isKept`: what others read and the next daemon wants is written down once more. */
    close: async (isKept: boolean): Promise<void> => {
      edits.close();
      await readiness.close();
      if (isKept) looking.close();
      snapshotWatch.close();
      retentionWatch.close();
      retention.close();
      projection.close(book, isKept);
      await patches.follower.close();
      await blocks.close();
    },
  };
}
