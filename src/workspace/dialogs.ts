import { activeSession, type DialogState } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import type { Ledger } from '../core/ledger.js';
import type { DialogId } from '../core/model.js';
import type { Clock } from '../core/ports.js';
import type { CheckpointStore } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import type { Accounts } from './accounts.js';
import { adopt, unknownVoice } from './adoption.js';
import type { Claims } from './claims.js';
import type { DialogBook } from './dialog-book.js';
import type { EventStream } from './event-stream.js';
import type { Queue } from '../core/queue.js';
import type { Redaction } from './redaction.js';
import { reportProgress } from './progress.js';
import { sightOf, type Saving } from './saving.js';
import { settled } from './settled.js';

export interface DialogDeps {
  readonly book: DialogBook;
  readonly ledger: Pick<Ledger, 'requireSound'>;
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly saving: Saving;
  readonly claims: Claims;
  readonly accounts: Accounts;
  readonly events: EventStream;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly newId: () => DialogId;
  readonly redaction: Pick<Redaction, 'clean'>;
  /** In the same turn, when all is recorded. */
  readonly sessionBegan: (dialog: DialogState) => Promise<void>;
  /** In the same turn, before it is recorded. */
  readonly goes: (dialog: DialogState) => Promise<void>;
}

const FIRST_SESSION = 'session_1';
const DEFAULT_TITLE = 'Untitled dialog';

/** Opening, choosing and deleting dialogs. */
export class Dialogs {
  readonly #deps: DialogDeps;

  constructor(deps: DialogDeps) {
    this.#deps = deps;
  }

  async create(given = DEFAULT_TITLE) {
    // Before its first line becomes that of a commit: half a secret looks like none.
    const { text: title } = this.#deps.redaction.clean(given);
    await settled(this.#deps.watcher);
    const state = await this.#deps.queue.run(() => this.#create(title));
    return {
      dialog_id: state.id,
      title: state.title,
      initial_checkpoint: state.initial,
      active_session: activeSession(state).name,
    };
  }

  /** The dialog a call means; the first call of all makes one. To be used inside the queue. */
  async wanted(given: string | undefined): Promise<DialogState> {
    return this.#deps.book.find(given) ?? (await this.#create(DEFAULT_TITLE));
  }

  /** Of a dialog that is or was; in a turn, because before the ledger is read there is none. */
  idOf(given: string): Promise<string> {
    return this.#deps.queue.share(() => this.#deps.book.idOf(given));
  }

  list() {
    const { book, queue } = this.#deps;
    return queue.run(() => {
      return { dialogs: book.list().map(toIndexEntry), current_dialog_id: book.current };
    });
  }

  use(given: string) {
    return this.#deps.queue.run(async () => {
      const { id } = await this.wanted(given);
      await this.#deps.book.record(id, [{ fact: { what: 'used' } }]);
      return { current_dialog_id: id };
    });
  }

  async remove(given: string) {
    const { book, store, saving, queue } = this.#deps;
    const id = await queue.run(async () => {
      const dialog = await this.wanted(given);
      await this.#deps.goes(dialog);
      // The line first: a deletion cut off after it is finished at the next start.
      await book.record(dialog.id, [{ fact: { what: 'deleted' } }]);
      saving.forget(dialog.id);
      await store.dropOld(dialog.id);
      await store.deleteRepository(dialog.id).catch(unlessGone);
      return dialog.id;
    });
    // Outside the queue: giving a large store's bytes back takes seconds, and checkpoints go on.
    const onProgress = reportProgress(this.#deps, { what: 'delete_dialog', dialog: id });
    const { freedBytes } = await store.prune({ onProgress });
    return { dialog_id: id, freed_bytes: freedBytes };
  }

  async #create(title: string): Promise<DialogState> {
    const { book, ledger, store, saving, claims, accounts, clock, newId } = this.#deps;
    ledger.requireSound();
    const id = newId();
    try {
      await store.createRepository(id);
      const saved = await saving.saveFirst(id, {
        kind: 'initial',
        message: `Initial checkpoint: ${title.split('\n')[0] ?? ''}`,
      });
      const { commit, changed } = saved;
      await store.setBranches(id, [{ name: FIRST_SESSION, to: commit, expected: null }]);
      const line = {
        session: FIRST_SESSION,
        branch: 'main',
        changed,
        ...sightOf(saved),
      };
      const fact = { what: 'created', title, initial: commit } as const;
      const place = { dialog_id: id, session: FIRST_SESSION };
      const adopted = adopt(claims, saved.changes);
      // What the very first checkpoint holds is where everything begins: nobody's change.
      const results = book.list().length === 0 ? [] : adopted.results;
      const lines = await accounts.tell(results, unknownVoice(place, clock));
      await book.record(id, [{ fact, line }], lines);
      adopted.done();
    } catch (error) {
      saving.forget(id);
      await this.#takeBack(id).catch(() => undefined);
      throw error;
    }
    await this.#deps.sessionBegan(book.get(id));
    return book.get(id);
  }

  /** A dialog whose first checkpoint failed must not be there at all. */
  async #takeBack(id: DialogId): Promise<void> {
    const { ledger, store } = this.#deps;
    // Its line may have reached the disk, and would tell of a dialog that is gone: the next start
    // knows, and removes what has no line.
    ledger.requireSound();
    await store.deleteRepository(id);
    // Not waited for: whoever asked gets the reason now, the bytes come back meanwhile.
    store.prune().catch(() => undefined);
  }
}

/** Whoever deletes a dialog whose repository is lost has what they want. */
function unlessGone(error: unknown): void {
  if (!(error instanceof SmithyError) || error.code !== 'DIALOG_NOT_FOUND') throw error;
}

/** An entry of `dialogs/index.json`. */
export function toIndexEntry(state: DialogState) {
  return {
    id: state.id,
    title: state.title,
    created_at: state.createdAt,
    updated_at: state.updatedAt,
    active_session: activeSession(state).name,
    last_approved_at: state.lastApprovedAt,
    initial_checkpoint: state.initial,
  };
}
