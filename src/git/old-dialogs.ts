import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SmithyError } from '../core/errors.js';
import type { CommitId } from '../core/model.js';
import type { Queue } from '../core/queue.js';
import type { BranchUpdate, CheckpointStore } from '../core/store.js';
import { flush, readText } from './files.js';
import { ensureDialog, kindOf, listDialogs, type Layout } from './layout.js';
import { requireDialog } from './names.js';
import { readBranches } from './refs.js';
import type { Git } from './run.js';
import { transfer, type TransferDeps } from './transfer.js';

/** A dialog of a program that knew no sessions: one branch, whatever it is called, or none at all. */
interface OldDialog {
  readonly dialog: string;
  readonly folder: string;
  readonly main: CommitId;
  /** Every branch, without `refs/heads/`. */
  readonly branches: ReadonlyMap<string, CommitId>;
  readonly bytes: number;
}

const ID = /^[0-9a-f]{40}$/u;
const MOST_BRANCHES = 1_000;
/** The newest so many; the older ones stay reachable by git. */
const MOST_COMMITS = 50_000;

export interface OldDialogDeps extends TransferDeps {
  readonly writing: Queue;
  readonly requireSpace: (bytes: number) => void;
  /** Makes new packs durable. */
  readonly admit: (packs: readonly string[]) => Promise<void>;
  readonly moveBranches: (dialog: string, updates: readonly BranchUpdate[]) => Promise<void>;
}

type OldDialogs = Pick<CheckpointStore, 'oldDialogs' | 'adopt' | 'dropOld'>;

export function createOldDialogs(deps: OldDialogDeps): OldDialogs {
  const { git, layout, writing, requireSpace, admit, moveBranches } = deps;
  return {
    oldDialogs: () => listOld(layout),

    adopt: (dialog) =>
      writing.run(async () => {
        const old = await readOld(layout, requireDialog(dialog));
        requireSpace(old.bytes);
        await admit([await copyOld(deps, old)]);
        await setAsideOld(layout, old);
        await ensureDialog(layout, dialog);
        const present = await readBranches(layout, dialog);
        const updates = branchesOf(old).map(([name, to]) => {
          return { name, to, expected: present.get(name) ?? null };
        });
        await moveBranches(dialog, updates);
        return { main: old.main, commits: await commitsOf(git, old) };
      }),

    async dropOld(dialog) {
      await rm(join(layout.old, requireDialog(dialog)), { recursive: true, force: true });
    },
  };
}

async function listOld(layout: Layout): Promise<string[]> {
  const moved = await readdir(layout.old).catch(() => []);
  const found = new Set<string>();
  for (const name of moved) {
    if (await isFolder(gitDirIn(join(layout.old, name)))) found.add(name);
  }
  for (const name of await listDialogs(layout)) {
    if ((await kindOf(layout, name)) === 'foreign') found.add(name);
  }
  return [...found].sort();
}

/** Reads the files git keeps refs in: nothing of the old repository's settings plays a part. */
async function readOld(layout: Layout, dialog: string): Promise<OldDialog> {
  const moved = join(layout.old, dialog);
  const folder = (await isFolder(gitDirIn(moved))) ? moved : join(layout.dialogs, dialog);
  const gitDir = gitDirIn(folder);
  const branches = await readOldBranches(gitDir);
  const head = readText(join(gitDir, 'HEAD'))?.trim() ?? '';
  const named = /^ref: refs\/heads\/(\S+)$/u.exec(head)?.[1];
  const present = named === undefined ? head : (branches.get(named) ?? '');
  const main = branches.get('main') ?? (present as CommitId);
  if (!ID.test(main)) throw unusable(dialog, 'it has no commits');
  // A person may have left it on a commit that no branch names.
  if (ID.test(present)) branches.set(named ?? 'HEAD', present as CommitId);
  return { dialog, folder, main, branches, bytes: await weigh(join(gitDir, 'objects')) };
}

function copyOld(deps: TransferDeps, { folder, main, branches }: OldDialog): Promise<string> {
  const names = new Set([main, ...branches.values()]);
  return transfer(deps, { objects: join(gitDirIn(folder), 'objects'), flags: ['--revs'], names });
}

/** With everything that lies in its folder, in one step; done already after a crash. */
async function setAsideOld(layout: Layout, { dialog, folder }: OldDialog): Promise<void> {
  const target = join(layout.old, dialog);
  if (folder === target) return;
  await mkdir(layout.old, { recursive: true, mode: 0o700 });
  await flush(dirname(layout.old));
  await rename(folder, target);
  await flush(layout.old);
  await flush(layout.dialogs);
}

/** The branches of the new repository. */
function branchesOf({ main, branches }: OldDialog): [name: string, to: CommitId][] {
  const others = [...branches].filter(([name, to]) => name !== 'main' && to !== main);
  const kept = new Map<string, CommitId>();
  for (const [name, to] of others) kept.set(freeName(toName(name), kept), to);
  return [['main', main], ['session_1', main], ...kept];
}

async function commitsOf(git: Git, { main, branches }: OldDialog): Promise<CommitId[]> {
  const ids = await git.text([
    'rev-list',
    '--topo-order',
    `--max-count=${MOST_COMMITS}`,
    ...new Set([...branches.values(), main]),
  ]);
  return ids.split('\n').filter(Boolean).toReversed() as CommitId[];
}

const gitDirIn = (folder: string): string => join(folder, 'checkpoints', '.git');

function toName(branch: string): string {
  return `old_${branch.replace(/[^A-Za-z0-9_-]+/gu, '-')}`.slice(0, 80);
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) {
    if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
  }
}

async function readOldBranches(gitDir: string): Promise<Map<string, CommitId>> {
  const packed = readText(join(gitDir, 'packed-refs')) ?? '';
  const branches = new Map<string, CommitId>();
  for (const [, id = '', name = ''] of packed.matchAll(/^([0-9a-f]{40}) refs\/heads\/(\S+)$/gmu)) {
    if (branches.size < MOST_BRANCHES) branches.set(name, id as CommitId);
  }
  const heads = join(gitDir, 'refs', 'heads');
  const files = await readdir(heads, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const file of files.filter((one) => one.isFile()).slice(0, MOST_BRANCHES)) {
    const path = join(file.parentPath, file.name);
    const id = readText(path)?.trim() ?? '';
    if (ID.test(id)) branches.set(path.slice(heads.length + 1), id as CommitId);
  }
  return branches;
}

async function weigh(objects: string): Promise<number> {
  const files = await readdir(objects, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const file of files.filter((one) => one.isFile())) {
    bytes += (await stat(join(file.parentPath, file.name))).size;
  }
  return bytes;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (one) => one.isDirectory(),
    () => false,
  );
}

function unusable(dialog: string, why: string): SmithyError {
  return new SmithyError(
    'STORE_CORRUPT',
    `The old dialog ${dialog} cannot be taken over: ${why}.`,
    {
      hint: 'It is left as it is.',
      data: { dialog_id: dialog },
    },
  );
}
