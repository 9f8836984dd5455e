import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, expect } from '@jest/globals';
import type { CommitId, Hash, Path } from '../../src/core/model.js';
import type { CheckpointStore, CommitRequest, FileChange } from '../../src/core/store.js';
import type { FileMode } from '../../src/core/watching.js';
import type { StoreOptions } from '../../src/git/store-options.js';
import { createStore } from '../../src/git/store.js';

export const DIALOG = '01JCTESTDIALOG000000000001';
export const OTHER = '01JCTESTDIALOG000000000002';
export const AT = Date.UTC(2026, 0, 2, 3, 4, 5);

const folders: string[] = [];
const stores: { store: CheckpointStore; state: string }[] = [];

/** Every test leaves repositories that git itself finds nothing wrong with, and no child behind. */
afterEach(async () => {
  for (const { store, state } of stores.splice(0)) {
    const dialogs = await store.dialogs();
    await store.close();
    for (const dialog of dialogs) {
      if (existsSync(join(state, 'keep-broken'))) continue;
      const report = git(
        join(state, 'dialogs', dialog, 'checkpoints'),
        'fsck',
        '--strict',
        '--full',
      );
      expect(report.replace(/^(dangling|notice).*\n?/gmu, '')).toBe('');
    }
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'smithyd-git-'));
  folders.push(folder);
  return folder;
}

export const GIT =
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'git'))
    .find((path) => existsSync(path)) ?? 'git';

export interface Opened {
  readonly store: CheckpointStore;
  readonly state: string;
  readonly checkpoints: string;
}

/** A store with one dialog. */
export async function openStore(
  options: Partial<StoreOptions> = {},
  state = join(temporaryFolder(), '.agentsmithy'),
  create = createStore,
): Promise<Opened> {
  const environment = { PATH: process.env['PATH'] ?? '' };
  const store = create({ state, git: GIT, environment, ...options });
  stores.push({ store, state });
  await store.open();
  await store.createRepository(DIALOG);
  return { store, state, checkpoints: join(state, 'dialogs', DIALOG, 'checkpoints') };
}

/** A person's git: nobody's configuration, the folder's repository. */
export function git(folder: string, ...args: string[]): string {
  const env = {
    PATH: process.env['PATH'],
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  return execFileSync(GIT, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: 'pipe',
    maxBuffer: 1 << 28,
  });
}

export function hashOf(content: Uint8Array | string): Hash {
  const bytes = Buffer.from(content);
  const digest = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  return digest as Hash;
}

export function file(
  path: string,
  content: Uint8Array | string,
  mode: FileMode = '100644',
): FileChange {
  const bytes = Buffer.from(content);
  return {
    path: path as Path,
    mode,
    hash: hashOf(bytes),
    content: () => bytes,
    size: bytes.length,
  };
}

export const gone = (path: string): FileChange => ({ path: path as Path, deleted: true });

/** A commit on top of `tip`; the first one when it is null. */
export function onTop(
  tip: CommitId | null,
  changes: Iterable<FileChange>,
  more: Partial<CommitRequest> = {},
): CommitRequest {
  return {
    dialog: DIALOG,
    branch: 'session_1',
    expected: tip,
    parents: tip === null ? [] : [tip],
    base: tip,
    changes,
    emptyFolders: [],
    message: 'a checkpoint',
    trailers: { Session: 'session_1', Kind: 'manual' },
    at: AT,
    ...more,
  };
}
