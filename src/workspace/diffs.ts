import type { DialogState } from '../core/dialogs.js';
import { diffStat, nameStatus } from '../core/diff-stat.js';
import type { DiffStyle } from '../core/diff-style.js';
import { sideBySide } from '../core/side-by-side.js';
import type { Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import { isChosen, type Difference } from '../core/restore-plan.js';
import type { CheckpointStore, TreeChange } from '../core/store.js';
import type { FileDiff, FileSide, TextDiff } from '../core/text-diff.js';
import type { TreeWriter } from '../core/tree-writer.js';
import type { FileState, Watcher } from '../core/watching.js';
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
  readonly files: Pick<TreeWriter, 'readFile'>;
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

export interface ChangedFile {
  path: string;
  status: 'added' | 'modified' | 'deleted';
  additions: number;
  deletions: number;
  is_binary: boolean;
  is_too_large: boolean;
  diff?: string;
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

  async answer(request: DiffRequest): Promise<{ files: FileDiff[]; text: string }> {
    const files = await this.between(request);
    return { files, text: toText(files, request.format ?? 'unified') };
  }

  async between(request: DiffRequest): Promise<FileDiff[]> {
    const { root, watcher, queue, dialogs } = this.#deps;
    const chosen = isChosen(request.paths?.map((path) => toPath(path, root)));
    await settled(watcher);
    return queue.run(async () => {
      const dialog = await dialogs.wanted(request.dialog);
      const { places } = this.#deps;
      const from = await places.resolve(dialog, request.from);
      const to = await places.resolve(dialog, request.to ?? 'worktree');
      const changes = await this.#changes(dialog, from, to);
      return this.#texts(changes.filter(({ path }) => chosen(path)));
    });
  }

  /** What the active session changed, the disk included. */
  async sinceApproval(dialog: DialogState): Promise<ChangedFile[]> {
    const differences = await this.#deps.present.differencesTo(dialog, dialog.approved);
    const diffs = await this.#texts(differences.map(reversed));
    return diffs.map(({ path, change, unified, ...rest }) => ({
      path,
      status: change === 'renamed' ? 'modified' : change,
      additions: rest.additions,
      deletions: rest.deletions,
      is_binary: rest.is_binary,
      is_too_large: rest.is_too_large,
      ...(unified === undefined ? {} : { diff: unified }),
    }));
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

  async #texts(changes: readonly TreeChange[]): Promise<FileDiff[]> {
    const diffs: FileDiff[] = [];
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
      diffs.push(diff);
    }
    return diffs;
  }

  /** The content from the store, or from the disk when it is in no checkpoint yet. */
  async #side(path: Path, state: FileState | null, room: number): Promise<FileSide | null> {
    if (state === null) return null;
    const { mode, hash } = state;
    if (room <= 0) return { mode, content: null };
    const { store, files } = this.#deps;
    if ((await store.has([hash])).has(hash)) return { mode, content: await store.readBlob(hash) };
    const file = await files.readFile(path);
    return { mode, content: file?.content ?? null };
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
