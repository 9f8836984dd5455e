import type { Span } from '../core/edits.js';
import type { CommitId, Hash, Path } from '../core/model.js';
import {
  foldersAbove,
  isChosen,
  planRestore,
  type Difference,
  type Step,
} from '../core/restore-plan.js';
import { createLookout } from '../core/sight.js';
import type { CheckpointStore, Commit, OnProgress, TreeChange } from '../core/store.js';
import type { Content, Outcome, TreeWriter } from '../core/tree-writer.js';
import { sameState, type Watcher } from '../core/watching.js';
import { BASED_ON } from './goals.js';
import type { Sights } from './sights.js';

const SMALL_BYTES = 256 * 1024;
/** They are asked of one reader: more only make its queue longer. */
const FOLDERS_AT_ONCE = 64;

export interface MoveDeps {
  readonly store: CheckpointStore;
  readonly watcher: Watcher;
  readonly files: TreeWriter;
  readonly sights: Pick<Sights, 'at' | 'wasHeld'>;
}

export interface MoveRequest {
  /** A commit of exactly what is on disk. */
  readonly from: CommitId;
  readonly to: CommitId;
  /** Where in the ledger `to` was the state; absent: it is no older than what is there. */
  readonly asOf?: number | undefined;
  readonly paths?: readonly Path[];
  /** Given when what is on disk is not exactly `from`. */
  readonly differences?: readonly Difference[];
}

export interface Skipped {
  readonly path: string;
  readonly reason: string;
}

export interface MovePlan {
  readonly steps: readonly Step[];
  /** Left as they are, with the reason. */
  readonly spared: readonly Skipped[];
}

export interface Moved {
  readonly restored: string[];
  readonly deleted: string[];
  readonly skipped: Skipped[];
  /** What was there and what is there now, for each path written or deleted. */
  readonly changes: Span[];
  /** Somebody wrote them between saving and writing. */
  readonly raced: readonly Path[];
}

/** What would make the tree on disk equal to a checkpoint. */
export async function planMove(deps: MoveDeps, request: MoveRequest): Promise<MovePlan> {
  const { store } = deps;
  const [from, to] = await Promise.all([
    store.readCommit(request.from),
    store.readCommit(request.to),
  ]);
  const differences =
    request.differences ?? (await store.differences(request.from, request.to)).map(toDifference);
  const asked = differences.filter(({ path }) => isChosen(request.paths)(path));
  const spared = await sparedDeletions(deps, { to, asOf: request.asOf }, asked);
  const left = new Set(spared.map(({ path }) => path));
  const { steps } = planRestore({
    differences: differences.filter(({ path }) => !left.has(path)),
    ...(request.paths === undefined ? {} : { paths: request.paths }),
    emptyFolders: { wanted: [...to.emptyFolders], present: [...from.emptyFolders] },
  });
  return { steps, spared };
}

export interface MoveOptions {
  readonly onProgress?: OnProgress;
  /** Refuse what does not fit on the disk before anything is written. */
  readonly isAllOrNothing?: boolean;
}

export async function applyMove(
  deps: MoveDeps,
  { steps, spared }: MovePlan,
  { onProgress, isAllOrNothing = false }: MoveOptions = {},
): Promise<Moved> {
  const { store, watcher, files } = deps;
  const writes = steps.flatMap((step) => (step.kind === 'write' ? [step.hash] : []));
  const lengths = await store.lengths(writes);
  const bytes = writes.reduce((sum, hash) => sum + (lengths.get(hash) ?? 0), 0);
  const silences = steps.flatMap((step) => {
    if (step.kind === 'delete') return [watcher.announce(step.path, undefined)];
    return step.kind === 'write' || step.kind === 'chmod'
      ? [watcher.announce(step.path, step.hash)]
      : [];
  });
  try {
    const outcomes = await files.apply(steps, (hash) => contentOf(store, hash, lengths.get(hash)), {
      onProgress: (done) => onProgress?.(done, steps.length),
      ...(isAllOrNothing ? { bytes } : {}),
    });
    await watcher.settle();
    const moved = summarise(steps, outcomes, spared);
    if (moved.raced.some(isUntold(watcher, steps))) await watcher.rescan();
    return moved;
  } finally {
    for (const silence of silences) silence();
  }
}

