import type { DialogState } from '../core/dialogs.js';
import { diffStat, nameStatus } from '../core/diff-stat.js';
import type { DiffStyle } from '../core/diff-style.js';
import { SmithyError } from '../core/errors.js';
import { sideBySide } from '../core/side-by-side.js';
import type { Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import { isChosen, type Difference } from '../core/restore-plan.js';
import type { CheckpointStore, TreeChange } from '../core/store.js';
import type { FileDiff, FileSide, TextDiff } from '../core/text-diff.js';
import type { FileState, Watcher } from '../core/watching.js';
import type { Contents } from './contents.js';
import type { Dialogs } from './dialogs.js';
import type { Place, Places } from './places.js';
import type { Present } from './present.js';
import type { Queue } from '../core/queue.js';
import { settled } from './settled.js';

export interface DiffDeps {
  readonly root: string;
  readonly dialogs: Dialogs;
  readonly places: Places;
  readonly present: Present;
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly contents: Pick<Contents, 'stored' | 'side'>;
  readonly text: TextDiff;
  readonly queue: Queue;
}

export interface DiffRequest {
  readonly from: string;
  readonly to?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly dialog?: string | undefined;
  readonly format?: 'unified' | 'stat' | 'name_status' | 'side_by_side' | undefined;
}

interface ChangedFile {
  path: string;
  status: 'added' | 'modified' | 'deleted';
  additions: number;
  deletions: number;
  is_binary: boolean;
  is_too_large: boolean;
  diff?: string;
}

interface Compared {
  files: FileDiff[];
  /** Further files that differ; absent when there are none. */
  omitted?: number;
}

/** Texts in one answer; beyond it files are listed without theirs. */
const MOST_TEXT_BYTES = 4 * 1024 * 1024;
const MOST_FILES = 5_000;

/** Differences between any two states, and their texts. */
export class Diffs {
  readonly #deps: DiffDeps;

  constructor(deps: DiffDeps) {
    this.#deps = deps;
  }

  async answer(request: DiffRequest): Promise<Compared & { text: string }> {
    const compared = await this.#between(request);
    return { ...compared, text: toText(compared.files, request.format ?? 'unified') };
  }

  async #between(request: DiffRequest): Promise<Compared> {
    const { root, watcher, queue, dialogs } = this.#deps;
    const chosen = isChosen(request.paths?.map((path) => toPath(path, root)));
    await settled(watcher);
    const changes = await queue.run(async () => {
      const dialog = await dialogs.wanted(request.dialog);
      const { places } = this.#deps;
      const from = await places.resolve(dialog, request.from);
      const to = await places.resolve(dialog, request.to ?? 'worktree');
      return this.#changes(dialog, from, to);
    });
    return this.#texts(changes.filter(({ path }) => chosen(path)));
  }

  /** What the active session changed, the disk included. In a turn. */
  async sinceApproval(dialog: DialogState): Promise<TreeChange[]> {
    const { present } = this.#deps;
    return (await present.differencesTo(dialog, dialog.approved)).map(reversed);
  }

  /** The texts of that, in the words of a session. Outside of a turn: nobody has to wait for it. */
  async inWords(changes: readonly TreeChange[]) {
    const { files, ...omitted } = await this.#texts(changes);
    const changed = files.map(({ path, change, unified, ...rest }): ChangedFile => ({
      path,
      status: change === 'renamed' ? 'modified' : change,
      additions: rest.additions,
      deletions: rest.deletions,
      is_binary: rest.is_binary,
      is_too_large: rest.is_too_large,
      ...(unified === undefined ? {} : { diff: unified }),
    }));
    return { changed_files: changed, ...omitted };
  }

  async #changes(dialog: DialogState, from: Place, to: Place): Promise<TreeChange[]> {
    const { store, present, places } = this.#deps;
    if (from.kind === 'event' || to.kind === 'event') return places.compare(from, to);
    if (from.kind === 'commit' && to.kind === 'commit')
      return store.compare(from.commit, to.commit);
    if (from.kind === 'commit') {
      return (await present.differencesTo(dialog, from.commit)).map(reversed);
    }
    if (to.kind === 'worktree') return [];
    return (await present.differencesTo(dialog, to.commit)).map(forward);
  }

  /** What is missing by the time it is read is listed without its text. */
  async #texts(changes: readonly TreeChange[]): Promise<Compared> {
    const files: FileDiff[] = [];
    let room = MOST_TEXT_BYTES;
    for (const change of changes.slice(0, MOST_FILES)) {
      const { path, from } = change;
      const diff = this.#deps.text.file({
        path,
        ...(from === undefined ? {} : { from }),
        change: change.change,
        before: await this.#side(from ?? path, change.before, room),
        after: await this.#side(path, change.after, room),
      });
      room -= diff.unified?.length ?? 0;
      files.push(diff);
    }
    const omitted = changes.length - files.length;
    return { files, ...(omitted === 0 ? {} : { omitted }) };
  }

  /** The content from the store, or from the disk when it is in no checkpoint yet and still there. */
  async #side(path: Path, state: FileState | null, room: number): Promise<FileSide | null> {
    if (state === null) return null;
    const { contents } = this.#deps;
    const { mode, hash } = state;
    if (room <= 0) return { mode, content: null };
    const kept = await contents.stored(hash);
    if (kept !== undefined) return { mode, content: kept };
    return contents.side(path, state).catch((error: unknown) => {
      // What is there by now is another state than the one that was asked for.
      if (error instanceof SmithyError && error.code === 'STALE_READ')
        return { mode, content: null };
      throw error;
    });
  }
}

/** Nobody's terminal: plain, and wide enough for code on both sides. */
const PLAIN: DiffStyle = { safe: (text) => text, paint: (_tone, text) => text };
const WIDTH = 160;

function toText(files: readonly FileDiff[], format: NonNullable<DiffRequest['format']>): string {
  const view = { width: WIDTH, style: PLAIN };
  switch (format) {
    case 'unified':
      return files.map(({ unified = '' }) => unified).join('');
    case 'stat':
      return lines(diffStat(files, view));
    case 'name_status':
      return lines(nameStatus(files, PLAIN));
    case 'side_by_side':
      return lines(files.flatMap((file) => sideBySide(file, view)));
  }
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

function forward({ path, from, to }: Difference): TreeChange {
  const change = from === null ? 'added' : to === null ? 'deleted' : 'modified';
  return { path, change, before: from, after: to };
}

/** `differencesTo` leads from the disk to a commit; people ask the other way round. */
function reversed({ path, from, to }: Difference): TreeChange {
  return forward({ path, from: to, to: from });
}
