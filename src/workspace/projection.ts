import {
  applyFact,
  createDialogState,
  type DialogFact,
  type DialogState,
} from '../core/dialogs.js';
import type { Journal, JournalFacts, NewJournalMessage } from '../core/journal.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { DialogId } from '../core/model.js';
import type { DamagedFile, Log, SmallFile } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { Account } from './account-lines.js';
import type { Accounts } from './accounts.js';
import { FACT_ACTIONS, type DialogBook, type Told } from './dialog-book.js';
import { toIndexEntry } from './dialogs.js';
import { factsOf, fileEditOf, isFileEdit, messageOf } from './journal-facts.js';
import type { Timeline } from './timeline.js';

export interface ProjectionDeps {
  readonly timeline: Timeline;
  readonly journal: Journal;
  /** `dialogs/index.json`. */
  readonly index: SmallFile;
  /** `metadata.json` of a dialog. */
  readonly metadata: (dialog: DialogId) => SmallFile;
  readonly log: Log;
  /** For the text of an edit, made again from the contents. */
  readonly accounts: Pick<Accounts, 'diffOf'>;
}

/** Runs a turn; whoever is in one already runs it at once. */
export type InTurn = (turn: () => Promise<boolean>) => Promise<boolean>;

const PAGE = 500;
/** `updated_at` may lag this much behind in the file; a checkpoint must not wait for it. */
const INDEX_MS = 1_000;
/** A journal that cannot be rebuilt is tried again soon; for want of room, less and less often. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 30_000;
/** A dialog at work writes lines meanwhile; after so many looks it waits for us. */
const MOST_LOOKS = 3;

