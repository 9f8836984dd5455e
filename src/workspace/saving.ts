import { countChanges, writeCounts, type Counts } from '../core/counts.js';
import type { CheckpointKind, DialogState } from '../core/dialogs.js';
import { activeSession } from '../core/dialogs.js';
import type { CommitId, DialogId, Hash, Path } from '../core/model.js';
import { KEPT, type CheckpointStore, type FileChange } from '../core/store.js';
import type { OuterRules } from '../core/tracking.js';
import type { ReadContent, TreeWriter } from '../core/tree-writer.js';
import type { SkippedEntry, Watcher } from '../core/watching.js';
import type { Contents } from './contents.js';
import { stalePath, toFileChange } from './file-changes.js';
import { Pending, type PendingChange } from './pending.js';
import { reportProgress, type ProgressDeps } from './progress.js';

export interface SavingDeps extends ProgressDeps {
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly files: Pick<TreeWriter, 'reading' | 'placeOf'>;
  /** Contents that somebody has just read: they are not read again. */
  readonly contents: Pick<Contents, 'remembered' | 'remember'>;
  /** Blobs that need not be read: they were copied from the user's own objects. */
  readonly seed: (hashes: readonly Hash[]) => Promise<ReadonlySet<Hash>>;
}

export interface SaveRequest {
  readonly kind: CheckpointKind;
  readonly message: string;
  /** Make a commit even when nothing changed. */
  readonly always: boolean;
  readonly trailers?: Readonly<Record<string, string>>;
  /** What its line says besides. */
  readonly note?: { readonly redacted?: readonly string[] };
}

export interface Saved {
  readonly commit: CommitId;
  readonly changed: Counts;
  /** False: the tip was what is on disk already. */
  readonly isNew: boolean;
  /** All of them: absence of these proves nothing. */
  readonly skipped: readonly SkippedEntry[];
  /** By which it was decided what is in it. */
  readonly rules: OuterRules | undefined;
  /** Against the tip before. */
  readonly changes: readonly PendingChange[];
}

interface OpenDialog {
  readonly pending: Pending;
  emptyFolders: string;
}

/** A file that changes faster than it can be read is left as it was, and the others are saved. */
const MOST_ATTEMPTS = 3;
/** Beyond this many they are left out, and named: they are in the text of every commit. */
const MOST_EMPTY_FOLDERS = 10_000;
/**
 * Dialogs at work at once. Each takes in every change, and may differ from the disk by every file;
 * one that is used again after so many others is compared anew.
 */
const MOST_OPEN = 8;
/** Of more files what a checkpoint needs is not made ready. */
const MOST_READY = 8;
/** In one answer. */
export const MOST_NAMED = 1_000;

/** Puts the known state into commits. Knows for each open dialog what differs from its tip. */
export class Saving {
  readonly #deps: SavingDeps;
  readonly #open = new Map<DialogId, OpenDialog>();

