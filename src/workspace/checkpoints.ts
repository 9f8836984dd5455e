import { activeSession, type DialogState } from '../core/dialogs.js';
import type { NewJournalMessage } from '../core/journal.js';
import { messageSubject } from '../core/messages.js';
import type { NewEvent } from '../core/ledger.js';
import type { CommitId, DialogId, Path } from '../core/model.js';
import type { Clock, Log } from '../core/ports.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { resolveId } from '../core/resolve-id.js';
import { SmithyError } from '../core/errors.js';
import type { CheckpointStore } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import type { Accounts } from './accounts.js';
import { adopt, notedUnderWay, placeOf, unknownVoice, type Adoption } from './adoption.js';
import { voiceOf } from './edit-deps.js';
import type { Claims } from './claims.js';
import type { DialogBook, Recorded } from './dialog-book.js';
import type { Dialogs } from './dialogs.js';
import type { EditBook } from './edit-book.js';
import type { EventStream } from './event-stream.js';
import { redactionWarnings, type Cleaned, type Redaction } from './redaction.js';
import type { Queue } from '../core/queue.js';
import { readCounts } from '../core/counts.js';
import { MOST_NAMED, sightOf, type Saved, type SaveRequest, type Saving } from './saving.js';
import { settled } from './settled.js';

export interface CheckpointDeps {
  readonly book: DialogBook;
  readonly dialogs: Dialogs;
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly saving: Saving;
  readonly claims: Claims;
  readonly accounts: Accounts;
  readonly editBook: Pick<EditBook, 'append'>;
  readonly findMessage: (dialog: DialogId, id: string) => Promise<NewJournalMessage | undefined>;
  readonly events: EventStream;
  readonly queue: Queue;
  readonly redaction: Redaction;
  readonly clock: Clock;
  readonly log: Log;
  /** Sets the mark of that name to a checkpoint. */
  readonly marked: (name: MarkedKind, dialog: DialogState, commit: CommitId) => Promise<void>;
  /** Runs after each commit; returns at once. */
  readonly tidy: () => void;
}

/** Checkpoints that are marks of that name, too. */
type MarkedKind = 'pre_commit' | 'session_start';

export interface MessageRequest {
  readonly content: string;
  readonly messageId?: string | undefined;
  readonly dialog?: string | undefined;
}

export interface CreateRequest {
  readonly message?: string | undefined;
  readonly kind?: 'manual' | MarkedKind | undefined;
  readonly dialog?: string | undefined;
}

export interface ListRequest {
  readonly session?: string | undefined;
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
}

/** What is recorded together with a checkpoint. */
interface Along extends Recorded {
  readonly changes?: readonly NewEvent[];
}

const DEFAULT_LIMIT = 100;

interface Checked {
  readonly saved: Saved;
  readonly kind: string;
  readonly session: string;
}

/** Saving on request and before messages, and looking at what was saved. */
export class Checkpoints {
  readonly #deps: CheckpointDeps;

  constructor(deps: CheckpointDeps) {
    this.#deps = deps;
  }