/** Files for others to read, made from the ledger and made again whenever they are lost. */
export class Projection {
  readonly #deps: ProjectionDeps;
  #indexDue: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(deps: ProjectionDeps) {
    this.#deps = deps;
  }

  /** To be called after facts were recorded. */
  recorded(book: DialogBook, dialog: DialogId, { entries, after }: Told): void {
    const isStructural = entries.some(
      ({ action_type: type }) => type === 'dialog' || type === 'session' || type === 'rewind',
    );
    if (isStructural) this.writeIndex(book);
    else this.#indexDue ??= setTimeout(() => this.writeIndex(book), INDEX_MS).unref();
    const state = book.list().find(({ id }) => id === dialog);
    if (state === undefined) {
      this.#deps.journal.forget(dialog);
      return;
    }
    if (isStructural) this.#writeMetadata(state);
    let before = after;
    for (const entry of entries) {
      this.#deps.journal.project(dialog, { ...factsOf(state, entry), after: before });
      before = entry.seq;
    }
  }

  /** To be called after an edit was recorded: one row for each file it changed. */
  edited(book: DialogBook, entries: readonly LedgerEntry[], accounts: readonly Account[]): void {
    for (const entry of entries.filter(isFileEdit)) {
      const dialog = entry.dialog_id as DialogId;
      const state = book.list().find(({ id }) => id === dialog);
      if (state === undefined) continue;
      const after = book.lastSeq(dialog);
      book.fold(entry);
      const path = entry.files.at(-1);
      const diff = accounts.find((account) => account.path === path)?.diff ?? null;
      const { seq, ts } = entry;
      const fileEdits = [fileEditOf(state, entry, diff)];
      this.#deps.journal.project(dialog, { seq, at: ts, after, fileEdits });
    }
  }

  /** Small files that are not what the ledger says. `updated_at` may lag behind. */
  differing(book: DialogBook): { files: number; damaged: DamagedFile[] } {
    const { index, metadata } = this.#deps;
    const dialogs = book.list();
    const due = new Map<string, readonly [SmallFile, object]>([
      ['dialogs/index.json', [index, indexOf(book)]],
      ...dialogs.map((state) => {
        const file = `dialogs/${state.id}/checkpoints/metadata.json`;
        return [file, [metadata(state.id), metadataOf(state)]] as const;
      }),
    ]);
    const damaged = [...due]
      .filter(([, [file, content]]) => file.isThere() && lasting(file.read()) !== lasting(content))
      .map(([file]) => ({ file, detail: 'it is not what the ledger says' }));
    return { files: due.size, damaged };
  }

  /** Beside the repository, for people who look at it with git alone. */
  #writeMetadata(state: DialogState): void {
    try {
      this.#deps.metadata(state.id).write(metadataOf(state));
    } catch (error) {
      this.#deps.log.write('warn', 'metadata.json could not be written', { error: String(error) });
    }
  }

  close(book: DialogBook, isKept: boolean): void {
    clearTimeout(this.#indexDue);
    clearTimeout(this.#retry);
    if (isKept) this.writeIndex(book);
  }

  writeIndex(book: DialogBook): void {
    clearTimeout(this.#indexDue);
    this.#indexDue = undefined;
    try {
      this.#deps.index.write(indexOf(book));
    } catch (error) {
      this.#deps.log.write('warn', 'index.json could not be written', { error: String(error) });
    }
  }

  /** Makes every journal current that is behind or damaged; one that cannot be stops nobody. */
  async catchUp(book: DialogBook): Promise<void> {
    const { journal, log } = this.#deps;
    for (const { id } of book.list()) {
      try {
        if (!(await this.#isCurrent(book, id))) journal.rebuild(id, await this.facts(id));
      } catch (error) {
        log.write('warn', 'a journal could not be rebuilt', { dialog: id, error: String(error) });
      }
    }
  }

  /** With what it lacks, where it only is behind: a killed daemon leaves it some lines short. */
  async #isCurrent(book: DialogBook, id: DialogId): Promise<boolean> {
    const { journal } = this.#deps;
    const isCurrent = (): boolean => !journal.needsRebuild(id) && reached() >= book.lastSeq(id);
    const reached = (): number => journal.lastSeq(id);
    let after = reached();
    if (after === 0 || isCurrent()) return isCurrent();
    for (const facts of await this.facts(id, after)) {
      journal.project(id, { ...facts, after });
      after = facts.seq;
    }
    return isCurrent();
  }

  /** Other programs look into the journals while we run: what is due is rebuilt until nothing is. */
  async keepUp(book: DialogBook, turns: Pick<Queue, 'run'>): Promise<void> {
    clearTimeout(this.#retry);
    if (!this.#isDue(book)) return;
    await turns
      .run(() => this.catchUp(book))
      .catch((error: unknown) => {
        this.#deps.log.write('warn', 'journals could not be rebuilt', { error: String(error) });
      });
    clearTimeout(this.#retry);
    const isDue = this.#isDue(book);
    if (isDue) this.#retry = setTimeout(() => void this.keepUp(book, turns), this.#retryMs).unref();
    this.#retryMs = isDue ? Math.min(this.#retryMs * 2, LAST_RETRY_MS) : FIRST_RETRY_MS;
  }

  #isDue(book: DialogBook): boolean {
    return book.list().some(({ id }) => this.#deps.journal.needsRebuild(id));
  }

  /** Lines are read while others go on, and taken over in a turn when nothing came meanwhile. */
  async rebuild(book: DialogBook, id: DialogId, inTurn: InTurn): Promise<void> {
    const { journal } = this.#deps;
    for (let look = 1; ; look++) {
      const seq = book.lastSeq(id);
      const facts = look > MOST_LOOKS ? undefined : await this.facts(id);
      const isDone = await inTurn(async () => {
        const isGone = book.lastSeq(id) === 0;
        if (isGone || (facts !== undefined && book.lastSeq(id) !== seq)) return isGone;
        journal.rebuild(id, facts ?? (await this.facts(id)));
        return true;
      });
      if (isDone) return;
    }
  }

  /** An earlier message by its id; the ledger has them all when the journal cannot be had. */
  async findMessage(
    book: DialogBook,
    dialog: DialogId,
    id: string,
  ): Promise<NewJournalMessage | undefined> {
    const { journal, timeline, log } = this.#deps;
    try {
      // A look finds out whether it is to be made again.
      if (journal.lastSeq(dialog) < book.lastSeq(dialog)) await this.catchUp(book);
      return journal.findMessage(dialog, id);
    } catch (error) {
      log.write('warn', 'a message is looked for in the ledger', { dialog, error: String(error) });
    }
    const seqs = timeline.index.find({ dialog, action: 'user', limit: Infinity });
    const sent = await timeline.entries(seqs);
    const first = sent.findLast((entry) => entry['message_id'] === id);
    const fact = first?.['fact'] as DialogFact | undefined;
    return first && fact?.what === 'message' ? messageOf(first, fact.index) : undefined;
  }

  /** Everything the ledger says of a dialog, for its journal, or what it says behind a line. */
  async facts(dialog: DialogId, after = 0): Promise<JournalFacts[]> {
    const facts: JournalFacts[] = [];
    let state: DialogState | undefined;
    const { timeline } = this.#deps;
    const oldestFirst = this.#linesOf(dialog, after);
    for (let at = 0; at < oldestFirst.length; at += PAGE) {
      const some = oldestFirst.slice(at, at + PAGE).reverse();
      for (const entry of (await timeline.entries(some)).reverse()) {
        const isNew = entry.seq > after;
        if (isNew && state !== undefined && isFileEdit(entry)) {
          const fileEdits = [fileEditOf(state, entry, await this.#deps.accounts.diffOf(entry))];
          facts.push({ seq: entry.seq, at: entry.ts, fileEdits });
        }
        const fact = entry['fact'] as DialogFact | undefined;
        if (fact === undefined) continue;
        if (fact.what === 'created') state = createDialogState(dialog, entry.ts, fact);
        if (state === undefined) continue;
        state = applyFact(state, entry.ts, fact);
        if (isNew) facts.push(factsOf(state, entry));
      }
    }
    return facts;
  }

  /** Oldest first. Up to `after` only those that the state of the dialog follows from. */
  #linesOf(dialog: DialogId, after: number): number[] {
    const { index } = this.#deps.timeline;
    const before = after + 1;
    const old = FACT_ACTIONS.flatMap((action) => {
      return after === 0 ? [] : index.find({ dialog, action, before, limit: Infinity });
    });
    return [...old, ...index.find({ dialog, after, limit: Infinity })].sort((a, b) => a - b);
  }
}

function indexOf(book: DialogBook) {
  return { dialogs: book.list().map(toIndexEntry), current_dialog_id: book.current };
}

function metadataOf(state: DialogState) {
  return {
    ...toIndexEntry(state),
    approved_commit: state.approved,
    sessions: state.sessions.map(({ name, status }) => ({ name, status })),
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;

/** Without the times that are written later than they change, as long as they are times. */
function lasting(content: unknown): string | undefined {
  return JSON.stringify(content, (key, value: unknown) => {
    return key === 'updated_at' && TIME.test(String(value)) ? undefined : value;
  });
}
