import { OpenEdit } from '../core/edits.js';
import { sameState, type Watcher } from '../core/watching.js';
import type { Claims } from './claims.js';
import type { EditBook } from './edit-book.js';

/** Edits that were open when the daemon ended: theirs is what changed while they were. */
export function reopenEdits(deps: {
  readonly editBook: EditBook;
  readonly claims: Claims;
  readonly watcher: Pick<Watcher, 'get'>;
}): OpenEdit[] {
  const { editBook, claims, watcher } = deps;
  // A start that failed on its way had them open already, and nobody else can have any yet.
  claims.table.clear();
  const records = editBook.open();
  const left = records.map(({ facts, before, touched }) => {
    return new OpenEdit(facts, new Map([...before, ...touched]));
  });
  for (const edit of left) claims.table.open(edit);
  const newest = records.findLast(({ facts }) => facts.scope === 'project');
  if (newest === undefined) return left;
  // What was unexplained may be as it should be by now, and that is its work too.
  const unexplained = claims.known.list().map(({ path }) => path);
  for (const path of new Set([...unexplained, ...newest.begun.keys()])) {
    if (claims.table.claimant(path) !== undefined) continue;
    const found = newest.begun.get(path);
    const before = found === undefined ? claims.known.expected(path) : found;
    if (!sameState(before, watcher.get(path))) claims.table.touch(path, before);
  }
  return left;
}