/** Written in a way that no event tells of, as through a mapping: it must be looked for to be known. */
function isUntold(watcher: Watcher, steps: readonly Step[]): (path: Path) => boolean {
  const expected = new Map(
    steps.flatMap((step) => ('expect' in step ? [[step.path, step.expect] as const] : [])),
  );
  return (path) => {
    const state = expected.get(path);
    return state !== undefined && sameState(watcher.get(path) ?? null, state);
  };
}

/** Many small ones are fetched ahead of need; a large one is streamed when its turn comes. */
async function contentOf(store: CheckpointStore, hash: Hash, size = 0): Promise<Content> {
  return size > SMALL_BYTES ? (await store.streamBlob(hash)).chunks : store.readBlob(hash);
}

/** The lists of a plan, as if everything went well. */
export function summarisePlan({ steps, spared }: MovePlan): Moved {
  return {
    restored: steps
      .filter(({ kind }) => kind === 'write' || kind === 'chmod')
      .map(({ path }) => path),
    deleted: steps.filter(({ kind }) => kind === 'delete').map(({ path }) => path),
    skipped: [...spared],
    changes: [],
    raced: [],
  };
}

function summarise(
  steps: readonly Step[],
  outcomes: readonly Outcome[],
  spared: readonly Skipped[],
): Moved {
  const moved = { restored: [] as string[], deleted: [] as string[], skipped: [...spared] };
  const done = new Set<Path>();
  const skipped = new Set<Path>();
  const raced: Path[] = [];
  for (const { path, kind, ...outcome } of outcomes) {
    const isFile = kind !== 'make_folder' && kind !== 'remove_folder';
    if (outcome.result === 'skipped') {
      // A file that could not go keeps the folder in its place from coming: that is one thing to tell.
      if (!skipped.has(path)) moved.skipped.push({ path, reason: outcome.reason });
      skipped.add(path);
      if (outcome.reason === 'changed_meanwhile') raced.push(path);
      continue;
    }
    if (!isFile) continue;
    if (outcome.result === 'restored') moved.restored.push(path);
    else if (outcome.result === 'deleted') moved.deleted.push(path);
    done.add(path);
  }
  const changes = steps.flatMap((step) => (done.has(step.path) ? changeOf(step) : []));
  return { ...moved, changes, raced };
}

function changeOf(step: Step): Span[] {
  if (!('expect' in step)) return [];
  const { path, expect: before } = step;
  const after = 'hash' in step ? { hash: step.hash, mode: step.mode } : null;
  return [{ path, before, after }];
}

export function toDifference({ path, before, after }: TreeChange): Difference {
  return { path, from: before, to: after };
}

/** A restore deletes only what the target would hold had it been there; the rest is left. */
async function sparedDeletions(
  { store, sights }: MoveDeps,
  { to, asOf = Infinity }: { readonly to: Commit; readonly asOf: number | undefined },
  differences: readonly Difference[],
): Promise<Skipped[]> {
  const deletions = differences.filter((one) => one.to === null);
  if (deletions.length === 0) return [];
  const paths = deletions.map(({ path }) => path);
  const texts = await ignoreFilesAbove(store, to.id, paths);
  const sight = sights.at(to.trailers[BASED_ON] ?? to.id);
  const look = createLookout(sight, (folder) => texts.get(folder));
  return deletions.flatMap(({ path, from }): Skipped[] => {
    const reason = look(path, from?.mode === '120000' ? 'link' : 'file');
    const isLeft = reason === 'ignored_at_checkpoint' ? !sights.wasHeld(path, asOf) : true;
    return reason !== undefined && isLeft ? [{ path, reason }] : [];
  });
}

/** Those that may speak of the paths, by folder. A link counts as absent, as it does to git. */
async function ignoreFilesAbove(
  store: CheckpointStore,
  commit: CommitId,
  paths: readonly Path[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const read = async (folder: string): Promise<void> => {
    const path = folder === '' ? '.gitignore' : `${folder}/.gitignore`;
    const file = await store.fileAt(commit, path as Path);
    if (file === null || file.mode === '120000') return;
    texts.set(folder, (await store.readBlob(file.hash)).toString('utf8'));
  };
  const left = [...new Set(['', ...paths.flatMap(foldersAbove)])];
  while (left.length > 0) await Promise.all(left.splice(-FOLDERS_AT_ONCE).map(read));
  return texts;
}