  constructor(deps: SavingDeps) {
    this.#deps = deps;
    deps.watcher.onChange((batch) => {
      for (const { pending } of this.#open.values()) pending.note(batch);
    });
  }

  /** What is on disk and not in the dialog's last checkpoint. */
  async pending(dialog: DialogState): Promise<PendingChange[]> {
    const { pending } = await this.#opened(dialog.id, dialog.tip);
    this.#deps.watcher.publish();
    return pending.changes((path) => this.#deps.watcher.get(path));
  }

  /** Puts what the next checkpoint will need into memory, if it is of few small changes. */
  async makeReady({ id, tip }: DialogState): Promise<void> {
    const { watcher, store, files, contents } = this.#deps;
    const pending = this.#open.get(id)?.pending;
    if (pending === undefined || pending.size > MOST_READY) return;
    const changes = pending.changes((path) => watcher.get(path));
    if (changes.length === 0) return;
    const found = new Map<Path, Uint8Array>();
    await files.reading((read) => {
      const noting = async (path: Path) => {
        const content = await read(path);
        if (content instanceof Uint8Array) found.set(path, content);
        return content;
      };
      return store.prepare({ base: tip, changes: this.#fileChanges(changes, new Set(), noting) });
    });
    // Whoever compares them with what they were need not read them again.
    for (const { path, after } of changes) {
      const content = found.get(path);
      if (after !== null && content !== undefined) contents.remember(after.hash, content);
    }
  }

  /** The first commit of a new dialog: everything, on `main`. */
  async saveFirst(dialog: DialogId, request: Omit<SaveRequest, 'always'>): Promise<Saved> {
    this.#deps.watcher.publish();
    this.#keepOpen(dialog, {
      pending: Pending.compare(new Map(), this.#deps.watcher.entries()),
      emptyFolders: '',
    });
    const place = { dialog, branch: 'main', session: 'main', tip: null };
    return this.#save(place, { ...request, always: true });
  }

  /** A commit of what is on disk now on the active session, unless the tip is that already. */
  save(dialog: DialogState, request: SaveRequest): Promise<Saved> {
    const { name } = activeSession(dialog);
    return this.#save({ dialog: dialog.id, branch: name, session: name, tip: dialog.tip }, request);
  }

  /** A commit of what is on disk now beside all dialogs: nothing of this one moves. */
  saveAside(
    dialog: DialogState,
    { branch, message }: { readonly branch: string; readonly message: string },
  ): Promise<Saved> {
    const { id, tip } = dialog;
    const place = { dialog: id, branch, session: activeSession(dialog).name, tip, isAside: true };
    return this.#save(place, { kind: 'snapshot', message, always: true });
  }

  /** The tip is elsewhere now: compare anew when it is next asked for. */
  forget(dialog: DialogId): void {
    this.#open.delete(dialog);
  }

  async #save(place: Place, request: SaveRequest): Promise<Saved> {
    const { watcher } = this.#deps;
    const attempts = new Map<string, number>();
    for (;;) {
      const unstable = [...attempts].filter(([, count]) => count >= MOST_ATTEMPTS);
      try {
        return await this.#attempt(place, { ...request, without: new Map(unstable) });
      } catch (error) {
        // Somebody wrote between our knowing and our reading: know again, then read again.
        const path = stalePath(error);
        if (path === undefined || attempts.get(path) === MOST_ATTEMPTS) throw error;
        attempts.set(path, (attempts.get(path) ?? 0) + 1);
        await watcher.settle();
      }
    }
  }

  async #attempt(place: Place, request: Attempt): Promise<Saved> {
    const { watcher, store, files, clock } = this.#deps;
    const open = await this.#opened(place.dialog, place.tip);
    const known = (path: Path) => watcher.get(path);
    watcher.publish();
    const rules = watcher.rules();
    const changes = open.pending.changes(known).filter(({ path }) => !request.without.has(path));
    const allFolders = [...watcher.emptyFolders()].sort();
    const folders = allFolders.slice(0, MOST_EMPTY_FOLDERS);
    const tooMany = allFolders
      .slice(MOST_EMPTY_FOLDERS, MOST_EMPTY_FOLDERS + MOST_NAMED)
      .map((path): SkippedEntry => ({ path, reason: 'too_many' }));
    const emptyFolders = folders.join('\0');
    const unstable = [...request.without.keys()].map((path): SkippedEntry => {
      return { path, reason: 'unstable' };
    });
    const noticed = watcher.skipped(Infinity).filter(({ path }) => !request.without.has(path));
    const skipped = [...noticed, ...unstable, ...tooMany];
    const changed = countChanges(changes);
    const isSame = changes.length === 0 && emptyFolders === open.emptyFolders;
    if (isSame && !request.always && place.tip !== null) {
      return { commit: place.tip, changed, isNew: false, skipped, rules, changes: [] };
    }
    const have = await this.#seeded(changes, place.tip === null);
    const commit = await files.reading((read) =>
      store.commit({
        dialog: place.isAside === true ? KEPT : place.dialog,
        branch: place.branch,
        ...placed(place),
        base: place.tip,
        changes: this.#fileChanges(changes, have, read),
        emptyFolders: folders,
        message: request.message,
        trailers: {
          'Dialog-Id': place.dialog,
          Session: place.session,
          Kind: request.kind,
          Changed: writeCounts(changed),
          ...request.trailers,
        },
        at: clock.now(),
        // Recovery brings the branches of a dialog to where the ledger has them, and no others.
        isTold: place.tip !== null && place.isAside !== true,
        onProgress: reportProgress(this.#deps, { what: 'checkpoint', dialog: place.dialog }),
      }),
    );
    if (place.isAside !== true) {
      open.pending.taken(changes, known);
      open.emptyFolders = emptyFolders;
    }
    return { commit, changed, isNew: true, skipped, rules, changes };
  }

  #fileChanges(
    changes: readonly PendingChange[],
    have: ReadonlySet<Hash>,
    read: ReadContent,
  ): FileChange[] {
    const { files, contents } = this.#deps;
    const placeOf = (path: Path) => files.placeOf(path);
    const remembered = (hash: Hash) => contents.remembered(hash);
    return changes.map((change) => toFileChange(change, have, { read, placeOf, remembered }));
  }

  /** What the user's own repository already had to give. */
  async #seeded(changes: readonly PendingChange[], isFirst: boolean): Promise<ReadonlySet<Hash>> {
    const hashes = changes.flatMap(({ after }) => (after === null ? [] : [after.hash]));
    return this.#deps.seed(isFirst ? hashes : []);
  }

  async #opened(dialog: DialogId, tip: CommitId | null): Promise<OpenDialog> {
    const present = this.#open.get(dialog);
    if (present !== undefined) return this.#keepOpen(dialog, present);
    if (tip === null) return emptyDialog();
    const { store, watcher } = this.#deps;
    const [tree, commit] = await Promise.all([store.tree(tip), store.readCommit(tip)]);
    watcher.publish();
    return this.#keepOpen(dialog, {
      pending: Pending.compare(tree, watcher.entries()),
      emptyFolders: [...commit.emptyFolders].sort().join('\0'),
    });
  }

  /** As the one that was used last. */
  #keepOpen(dialog: DialogId, opened: OpenDialog): OpenDialog {
    this.#open.delete(dialog);
    this.#open.set(dialog, opened);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MOST_OPEN) break;
      this.#open.delete(oldest);
    }
    return opened;
  }
}

/** For the ledger: how far it could see. A folder too many is never deleted anyway. */
export function sightOf({ skipped, rules }: Pick<Saved, 'skipped' | 'rules'>) {
  const files = skipped.filter(({ reason }) => reason !== 'too_many').map(({ path }) => path);
  return { skipped: files, ...(rules === undefined ? {} : { rules }) };
}

interface Attempt extends SaveRequest {
  /** Paths that stay as the tip has them; their changes stay pending. */
  readonly without: ReadonlyMap<string, number>;
}

interface Place {
  readonly dialog: DialogId;
  readonly branch: string;
  readonly session: string;
  readonly tip: CommitId | null;
  /** The commit is no part of the dialog's history. */
  readonly isAside?: boolean;
}

function placed({ tip, isAside = false }: Place) {
  return { expected: isAside ? null : tip, parents: isAside || tip === null ? [] : [tip] };
}

function emptyDialog(): OpenDialog {
  return { pending: new Pending(), emptyFolders: '' };
}
