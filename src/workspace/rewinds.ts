import { activeSession, nextSessionName, type DialogState } from '../core/dialogs.js';
import { SmithyError } from '../core/errors.js';
import { eventId } from '../core/ledger.js';
import type { CommitId } from '../core/model.js';
import type { Clock } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { CheckpointStore } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import type { Accounts } from './accounts.js';
import { dialogVoice, restoredLines } from './adoption.js';
import type { Checkpoints } from './checkpoints.js';
import type { DialogBook } from './dialog-book.js';
import type { Dialogs } from './dialogs.js';
import { GOAL, type Goals } from './goals.js';
import type { Places, SavedPlace } from './places.js';
import type { Redaction } from './redaction.js';
import { countsOf, type RestoreAnswer } from './restore-answer.js';
import { SAFETY, type Restores } from './restores.js';
import type { Saving } from './saving.js';
import { settled } from './settled.js';

export interface RewindDeps {
  readonly book: DialogBook;
  readonly dialogs: Dialogs;
  readonly checkpoints: Checkpoints;
  readonly restores: Restores;
  readonly places: Places;
  readonly goals: Goals;
  readonly accounts: Accounts;
  readonly saving: Saving;
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly redaction: Pick<Redaction, 'requireName'>;
  /** In the same turn, when all is recorded. */
  readonly sessionBegan: (dialog: DialogState) => Promise<void>;
}

export interface RewindRequest {
  readonly target: string;
  readonly branch?: string | undefined;
  readonly dialog?: string | undefined;
}

/** What is left to do when the state to go to is a commit. */
export interface RewindPlan {
  readonly target: CommitId;
  readonly session: string;
  readonly label: string;
  readonly asOf?: number | undefined;
}

/** Going back to go on from there: the present stays on its session, a new one begins. */
export class Rewinds {
  readonly #deps: RewindDeps;

  constructor(deps: RewindDeps) {
    this.#deps = deps;
  }

  async rewind({ target, branch, dialog: given }: RewindRequest) {
    const { watcher, queue, dialogs, places, goals, restores, checkpoints, book } = this.#deps;
    if (branch !== undefined) this.#deps.redaction.requireName(branch, 'branch');
    await settled(watcher);
    return queue.run(async () => {
      const before = await dialogs.wanted(given);
      const session = sessionFor(before, branch);
      const place = places.saved(before, target);
      const label = labelOf(place);
      // A commit before any file is touched, so that a crash finds it like any other target.
      const commit = await goals.make(place, {
        ...{ dialog: before.id, branch: GOAL, kind: 'rewind' },
        parents: [goals.branchPoint(before, place)],
        message: `Rewound to ${label}`,
      });
      await restores.requireFree(before, { commit });
      const safety = await checkpoints.save(before, SAFETY);
      const asOf = place.kind === 'event' ? place.seq : place.asOf;
      const plan = { target: commit, session, label, asOf };
      const answer = await this.finish(book.get(before.id), plan);
      return { ...answer, safety_checkpoint: safety.isNew ? safety.commit : null };
    });
  }

  /** The part that a killed daemon may have left undone; what was there is saved already. */
  async finish(dialog: DialogState, { target, session, label, asOf }: RewindPlan) {
    const { restores, store, book, saving, accounts, clock } = this.#deps;
    const goal = { commit: target, label, session, asOf };
    const moved = await restores.bring(dialog, goal, 'rewind');
    const branches = await store.branches(dialog.id);
    const goalAt = branches.get(GOAL);
    await store.setBranches(dialog.id, [
      { name: session, to: target, expected: branches.get(session) ?? null },
      ...(goalAt === undefined ? [] : [{ name: GOAL, to: null, expected: goalAt }]),
    ]);
    const voice = dialogVoice(dialog, clock);
    const lines = await restoredLines(accounts, moved.changes, { voice, asOf });
    const fact = { what: 'rewound', tip: target, session } as const;
    const line = {
      session: activeSession(dialog).name,
      rewound_to: label,
      message: `Rewound to ${label}; ${session} begins`,
      files: [...moved.restored, ...moved.deleted],
      counts: countsOf(moved),
    };
    const [entry] = await book.record(dialog.id, [{ fact, line }], lines);
    saving.forget(dialog.id);
    restores.done();
    await this.#deps.sessionBegan(book.get(dialog.id));
    const answer: RestoreAnswer = {
      restored_to: label,
      new_checkpoint: target,
      safety_checkpoint: null,
      restored: moved.restored,
      deleted: moved.deleted,
      kept: [],
      skipped: moved.skipped,
    };
    return { ...answer, event: entry?.id ?? '', session };
  }
}

function labelOf(place: SavedPlace): string {
  return place.kind === 'event' ? eventId(place.seq) : place.commit;
}

/** Names of ours, and what git or a shell would read in its own way. */
const RESERVED = /^(main|goal|wanted|worktree|head|session_\d+|old_.*|evt-.*|snap-.*)$/iu;

function sessionFor(dialog: DialogState, given: string | undefined): string {
  const next = nextSessionName(dialog);
  if (given === undefined || given === next) return next;
  if (dialog.sessions.some(({ name }) => name === given)) {
    throw new SmithyError('NAME_TAKEN', `There is a session ${given} already.`, {
      hint: `Leave the name out, and the new session is ${next}.`,
      data: { name: given },
    });
  }
  const isPlain = /^[A-Za-z0-9][\w.-]{0,49}$/u.test(given) && !/\.\.|\.(lock)?$/u.test(given);
  if (isPlain && !RESERVED.test(given) && !/^[0-9a-f]{40}$/iu.test(given)) return given;
  throw new SmithyError('NAME_INVALID', `${JSON.stringify(given)} cannot be a session.`, {
    hint: `Use letters, digits, "_", "-" and "."; without a name it is ${next}.`,
    data: { name: given },
  });
}
