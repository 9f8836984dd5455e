import type { Path } from './model.js';
import type { FileState } from './watching.js';

/** What a checkpoint holds at a path. */
export type Entry = FileState;

/** One path on the way from the present tracked tree to the target tree. */
export interface Difference {
  readonly path: Path;
  readonly from: Entry | null;
  readonly to: Entry | null;
}

export type FileStep =
  | ({
      readonly kind: 'write' | 'chmod';
      readonly path: Path;
      readonly expect: Entry | null;
    } & Entry)
  | { readonly kind: 'delete'; readonly path: Path; readonly expect: Entry };

export interface FolderStep {
  /** `remove_folder` means: if nothing is left in it. */
  readonly kind: 'make_folder' | 'remove_folder';
  readonly path: Path;
}

export type Step = FileStep | FolderStep;

export interface PlanInput {
  readonly differences: readonly Difference[];
  /** Files or folders; nothing else is touched, even if it stands in the way. Absent: everything. */
  readonly paths?: readonly Path[];
  /** Folders recorded as empty, in the target and at present. */
  readonly emptyFolders?: { readonly wanted: readonly Path[]; readonly present: readonly Path[] };
}

export interface RestorePlan {
  readonly steps: readonly Step[];
}

/**
 * Orders a restore: write first, delete last, so that a stop at any point leaves too many files and
 * never too few. Only what stands in the way of a write goes just before it: a file where a folder
 * is needed, a folder where a file is needed, the other spelling of a case-only rename.
 */
export function planRestore(input: PlanInput): RestorePlan {
  const work = sortOut(input);
  const obstacles = findObstacles(work);
  const placed = new Set<Step>();
  const steps: Step[] = [];
  const place = (step: Step) => {
    if (placed.has(step)) return;
    placed.add(step);
    steps.push(step);
  };
  for (const head of work.heads) {
    obstacles.get(head)?.forEach(place);
    place(head);
  }
  work.deletes.forEach(place);
  work.removals.forEach(place);
  return { steps };
}

interface Work {
  /** What brings the target about, in path order. */
  readonly heads: readonly Step[];
  readonly deletes: readonly Step[];
  /** Deepest first. */
  readonly removals: readonly FolderStep[];
}

function sortOut({ differences, paths, emptyFolders }: PlanInput): Work {
  const chosen = isChosen(paths);
  const wanted = new Set(emptyFolders?.wanted ?? []);
  const present = new Set(emptyFolders?.present ?? []);
  const heads: Step[] = [...wanted]
    .filter((path) => !present.has(path) && chosen(path))
    .map((path) => ({ kind: 'make_folder', path }));
  const deletes: Step[] = [];
  for (const difference of differences) {
    const step = chosen(difference.path) ? toStep(difference) : undefined;
    if (step !== undefined) (step.kind === 'delete' ? deletes : heads).push(step);
  }
  const needed = neededFolders(differences, wanted);
  const dropped = [...present].filter((path) => chosen(path) && !needed.has(path));
  const emptied = new Set<Path>(dropped);
  for (const { path } of [...deletes, ...dropped.map((path) => ({ path }))]) {
    for (const folder of foldersAbove(path)) if (!needed.has(folder)) emptied.add(folder);
  }
  return {
    heads: heads.sort(byPath),
    deletes: deletes.sort(byPath),
    // A folder sorts before what is in it, so the reverse is deepest first.
    removals: [...emptied]
      .map((path): FolderStep => ({ kind: 'remove_folder', path }))
      .sort((a, b) => byPath(b, a)),
  };
}

function toStep({ path, from, to }: Difference): FileStep | undefined {
  if (to === null) return from === null ? undefined : { kind: 'delete', path, expect: from };
  const { mode, hash } = to;
  if (from?.hash !== hash) return { kind: 'write', path, mode, hash, expect: from };
  if (from.mode === mode) return undefined;
  const kind = from.mode === '120000' || mode === '120000' ? 'write' : 'chmod';
  return { kind, path, mode, hash, expect: from };
}

/** Folders that something of the target lies in, whether chosen or not. */
function neededFolders(
  differences: readonly Difference[],
  wanted: ReadonlySet<Path>,
): ReadonlySet<Path> {
  const needed = new Set<Path>(wanted);
  const targets = differences.filter(({ to }) => to !== null).map(({ path }) => path);
  for (const path of [...targets, ...wanted]) {
    for (const folder of foldersAbove(path)) needed.add(folder);
  }
  return needed;
}

/** For each head, what has to go right before it; in the order in which it has to go. */
function findObstacles({ heads, deletes, removals }: Work): ReadonlyMap<Step, readonly Step[]> {
  const files = new Map(heads.filter(isFileHead).map((head) => [head.path, head]));
  const found = new Map<Step, Step[]>();
  const add = (head: Step, obstacle: Step) => {
    const list = found.get(head);
    if (list === undefined) found.set(head, [obstacle]);
    else list.push(obstacle);
  };
  // Below a path that becomes a file: everything, then the folders that held it.
  for (const obstacle of [...deletes, ...removals]) {
    for (const path of [obstacle.path, ...foldersAbove(obstacle.path)]) {
      const head = files.get(path);
      if (head !== undefined) add(head, obstacle);
    }
  }
  // Above a path, or the same path in another spelling. The first head takes it away for all.
  const gone = new Map(deletes.map((step) => [step.path, step]));
  const folded = new Map(deletes.map((step) => [foldName(step.path), step]));
  for (const head of heads) {
    const inTheWay = [head.path, ...foldersAbove(head.path)].map((path) => gone.get(path));
    const isNew = head.kind === 'write' && head.expect === null;
    const twin = isNew ? folded.get(foldName(head.path)) : undefined;
    for (const step of [...inTheWay, twin]) {
      if (step !== undefined) add(head, step);
    }
  }
  return found;
}

/** What a disk without case, or one that composes accents, makes of a name. */
function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function isFileHead({ kind }: Step): boolean {
  return kind === 'write';
}

/** The paths themselves and everything below them; all paths when none are given. */
export function isChosen(paths: readonly Path[] | undefined): (path: Path) => boolean {
  if (paths === undefined) return () => true;
  const chosen = new Set(paths);
  return (path) => chosen.has(path) || foldersAbove(path).some((folder) => chosen.has(folder));
}

/** `a/b/c` -> `a/b`, `a`. */
export function foldersAbove(path: Path): Path[] {
  const folders: Path[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    folders.push(path.slice(0, end) as Path);
  }
  return folders;
}

function byPath(a: { readonly path: Path }, b: { readonly path: Path }): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}
