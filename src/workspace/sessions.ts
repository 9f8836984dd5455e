import { activeSession, nextSessionName, type DialogState } from '../core/dialogs.js';
import type { Clock } from '../core/ports.js';
import type { CheckpointStore } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import type { Diffs } from './diffs.js';
import type { Accounts } from './accounts.js';
import { dialogVoice, restoredLines } from './adoption.js';
import type { Checkpoints } from './checkpoints.js';
import type { DialogBook } from './dialog-book.js';
import type { Dialogs } from './dialogs.js';
import type { Present } from './present.js';
import type { Queue } from '../core/queue.js';
import { SAFETY, type Restores } from './restores.js';
import { sightOf, type Saving } from './saving.js';
import { settled } from './settled.js';

export interface SessionDeps {
  readonly book: DialogBook;
  readonly dialogs: Dialogs;
  readonly checkpoints: Checkpoints;
  readonly restores: Restores;
  readonly present: Present;
  readonly accounts: Accounts;
  readonly saving: Saving;
  readonly diffs: Diffs;
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly queue: Queue;
  readonly clock: Clock;
  /** In the same turn, when all is recorded. */
  readonly sessionBegan: (dialog: DialogState) => Promise<void>;
}

/** What was approved, what is not, and the two ways to settle it. */
export class Sessions {
  readonly #deps: SessionDeps;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  async present(given: string | undefined) {
    const { watcher, queue, dialogs, diffs } = this.#deps;
    await settled(watcher);
    const { dialog, changes } = await queue.run(async () => {
      const wanted = await dialogs.wanted(given);
      return { dialog: wanted, changes: await diffs.sinceApproval(wanted) };
    });
    const { name } = activeSession(dialog);
    const hasChanges = changes.length > 0;
    return {
      active_session: hasChanges ? name : null,
      session_ref: hasChanges ? `refs/heads/${name}` : null,
      has_unapproved: hasChanges,
      last_approved_at: dialog.lastApprovedAt,
      ...(await diffs.inWords(changes)),
    };
  }

  async list(given: string | undefined, all: boolean) {
    const dialog = await this.#deps.queue.run(() => this.#deps.dialogs.wanted(given));
    const shown = dialog.sessions.filter(({ status }) => all || status === 'active');
    return {
      sessions: shown.map((session) => ({
        session_name: session.name,
        ref_name: `refs/heads/${session.name}`,
        status: session.status,
        created_at: session.createdAt,
        closed_at: session.closedAt,
        approved_commit: session.approvedCommit,
        checkpoints_count: session.checkpoints,
      })),
    };
  }

  async approve(given: string | undefined, message: string | undefined) {
    const { watcher, queue, dialogs, checkpoints, book } = this.#deps;
    await settled(watcher);
    return queue.run(async () => {
      const before = await dialogs.wanted(given);
      const saved = await checkpoints.save(before, SAFETY);
      return this.#approve(book.get(before.id), { message, sight: sightOf(saved) });
    });
  }

  async reset(given: string | undefined) {
    const { watcher, queue, dialogs, checkpoints, book } = this.#deps;
    await settled(watcher);
    return queue.run(async () => {
      const before = await dialogs.wanted(given);
      await this.#deps.restores.requireFree(before, { commit: before.approved });
      await checkpoints.save(before, SAFETY);
      return this.finishReset(book.get(before.id));
    });
  }

  /** The part of a reset that a killed daemon may have left undone; the work is saved already. */
  async finishReset(dialog: DialogState) {
    const { restores, store, book, saving, accounts, clock } = this.#deps;
    const moved = await restores.bring(dialog, { commit: dialog.approved }, 'reset');
    const session = nextSessionName(dialog);
    await store.setBranches(dialog.id, [{ name: session, to: dialog.approved, expected: null }]);
    const fact = { what: 'reset', tip: dialog.approved, session } as const;
    const asOf = book.madeAt(dialog.id, dialog.approved);
    const voice = dialogVoice(dialog, clock);
    const lines = await restoredLines(accounts, moved.changes, { voice, asOf });
    await book.record(dialog.id, [{ fact, line: { session: activeSession(dialog).name } }], lines);
    saving.forget(dialog.id);
    restores.done();
    await this.#deps.sessionBegan(book.get(dialog.id));
    return {
      reset_to: dialog.approved,
      new_session: session,
      pre_reset_checkpoint: dialog.tip,
      restored: moved.restored,
      deleted: moved.deleted,
      skipped: moved.skipped,
    };
  }

  async #approve(
    dialog: DialogState,
    { message, sight }: { readonly message: string | undefined; readonly sight: object },
  ) {
    const { store, book, clock } = this.#deps;
    const { name } = activeSession(dialog);
    const session = nextSessionName(dialog);
    const own = { branch: name, without: dialog.approved, limit: Infinity };
    const [tip, main, commits] = await Promise.all([
      store.readCommit(dialog.tip),
      store.readCommit(dialog.approved),
      store.log(dialog.id, own),
    ]);
    const isSame =
      tip.tree === main.tree && tip.emptyFolders.join('\0') === main.emptyFolders.join('\0');
    const commit = isSame
      ? dialog.approved
      : await store.commit({
          dialog: dialog.id,
          branch: 'main',
          expected: dialog.approved,
          parents: [dialog.approved, dialog.tip],
          base: dialog.tip,
          changes: [],
          emptyFolders: tip.emptyFolders,
          message: message ?? `Approve ${name}`,
          trailers: { 'Dialog-Id': dialog.id, Session: name, Kind: 'approval' },
          at: clock.now(),
        });
    await store.setBranches(dialog.id, [{ name: session, to: commit, expected: null }]);
    const fact = { what: 'approved', commit, session } as const;
    const approved = isSame ? 0 : commits.length;
    const line = { session: name, commits_approved: approved, ...sight };
    await book.record(dialog.id, [{ fact, line }]);
    await this.#deps.sessionBegan(book.get(dialog.id));
    return { approved_commit: commit, new_session: session, commits_approved: approved };
  }
}
