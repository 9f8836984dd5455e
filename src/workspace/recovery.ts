import {
  activeSession,
  nextSessionName,
  type CheckpointKind,
  type DialogState,
} from '../core/dialogs.js';
import { readCounts } from '../core/counts.js';
import { SmithyError } from '../core/errors.js';
import type { CommitId, DialogId, Hash } from '../core/model.js';
import type { Log } from '../core/ports.js';
import type { CheckpointStore } from '../core/store.js';
import type { Watcher } from '../core/watching.js';
import type { DialogBook } from './dialog-book.js';
import type { Goals } from './goals.js';
import type { Restores } from './restores.js';
import type { Rewinds } from './rewinds.js';
import type { Sessions } from './sessions.js';
import type { Sights } from './sights.js';

export interface RecoveryDeps {
  readonly book: DialogBook;
  readonly store: CheckpointStore;
  readonly sights: Pick<Sights, 'at'>;
  readonly watcher: Pick<Watcher, 'skipped'>;
  readonly goals: Pick<Goals, 'drop'>;
  readonly restores: Restores;
  readonly sessions: Sessions;
  readonly rewinds: Rewinds;
  readonly log: Log;
  /** Says what became of what was cut off: one sentence for a person. */
  readonly tell: (sentence: string) => void;
}

interface Recovered {
  /** Dialogs that cannot be read any more. */
  readonly lost: ReadonlySet<DialogId>;
  /** What only that used can be given back. */
  readonly hasRemoved: boolean;
}

/**
 * Brings branches and ledger together after a crash. A branch that is ahead holds content nobody
 * was told of: its commits are adopted, never dropped. What was under way is finished.
 */
export async function recover(deps: RecoveryDeps): Promise<Recovered> {
  const { goals } = deps;
  const lost = new Set<DialogId>();
  await forEach(deps, lost, (dialog) => bringForward(deps, dialog));
  const hasRemoved = await removeStrays(deps);
  await forEach(deps, lost, async ({ id }) => {
    await adoptApproval(deps, deps.book.get(id));
    await adoptCommits(deps, deps.book.get(id));
    await dropUnusedSession(deps, deps.book.get(id));
  });
  const left = await unlessLost(deps, () => deps.restores.recover());
  await forEach(deps, lost, ({ id }) => goals.drop(id));
  if (left !== undefined) await unlessLost(deps, () => finish(deps, left));
  return { lost, hasRemoved };
}

/** A dialog that cannot be read any more is set aside, and keeps nobody from the others. */
async function forEach(
  { book, log, tell }: RecoveryDeps,
  lost: Set<DialogId>,
  step: (dialog: DialogState) => Promise<void>,
): Promise<void> {
  for (const dialog of book.list().filter(({ id }) => !lost.has(id))) {
    try {
      await step(dialog);
    } catch (error) {
      if (!isLoss(error)) throw error;
      const { id } = dialog;
      const { message } = error;
      lost.add(id);
      log.write('error', 'a dialog cannot be used', { dialog: id, error: message });
      tell(`Dialog ${id} cannot be used; the others can. ${message} See \`smithyd doctor\`.`);
    }
  }
}

/** Gone or damaged, and no disk that was full or busy for a moment. */
function isLoss(error: unknown): error is SmithyError {
  return error instanceof SmithyError && LOSSES.has(error.code);
}

const LOSSES: ReadonlySet<string> = new Set([
  ...['DIALOG_NOT_FOUND', 'CHECKPOINT_NOT_FOUND', 'STORE_CORRUPT'],
]);

/** What moved files when the daemon ended. When what it needs is lost they stay as they are. */
async function unlessLost<T>(
  { restores, log, tell }: RecoveryDeps,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isLoss(error)) throw error;
    restores.done();
    log.write('error', 'what was cut off cannot be finished', { error: error.message });
    tell(`What was cut off cannot be finished; files are as it left them. ${error.message}`);
    return undefined;
  }
}

async function finish(
  { book, restores, sessions, rewinds, log, tell }: RecoveryDeps,
  left: NonNullable<Awaited<ReturnType<Restores['recover']>>>,
): Promise<void> {
  const dialog = book.list().find(({ id }) => id === left.dialog);
  if (left.what === 'reset' && dialog !== undefined && !left.isRecorded) {
    await sessions.finishReset(dialog);
  }
  const { session, label } = left;
  const isRewind = left.what === 'rewind' && session !== undefined && label !== undefined;
  if (isRewind && dialog !== undefined && !left.isRecorded) {
    await rewinds.finish(dialog, { ...left, session, label });
  }
  restores.done();
  log.write('warn', 'finished what was cut off', { what: left.what, dialog: left.dialog });
  tell(`A ${left.what} that was cut off has been finished.`);
}

/** Repositories without a line in the ledger: half made, or half deleted. Neither was acknowledged. */
async function removeStrays({ book, store, log, tell }: RecoveryDeps): Promise<boolean> {
  const known = new Set<string>(book.list().map(({ id }) => id));
  const strays = (await store.dialogs()).filter((dialog) => !known.has(dialog));
  let hasRemoved = false;
  for (const dialog of strays) {
    if (!book.wasKnown(dialog) && !(await isHalfMade(store, dialog))) {
      // Work that somebody was told is safe; its line is what got lost.
      log.write('error', 'a dialog is not in the ledger; it is left alone', { dialog });
      continue;
    }
    await store.deleteRepository(dialog);
    hasRemoved = true;
    log.write('warn', 'removed a dialog that was cut off', { dialog });
    tell('A dialog that was half made or half deleted has been removed.');
  }
  return hasRemoved;
}

