import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { KEPT } from '../core/store.js';
import { flush, readText, replaceFile } from './files.js';

/** Where things are under the state folder. */
export interface Layout {
  readonly store: string;
  readonly objects: string;
  readonly packs: string;
  /** Empty files made in advance. */
  readonly spare: string;
  /** The git folder our children run in; it has no refs and no work tree. */
  readonly engine: string;
  readonly dialogs: string;
  /** Dialogs as an older program left them, once their checkpoints are in the store. */
  readonly old: string;
  gitDir(dialog: string): string;
  /** Holds the branches of one dialog as loose refs. */
  heads(dialog: string): string;
}

export function layoutOf(state: string): Layout {
  const store = join(state, 'store');
  const dialogs = join(state, 'dialogs');
  const gitDir = (dialog: string): string =>
    dialog === KEPT ? join(store, 'kept', '.git') : join(dialogs, dialog, 'checkpoints', '.git');
  return {
    store,
    objects: join(store, 'objects'),
    packs: join(store, 'objects', 'pack'),
    spare: join(store, 'spare'),
    engine: join(store, 'engine'),
    dialogs,
    old: join(state, 'old-dialogs'),
    gitDir,
    heads: (dialog) => join(gitDir(dialog), 'refs', 'heads'),
  };
}

const HEADER = '# Written by smithyd and checked at every start; a changed one is set aside.\n';

/** Raw bytes always, no automatic anything, nothing that could name a program. */
const COMMON = `[core]
	fileMode = true
	logAllRefUpdates = false
	hooksPath = /dev/null
	fsmonitor = false
	untrackedCache = false
	autocrlf = false
	safecrlf = false
	attributesFile = /dev/null
	excludesFile = /dev/null
	protectHFS = true
	protectNTFS = true
	bigFileThreshold = 8m
	fsync = all
[gc]
	auto = 0
[maintenance]
	auto = false
[commit]
	gpgSign = false
[pack]
	threads = 1
	windowMemory = 64m
	writeReverseIndex = false
[repack]
	writeBitmaps = false
[diff]
	renameLimit = 2000
`;

const ENGINE_CONFIG = `${HEADER}${COMMON}[fastimport]
	unpackLimit = 0
`;

/** Objects are shared and other dialogs need them: no command may prune from here. */
const DIALOG_CONFIG = `${HEADER}[extensions]
	preciousObjects = true
${COMMON}`;

const version = (config: string, number: number, isBare: boolean): string =>
  config.replace('[core]\n', `[core]\n\trepositoryFormatVersion = ${number}\n\tbare = ${isBare}\n`);

const ENGINE_FILES: Readonly<Record<string, string>> = {
  HEAD: 'ref: refs/heads/main\n',
  config: version(ENGINE_CONFIG, 0, true),
};

const ALTERNATES = 'objects/info/alternates';

const DIALOG_FILES: Readonly<Record<string, string>> = {
  HEAD: 'ref: refs/heads/main\n',
  config: version(DIALOG_CONFIG, 1, false),
  'info/attributes': '* -text -ident -filter -working-tree-encoding\n',
};

/** Relative, so that a moved project is still whole. */
function alternatesOf(layout: Layout, dialog: string): string {
  return `${relative(join(layout.gitDir(dialog), 'objects'), layout.objects)}\n`;
}

export async function ensureEngine(layout: Layout): Promise<boolean> {
  await mkdir(layout.packs, { recursive: true, mode: 0o700 });
  const isNew = readText(join(layout.engine, 'config')) === undefined;
  const changed = await ensureFiles(layout.engine, ENGINE_FILES);
  await mkdir(join(layout.engine, 'refs'), { recursive: true, mode: 0o700 });
  const { packs, objects, engine, store } = layout;
  for (const folder of [packs, objects, engine, store, dirname(store)]) {
    if (changed) await flush(folder);
  }
  return changed && !isNew;
}

/**
 * Makes what is missing and puts our files back where they differ; branches stay. True when it
 * had to mend something that was there.
 */
