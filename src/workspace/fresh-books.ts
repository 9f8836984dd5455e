import type { Ledger } from '../core/ledger.js';
import { BaselineBook } from './baselines.js';
import { BookmarkBook } from './bookmark-book.js';
import { DialogBook, type BookDeps } from './dialog-book.js';
import { EditBook } from './edit-book.js';
import { ExplainedSince } from './explained.js';
import { FoldBook } from './fold-book.js';
import { MarkBook } from './mark-book.js';
import { Milestones } from './milestones.js';
import { Sights } from './sights.js';
import { SnapshotBook } from './snapshot-book.js';
import { SnapshotWatch } from './snapshot-watch.js';
import { Timeline } from './timeline.js';

interface Ingredients {
  readonly ledger: Ledger;
  readonly bookDeps: BookDeps;
  readonly editBook: ConstructorParameters<typeof EditBook>[0];
  readonly named: ConstructorParameters<typeof Milestones>[0];
  readonly watching: ConstructorParameters<typeof SnapshotWatch>[0];
}

/** Everything that is made from the lines of the ledger, as of before the first of them; in the order of `history`. */
export function freshBooks({ ledger, bookDeps, editBook, named, watching }: Ingredients) {
  const timeline = new Timeline(ledger);
  const books = [new DialogBook(bookDeps), new EditBook(editBook)];
  const names = [new Milestones(named), new BookmarkBook()];
  const seen = [new ExplainedSince(), new Sights()];
  const shots = [new SnapshotBook(), new SnapshotWatch(watching)];
  const marks = [new MarkBook(), new BaselineBook(), new FoldBook()];
  return {
    index: timeline.index,
    all: [timeline, ...books, ...names, ...seen, ...shots, ...marks],
  };
}
