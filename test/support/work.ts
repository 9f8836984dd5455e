import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { FIXED_EXCLUSIONS } from '../../src/core/tracking.js';
import { newProject, temporaryFolder, type Project } from './daemon-project.js';
import { plainEnvironment, type RunOptions } from './processes.js';
import type { RawSocket, Received, WireError } from './raw-socket.js';

export interface Counts {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
}
export interface SkippedPath {
  readonly path: string;
  readonly reason: string;
}
export interface Saved {
  readonly commit_id: string;
  readonly message: string;
  readonly session: string;
  readonly changed: Counts;
  readonly skipped: readonly SkippedPath[];
  readonly duration_ms: number;
}
export interface Listed {
  readonly commit_id: string;
  readonly message: string;
  readonly kind: string;
  readonly session: string;
  readonly created_at: string;
  readonly changed: Counts;
}
export interface Opened {
  readonly dialog_id: string;
  readonly title: string;
  readonly initial_checkpoint: string;
  readonly active_session: string;
}
export interface Restored {
  readonly restored_to: string;
  readonly new_checkpoint: string;
  readonly safety_checkpoint: string | null;
  readonly restored: readonly string[];
  readonly deleted: readonly string[];
  readonly kept: readonly string[];
  readonly skipped: readonly SkippedPath[];
}
export interface SentMessage {
  readonly checkpoint: string;
  readonly session: string;
  readonly message_index: number;
}
export type Tree = Readonly<Record<string, string>>;

const OWN = new Set(['.git', '.agentsmithy']);

/** Git as nobody has configured it. */
export function git(folder: string, args: readonly string[], input?: string | Buffer): string {
  return gitBytes(folder, args, input).toString('utf8');
}

function gitBytes(folder: string, args: readonly string[], input: string | Buffer = ''): Buffer {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: folder,
    env: plainEnvironment({
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Somebody',
      GIT_AUTHOR_EMAIL: 'somebody@example.org',
      GIT_COMMITTER_NAME: 'Somebody',
      GIT_COMMITTER_EMAIL: 'somebody@example.org',
      LC_ALL: 'C.UTF-8',
    }),
    input,
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  throw new Error(`git ${args.join(' ')} ended with ${status ?? 'a signal'}: ${stderr.toString()}`);
}

/** One daemon for several tests, each of which begins with an emptied folder and its own dialog. */
export class Work {
  readonly project: Project;
  readonly socket: RawSocket;

  constructor(project: Project, socket: RawSocket) {
    this.project = project;
    this.socket = socket;
  }

  static async start(project: Project, options: RunOptions = {}): Promise<Work> {
    await project.startDaemon(options);
    return new Work(project, await project.socket());
  }

  get root(): string {
    return this.project.root;
  }

  at(path: string): string {
    return join(this.root, path);
  }

  async call<T>(method: string, params: object = {}): Promise<T> {
    const { result, error } = await this.answer(method, params);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as T;
  }

  async refusal(method: string, params: object = {}): Promise<WireError> {
    const { result, error } = await this.answer(method, params);
    if (error === undefined) throw new Error(`${method} was answered: ${JSON.stringify(result)}`);
    return error;
  }

  answer(method: string, params: object): Promise<Received> {
    return this.socket.call(method, params);
  }

  save(message?: string): Promise<Saved> {
    return this.call('create_checkpoint', message === undefined ? {} : { message });
  }

  restore(checkpoint: string, more: object = {}): Promise<Restored> {
    return this.call('restore', { checkpoint_id: checkpoint, ...more });
  }

  async log(more: object = {}): Promise<readonly Listed[]> {
    const { checkpoints } = await this.call<{ checkpoints: Listed[] }>('list_checkpoints', more);
    return checkpoints;
  }

  /** Writes files; null deletes. */
  put(files: Readonly<Record<string, string | Buffer | null>>): void {
    for (const [path, content] of Object.entries(files)) {
      if (content === null) rmSync(this.at(path), { recursive: true, force: true });
      else {
        mkdirSync(dirname(this.at(path)), { recursive: true });
        writeFileSync(this.at(path), content);
      }
    }
  }

  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  /** Nothing but the given files, and a dialog that begins with them. */
  async fresh(files: Readonly<Record<string, string | Buffer>> = {}): Promise<Opened> {
    for (const name of readdirSync(this.root)) {
      if (name !== '.agentsmithy') rmSync(this.at(name), { recursive: true, force: true });
    }
    this.put(files);
    return this.call<Opened>('create_dialog', { title: 'a test' });
  }