  async message({ content, messageId, dialog: given }: MessageRequest) {
    const { redaction } = this.#deps;
    if (messageId !== undefined) redaction.requireName(messageId, 'message_id');
    // Before it is cut to a title: half a secret looks like none.
    const said = redaction.clean(content);
    await settled(this.#deps.watcher);
    return this.#deps.queue.run(async () => {
      const dialog = await this.#deps.dialogs.wanted(given);
      const session = activeSession(dialog).name;
      const before =
        messageId === undefined ? undefined : await this.#deps.findMessage(dialog.id, messageId);
      if (before !== undefined) {
        // The same message again: its answer was lost on the way, not the message.
        const { checkpoint, session: where, index } = before;
        return { checkpoint, session: where, message_index: index };
      }
      const index = dialog.messages;
      const message = messageSubject(said.text);
      const trailers = { 'Message-Index': String(index) };
      const saved = await this.save(
        dialog,
        { kind: 'message', message, always: true, trailers },
        (commit) => ({
          fact: { what: 'message', index },
          line: {
            ...{ session, content: said.text, checkpoint: commit },
            ...{ message_id: messageId ?? null, ...said.note },
          },
        }),
      );
      return { checkpoint: saved.commit, session, message_index: index, ...told(said.note) };
    });
  }

  async create({ message, kind = 'manual', dialog: given }: CreateRequest) {
    const begun = this.#deps.clock.monotonic();
    await settled(this.#deps.watcher);
    return this.#deps.queue.run(async () => {
      const dialog = await this.#deps.dialogs.wanted(given);
      const said = this.#deps.redaction.clean(message ?? DEFAULT_MESSAGES[kind]);
      const { text, note } = said;
      const always = message !== undefined;
      const saved = await this.save(dialog, { kind, message: text, always, note });
      const session = activeSession(dialog).name;
      if (!saved.isNew) this.#tellChecked(dialog, { saved, kind, session });
      if (kind !== 'manual') await this.#deps.marked(kind, dialog, saved.commit);
      return {
        commit_id: saved.commit,
        message: text,
        session,
        changed: saved.changed,
        skipped: saved.skipped.slice(0, MOST_NAMED),
        duration_ms: Math.round((this.#deps.clock.monotonic() - begun) * 100) / 100,
        ...told(note),
      };
    });
  }

  async list(given: string | undefined, { session, limit = DEFAULT_LIMIT, before }: ListRequest) {
    const { book, dialogs, store, queue } = this.#deps;
    const dialog = await queue.run(() => dialogs.wanted(given));
    this.#requireSession(dialog, session);
    const from = before === undefined ? undefined : this.resolve(dialog, before);
    // By the ledger, which knows the order whatever the clock said.
    const newestFirst = book.made(dialog.id).toReversed();
    const start = newestFirst.findIndex(({ commit }) => commit === from) + 1;
    const page = newestFirst
      .slice(start)
      .filter((made) => session === undefined || made.session === session)
      .slice(0, limit);
    const commits = await Promise.all(page.map(({ commit }) => store.readCommit(commit)));
    return {
      dialog_id: dialog.id,
      initial_checkpoint: dialog.initial,
      checkpoints: commits.map((commit) => ({
        commit_id: commit.id,
        message: commit.message,
        kind: commit.trailers['Kind'] ?? 'manual',
        session: commit.trailers['Session'] ?? 'main',
        created_at: new Date(commit.at).toISOString(),
        changed: readCounts(commit.trailers['Changed']),
      })),
    };
  }

  /** One commit and its ledger line; together with a further line, and with lines of changes. */
  async save(
    dialog: DialogState,
    request: SaveRequest,
    also?: (commit: CommitId) => Along,
  ): Promise<Saved> {
    const { saving, book, log, claims, watcher, accounts } = this.#deps;
    const sizeOf = (path: Path): number => watcher.get(path)?.size ?? 0;
    const foreseen = accounts.foresee(claims.unexplained(), sizeOf);
    const saved = await saving.save(dialog, request);
    const adopted = await this.#adopt(dialog, saved);
    const voice = unknownVoice(placeOf(dialog), this.#deps.clock);
    const lines = await accounts.tell(adopted.results, voice, foreseen);
    if (!saved.isNew) {
      await this.#deps.editBook.append(lines);
      adopted.done();
      return saved;
    }
    const { commit, changed } = saved;
    const session = activeSession(dialog).name;
    const line = {
      session,
      changed,
      ...sightOf(saved),
      message: request.message,
      ...request.note,
    };
    const kept = { fact: { what: 'saved', commit, kind: request.kind } as const, line };
    const along = also?.(commit);
    const facts = along === undefined ? [kept] : [kept, along];
    const noted = notedUnderWay(claims, saved.changes, (edit) => voiceOf(this.#deps, edit));
    await book.record(dialog.id, facts, [...lines, ...noted, ...(along?.changes ?? [])]);
    adopted.done();
    // After the answer.
    setImmediate(() =>
      log.write('info', 'checkpoint', {
        dialog: dialog.id,
        session,
        checkpoint: commit.slice(0, 8),
        message: request.message.slice(0, 50),
      }),
    );
    this.#deps.tidy();
    return saved;
  }

  async #adopt(dialog: DialogState, { changes }: Saved): Promise<Adoption> {
    const { claims, saving } = this.#deps;
    // Few ask, so the question what has changed since costs only those who must know.
    if (claims.unexplained().length === 0) return { results: [], done: () => undefined };
    const pending = await saving.pending(dialog);
    const stillPending = new Set(pending.map(({ path }) => path));
    return adopt(claims, changes, stillPending);
  }

  /** A checkpoint of this dialog by its id or the beginning of it. */
  resolve(dialog: DialogState, given: string): CommitId {
    const known = this.#deps.book.made(dialog.id).map(({ commit }) => commit);
    const question = { what: 'checkpoint', given, known, missing: 'CHECKPOINT_NOT_FOUND' } as const;
    return resolveId(question) as CommitId;
  }

  /** Nothing was saved, so no line says it; whoever waits for a checkpoint hears of the one there is. */
  #tellChecked(dialog: DialogState, { saved, kind, session }: Checked): void {
    this.#deps.events.publish({
      type: 'checkpoint',
      what: 'checked',
      dialog_id: dialog.id,
      commit_id: saved.commit,
      kind,
      session,
      changed: saved.changed,
    });
  }

  #requireSession(dialog: DialogState, session: string | undefined): void {
    const names = dialog.sessions.map(({ name }) => name);
    if (session === undefined || names.includes(session)) return;
    const near = nearest(session, names);
    throw new SmithyError('SESSION_NOT_FOUND', `There is no session ${session}.`, {
      hint: didYouMean(near) ?? 'See `smithyd sessions --all`.',
      data: { id: session, near },
    });
  }
}

/** Only where there is something to tell. */
function told(note: Cleaned['note']): { warnings?: string[] } {
  const warnings = redactionWarnings([note]);
  return warnings.length === 0 ? {} : { warnings };
}

const DEFAULT_MESSAGES: Readonly<Record<'manual' | MarkedKind, string>> = {
  manual: 'Checkpoint',
  pre_commit: 'Before commit',
  session_start: 'Session start',
};