/** No more than its first checkpoint, which nobody was told of. */
async function isHalfMade(store: CheckpointStore, dialog: string): Promise<boolean> {
  const tips = new Set((await store.branches(dialog)).values());
  const [only] = tips;
  if (only === undefined) return true;
  // A commit that cannot be read is not one to throw away.
  const commit = await store.readCommit(only).catch(() => undefined);
  return tips.size === 1 && commit?.parents.length === 0;
}

/**
 * The ledger is ahead: a branch was lost, was taken back for a line that reached the disk after
 * all, or was moved by hand. What is in the ledger happened.
 */
async function bringForward(
  { store, log, tell }: RecoveryDeps,
  dialog: DialogState,
): Promise<void> {
  const { id } = dialog;
  const due = [
    { name: 'main', to: dialog.approved },
    { name: activeSession(dialog).name, to: dialog.tip },
  ];
  await requireThere(store, [dialog.approved, dialog.tip]);
  const branches = await branchesOf(store, id);
  for (const { name, to } of due) {
    const at = branches.get(name) ?? null;
    if (at === to) continue;
    if (at !== null && (await isAhead(store, dialog, { name, at, of: to }))) continue;
    await store.setBranches(id, [{ name, to, expected: at }]);
    log.write('warn', 'brought a branch to where the ledger has it', { dialog: id, name, at, to });
    tell(`The branch ${name} was not where the ledger has it and has been brought there.`);
  }
}

/** A repository that is gone is made again: what its branches named is in the store. */
async function branchesOf(store: CheckpointStore, dialog: DialogId) {
  try {
    return await store.branches(dialog);
  } catch (error) {
    if (!(error instanceof SmithyError) || error.code !== 'DIALOG_NOT_FOUND') throw error;
    await store.createRepository(dialog);
    return store.branches(dialog);
  }
}

/** A branch may be where it should be, and what it names gone from the objects. */
async function requireThere(store: CheckpointStore, commits: readonly CommitId[]): Promise<void> {
  const asBlobs = commits as readonly string[] as readonly Hash[];
  const there = await store.has(asBlobs);
  const missing = asBlobs.find((commit) => !there.has(commit));
  if (missing === undefined) return;
  const message = `Its checkpoint ${missing} is not in the store.`;
  throw new SmithyError('STORE_CORRUPT', message, {
    hint: 'Run `smithyd doctor`.',
    data: { hash: missing },
  });
}

/** A commit made by hand inside `checkpoints/` is not in our objects, and not of our making. */
async function isAhead(
  store: CheckpointStore,
  { id }: DialogState,
  { name, at, of }: { readonly name: string; readonly at: CommitId; readonly of: CommitId },
): Promise<boolean> {
  const asBlob = at as string as Hash;
  if (!(await store.has([asBlob])).has(asBlob)) return false;
  return (await store.log(id, { branch: name, without: of, limit: 1 })).length > 0;
}

/** `main` moved and the line is missing. */
async function adoptApproval(
  { book, store, log, tell }: RecoveryDeps,
  dialog: DialogState,
): Promise<void> {
  const branches = await store.branches(dialog.id);
  const commit = branches.get('main');
  if (commit === undefined || commit === dialog.approved) return;
  const session = nextSessionName(dialog);
  if (!branches.has(session)) {
    await store.setBranches(dialog.id, [{ name: session, to: commit, expected: null }]);
  }
  const fact = { what: 'approved', commit, session } as const;
  await book.record(dialog.id, [{ fact, line: { recovered: true } }]);
  log.write('warn', 'adopted an approval that was cut off', { dialog: dialog.id, commit });
  tell('An approval that was cut off has been finished.');
}

/** The session's branch is ahead of the ledger. */
async function adoptCommits(
  { book, store, sights, watcher, log, tell }: RecoveryDeps,
  dialog: DialogState,
): Promise<void> {
  const { name } = activeSession(dialog);
  const tip = (await store.branches(dialog.id)).get(name);
  if (tip === undefined || tip === dialog.tip) return;
  const query = { branch: name, without: dialog.tip, limit: Infinity };
  const commits = await store.log(dialog.id, query);
  // What is skipped now and what was then: one of them is what it could not take in.
  const now = watcher.skipped(Infinity).map(({ path }) => path);
  const skipped = [...new Set([...sights.at(dialog.tip).skipped, ...now])];
  const facts = commits.toReversed().map(({ id, trailers, message }) => ({
    fact: {
      what: 'saved',
      commit: id,
      kind: (trailers['Kind'] ?? 'manual') as CheckpointKind,
    } as const,
    line: {
      session: name,
      recovered: true,
      skipped,
      message,
      changed: readCounts(trailers['Changed']),
    },
  }));
  if (facts.length > 0) await book.record(dialog.id, facts);
  log.write('warn', 'adopted checkpoints that were cut off', {
    dialog: dialog.id,
    commits: facts.length,
  });
  tell('A checkpoint that was cut off has been kept.');
}

/** A session that was about to begin: the operation that made it is done again as a whole. */
async function dropUnusedSession(
  { store, log, tell }: RecoveryDeps,
  dialog: DialogState,
): Promise<void> {
  const name = nextSessionName(dialog);
  const to = (await store.branches(dialog.id)).get(name);
  if (to === undefined) return;
  await store.setBranches(dialog.id, [{ name, to: null, expected: to }]);
  log.write('warn', 'took back a session that was cut off', { dialog: dialog.id, session: name });
  tell(`The beginning of ${name} was cut off and has been taken back.`);
}