  /** Everything on disk outside the state folders: path -> kind, mode and content. */
  disk(): Tree {
    return diskTree(this.root);
  }

  checkpoints(dialog: string): string {
    return this.project.path('dialogs', dialog, 'checkpoints');
  }

  async current(): Promise<string> {
    const { current_dialog_id: id } = await this.call<{ current_dialog_id: string }>('status');
    return id;
  }

  /** What git reads out of a checkpoint: path -> mode and blob id. */
  async tree(commit: string): Promise<Tree> {
    return gitTree(this.checkpoints(await this.current()), commit);
  }

  async treeId(commit: string): Promise<string> {
    const folder = this.checkpoints(await this.current());
    return git(folder, ['rev-parse', `${commit}^{tree}`]).trim();
  }

  async content(commit: string, path: string): Promise<Buffer> {
    return gitBytes(this.checkpoints(await this.current()), ['show', `${commit}:${path}`]);
  }

  async fsck(): Promise<string> {
    const report = git(this.checkpoints(await this.current()), ['fsck', '--strict', '--full']);
    return report.replace(/^(dangling|notice).*\n?/gmu, '');
  }
}

/** Starts the daemon before the tests of the describe and takes everything away after them. */
export function sharedWork(
  options: RunOptions = {},
  prepare: (project: Project) => void = () => undefined,
): () => Work {
  let work: Work | undefined;
  let project: Project | undefined;
  beforeAll(async () => {
    project = newProject();
    chmodSync(project.root, 0o755);
    prepare(project);
    work = await Work.start(project, options);
  });
  afterAll(async () => {
    await project?.remove();
  });
  return () => {
    if (work === undefined) throw new Error('the daemon did not start');
    return work;
  };
}

function diskTree(root: string): Tree {
  const tree: Record<string, string> = {};
  const walk = (folder: string): void => {
    const names = readdirSync(join(root, folder), { encoding: 'buffer' });
    if (folder !== '' && names.length === 0) tree[`${folder}/`] = 'empty folder';
    for (const name of names.map((bytes) => bytes.toString('utf8')).sort()) {
      if (OWN.has(name)) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
      if (stat === undefined) tree[path] = 'not UTF-8';
      else if (stat.isDirectory()) walk(path);
      else if (stat.isSymbolicLink()) tree[path] = `link ${readlinkSync(join(root, path))}`;
      else if (!stat.isFile()) tree[path] = 'special';
      else {
        const kind = (stat.mode & 0o100) === 0 ? 'file' : 'program';
        tree[path] = `${kind} ${readFileSync(join(root, path)).toString('latin1')}`;
      }
    }
  };
  walk('');
  return tree;
}

function gitTree(folder: string, commit: string): Tree {
  const lines = gitBytes(folder, ['ls-tree', '-r', '-z', commit]).toString('utf8').split('\0');
  return Object.fromEntries(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const [, mode = '', hash = '', path = ''] = /^(\d+) \w+ (\w+)\t([^]*)$/u.exec(line) ?? [];
        return [path, `${mode} ${hash}`];
      }),
  );
}

/** The id of the tree that `git add -A` makes of the folder, in a repository of its own. */
export function gitView(root: string): string {
  const base = temporaryFolder();
  try {
    git(base, ['init', '-q', '--bare', 'view']);
    const view = join(base, 'view');
    mkdirSync(join(view, 'info'), { recursive: true });
    const rules = [...FIXED_EXCLUSIONS, '.*', '!.gitignore', '!.gitattributes', '!.github'];
    writeFileSync(join(view, 'info/exclude'), `${rules.join('\n')}\n`);
    writeFileSync(join(view, 'info/attributes'), '* -text -ident -filter -working-tree-encoding\n');
    const here = [`--git-dir=${view}`, `--work-tree=${root}`, '-c', 'core.autocrlf=false'];
    git(root, [...here, 'add', '-A']);
    return git(root, [...here, 'write-tree']).trim();
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