export async function ensureDialog(layout: Layout, dialog: string): Promise<boolean> {
  const gitDir = layout.gitDir(dialog);
  const isNew = readText(join(gitDir, 'HEAD')) === undefined;
  await mkdir(layout.heads(dialog), { recursive: true, mode: 0o700 });
  // HEAD last: git takes a folder with HEAD, refs and objects for a repository.
  const { HEAD, ...rest } = DIALOG_FILES;
  const files = { ...rest, [ALTERNATES]: alternatesOf(layout, dialog) };
  let changed = await ensureFiles(gitDir, files);
  // A person may well have looked at another branch.
  if (isNew && HEAD !== undefined) {
    await replaceFile(join(gitDir, 'HEAD'), HEAD);
    changed = true;
  }
  if (changed) {
    const folders = ['refs/heads', 'refs', 'objects/info', 'objects', 'info', '.', '..', '../..'];
    await Promise.all(folders.map((folder) => flush(join(gitDir, folder))));
    await flush(layout.dialogs);
    await flush(dirname(layout.dialogs));
  }
  return changed && !isNew;
}

async function ensureFiles(folder: string, files: Readonly<Record<string, string>>) {
  let changed = false;
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    const present = readText(path);
    if (present === content) continue;
    if (present !== undefined) await rename(path, `${path}.foreign`);
    await replaceFile(path, content);
    changed = true;
  }
  return changed;
}

export type RepositoryKind = 'ours' | 'half' | 'foreign';

/** Whose repository this is: one that something else made is left alone. */
export async function kindOf(layout: Layout, dialog: string): Promise<RepositoryKind> {
  const gitDir = layout.gitDir(dialog);
  const alternates = readText(join(gitDir, ALTERNATES));
  if (alternates === alternatesOf(layout, dialog)) return 'ours';
  const config = readText(join(gitDir, 'config'));
  if (config?.startsWith(HEADER) === true) return 'half';
  // We keep no objects there: whatever is in it, it is not the beginning of one of ours.
  const hasContent = await holdsObjects(join(gitDir, 'objects'));
  return config === undefined && !hasContent ? 'half' : 'foreign';
}

async function holdsObjects(objects: string): Promise<boolean> {
  const names = await readdir(objects).catch(() => []);
  if (names.some((name) => name !== 'info' && name !== 'pack')) return true;
  return (await readdir(join(objects, 'pack')).catch(() => [])).length > 0;
}

/** The dialogs with a repository of ours, sorted. */
export async function ownDialogs(layout: Layout): Promise<string[]> {
  const own: string[] = [];
  for (const dialog of await listDialogs(layout)) {
    if ((await kindOf(layout, dialog)) !== 'foreign') own.push(dialog);
  }
  return own;
}

/** The dialogs that have a repository, whoever made it, sorted. */
export async function listDialogs(layout: Layout): Promise<string[]> {
  const names = await readdir(layout.dialogs).catch(() => []);
  const found: string[] = [];
  for (const name of names.sort()) {
    if (name.startsWith(GONE)) continue;
    const entries = await readdir(layout.gitDir(name)).catch(() => undefined);
    if (entries !== undefined) found.push(name);
  }
  return found;
}

/** The same, and the one of the whole project once there is something in it. */
export async function listRepositories(layout: Layout): Promise<string[]> {
  const kept = await readdir(layout.gitDir(KEPT)).catch(() => undefined);
  return [...(kept === undefined ? [] : [KEPT]), ...(await listDialogs(layout))];
}

const GONE = '.deleted-';

/**
 * With everything in its folder, and under another name at once, so that a kill half-way leaves
 * no half dialog.
 */
export async function removeDialog(layout: Layout, dialog: string): Promise<void> {
  const gone = join(layout.dialogs, `${GONE}${dialog}`);
  await rm(gone, { recursive: true, force: true });
  await rename(join(layout.dialogs, dialog), gone);
  await flush(layout.dialogs);
  await rm(gone, { recursive: true, force: true });
}

/** Finishes removals that a kill interrupted. */
export async function sweepRemoved(layout: Layout): Promise<string[]> {
  const names = await readdir(layout.dialogs).catch(() => []);
  const removed = names
    .filter((name) => name.startsWith(GONE))
    .map((name) => join(layout.dialogs, name));
  for (const gone of removed) await rm(gone, { recursive: true, force: true });
  return removed;
}
