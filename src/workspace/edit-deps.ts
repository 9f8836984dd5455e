import type { Config } from '../core/config.js';
import { activeSession } from '../core/dialogs.js';
import { authorOf, byOf, type EditFacts } from '../core/edits.js';
import { SmithyError } from '../core/errors.js';
import type { Path } from '../core/model.js';
import type { Clock, Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { CheckpointStore } from '../core/store.js';
import type { TextDiff } from '../core/text-diff.js';
import type { TreeWriter } from '../core/tree-writer.js';
import type { Watcher } from '../core/watching.js';
import type { Voice } from './account-lines.js';
import type { Accounts } from './accounts.js';
import type { Claims } from './claims.js';
import type { Contents } from './contents.js';
import type { DialogBook } from './dialog-book.js';
import type { EditBook } from './edit-book.js';
import type { EventStream } from './event-stream.js';
import { settled } from './settled.js';

/** What every part of the edit protocol works with. */
export interface EditDeps {
  readonly root: string;
  readonly clock: Clock;
  readonly config: () => Config;
  readonly watcher: Watcher;
  readonly files: TreeWriter;
  readonly store: CheckpointStore;
  readonly text: TextDiff;
  readonly contents: Contents;
  readonly accounts: Accounts;
  readonly claims: Claims;
  readonly book: DialogBook;
  readonly editBook: EditBook;
  readonly events: EventStream;
  readonly queue: Queue;
  readonly log: Log;
}

export function voiceOf(
  { clock, book }: Pick<EditDeps, 'clock' | 'book'>,
  facts: EditFacts,
): Voice {
  const dialog = book.list().find(({ id }) => id === facts.dialog);
  return {
    by: byOf(facts),
    author: authorOf(facts),
    ts: new Date(clock.now()).toISOString(),
    dialog_id: facts.dialog,
    session: dialog === undefined ? null : activeSession(dialog).name,
    rationale: facts.rationale,
    run_id: facts.runId,
  };
}

/** Larger than anything that is saved; told without reading it. */
export async function isTooLarge(
  { files, config }: Pick<EditDeps, 'files' | 'config'>,
  path: Path,
): Promise<boolean> {
  const content = await files.reading((read) => read(path));
  if (content === null) return false;
  const size = 'chunks' in content ? content.size : content.length;
  return size > config().maxFileBytes;
}

const MOST_ATTEMPTS = 5;

/**
 * Runs a turn in which files are read after everything that ended before is known. When one of
 * them changes under its hands, it knows again and tries again. What writes into the tree where no
 * edit holds it needs a turn alone (`run`): beside it, an edit could begin with what it replaces.
 */
export async function steadily<T>(
  { watcher, queue }: Pick<EditDeps, 'watcher' | 'queue'>,
  turn: () => Promise<T>,
  kind: 'share' | 'run' = 'share',
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await settled(watcher);
    try {
      return await queue[kind](turn);
    } catch (error) {
      const path = movingPath(error);
      if (path === undefined) throw error;
      if (attempt === MOST_ATTEMPTS) throw keepsChanging(path);
    }
  }
}

function movingPath(error: unknown): string | undefined {
  if (!(error instanceof SmithyError) || error.code !== 'STALE_READ') return undefined;
  const { path } = error.data;
  return typeof path === 'string' ? path : undefined;
}

function keepsChanging(path: string): SmithyError {
  return new SmithyError('BUSY', `${path} keeps changing while it is read.`, {
    hint: 'Call again when whoever writes it is done.',
    data: { path, retry_after_ms: 500 },
  });
}
