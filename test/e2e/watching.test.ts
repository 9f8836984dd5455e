import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import type { RawSocket } from '../support/raw-socket.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();

interface Known {
  readonly files: readonly { path: string; mode: string; hash: string; kind: string }[];
  readonly empty_folders: readonly string[];
  readonly skipped: readonly { path: string; reason: string }[];
  readonly total: number;
  readonly fresh: boolean;
}

interface Change {
  readonly path: string;
  readonly change: string;
  readonly origin: string;
}

function write(project: Project, path: string, content: string): void {
  const file = join(project.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

async function known(socket: RawSocket, params: object = {}): Promise<Known> {
  const { result } = await socket.call('known_files', params);
  return result as unknown as Known;
}

async function paths(socket: RawSocket): Promise<string[]> {
  return (await known(socket)).files.map(({ path }) => path);
}

/** Every unannounced change heard so far, in order. */
function changes(socket: RawSocket): Change[] {
  return socket.received.flatMap(({ event }) =>
    event?.['type'] === 'unknown_change' ? (event['changes'] as Change[]) : [],
  );
}

async function listening(project: Project): Promise<RawSocket> {
  await project.startDaemon();
  const socket = await project.socket();
  await socket.call('subscribe', {});
  return socket;
}

function git(project: Project, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd: project.root, encoding: 'utf8' });
}

describe('the daemon knows the project', () => {
  it('an answer holds every change that ended before the question', async () => {
    const project = newProject();
    const socket = await listening(project);
    for (let turn = 0; turn < 200; turn++) {
      write(project, `deep/${turn % 7}/file`, `content ${turn}\n`);
      const path = `deep/${turn % 7}/file`;
      const { files } = await known(socket, { paths: [path] });
      const expected = execFileSync('git', ['hash-object', '--stdin'], {
        input: `content ${turn}\n`,
        encoding: 'utf8',
      }).trim();
      expect(files[0]?.hash).toBe(expected);
    }
  });

  it('names kinds and modes as git does, and empty folders too', async () => {
    const project = newProject();
    write(project, 'plain', 'x');
    write(project, 'run.sh', '#!/bin/sh\n');
    chmodSync(join(project.root, 'run.sh'), 0o755);
    symlinkSync('/etc/passwd', join(project.root, 'outside'));
    mkdirSync(join(project.root, 'nothing/here'), { recursive: true });
    const socket = await listening(project);
    const { files, empty_folders: folders } = await known(socket);
    expect(files.map(({ path, mode, kind }) => `${mode} ${kind} ${path}`)).toEqual([
      '120000 link outside',
      '100644 file plain',
      '100755 file run.sh',
    ]);
    expect(folders).toEqual(['nothing/here']);
  });

  it('71: tells of an edit that nobody announced, with its content', async () => {
    const project = newProject();
    write(project, 'a', 'one\n');
    const socket = await listening(project);
    write(project, 'a', 'two\n');
    const event = await socket.event('unknown_change');
    expect(event).toMatchObject({
      origin: 'live',
      total: 1,
      changes: [
        {
          path: 'a',
          change: 'modified',
          before: { hash: '5626abf0f72e58d7a153368ba57db4c673c0e171' },
          after: { hash: 'f719efd430d52bcfc8566a43b2eb655688d38871' },
        },
      ],
    });
  });

  it('7: says nothing when the same content is written again', async () => {
    const project = newProject();
    write(project, 'same', 'x\n');
    const socket = await listening(project);
    write(project, 'same', 'x\n');
    write(project, 'other', 'y\n');
    await until('the other file was heard of', () => {
      return changes(socket).some(({ path }) => path === 'other');
    });
    await known(socket);
    // A new file may be seen before its content is written, and then once more.
    expect(new Set(changes(socket).map(({ path }) => path))).toEqual(new Set(['other']));
  });

  it('9: an editor’s save by rename is one modification of the file', async () => {
    const project = newProject();
    write(project, 'text', 'before\n');
    const socket = await listening(project);
    write(project, '.text.swp', 'after\n');
    renameSync(join(project.root, '.text.swp'), join(project.root, 'text'));
    await until('the save was heard of', () => changes(socket).length > 0);
    await known(socket);
    expect(changes(socket).map(({ path, change }) => `${change} ${path}`)).toEqual([
      'modified text',
    ]);
  });

  it('74: finds edits made while it was down and calls them offline', async () => {
    const project = newProject();
    write(project, 'kept', 'x');
    write(project, 'edited', 'one');
    write(project, 'removed', 'x');
    await project.startDaemon();
    await known(await project.socket());
    await project.cli(['stop']);
    write(project, 'edited', 'two');
    write(project, 'born/late', 'x');
    rmSync(join(project.root, 'removed'));
    await project.startDaemon();
    const socket = await project.socket();
    expect(await paths(socket)).toEqual(['born/late', 'edited', 'kept']);
    await socket.call('subscribe', { since: 'from-before' });
    const told = changes(socket).map(({ path, change, origin }) => `${origin} ${change} ${path}`);
    expect(told.sort()).toEqual([
      'offline created born/late',
      'offline deleted removed',
      'offline modified edited',
    ]);
  });

  it('a folder with thousands of files that moves away is one event', async () => {
    const project = newProject();
    for (let index = 0; index < 5_000; index += 1) write(project, `many/f${index}`, String(index));
    const socket = await listening(project);
    expect((await known(socket)).total).toBe(5_000);
    renameSync(join(project.root, 'many'), join(project.root, '.agentsmithy/away'));
    expect(await paths(socket)).toEqual([]);
    const event = await socket.event('unknown_change');
    expect(event).toMatchObject({ total: 5_000, origin: 'live' });
    expect(event['changes']).toHaveLength(200);
    expect(changes(socket)).toHaveLength(200);
  });

  it('33, 34: an ignore file counts from the moment it is written', async () => {
    const project = newProject();
    write(project, 'notes/a.tmpx', 'x');
    write(project, 'notes/b.txt', 'x');
    const socket = await listening(project);
    expect(await paths(socket)).toEqual(['notes/a.tmpx', 'notes/b.txt']);
    write(project, 'notes/.gitignore', '*.tmpx\n');
    expect(await paths(socket)).toEqual(['notes/.gitignore', 'notes/b.txt']);
    const event = await socket.event('tracking_changed');
    expect(event).toMatchObject({ untracked: ['notes/a.tmpx'], untracked_total: 1 });
    rmSync(join(project.root, 'notes/.gitignore'));
    expect(await paths(socket)).toEqual(['notes/a.tmpx', 'notes/b.txt']);
  });

  it('28, 42: leaves secrets, hidden and built things out, and says why', async () => {
    const project = newProject();
    for (const path of ['.env', '.github/ci.yml', '.cache/x', 'dist/x.js', 'id_rsa', 'src/x.ts']) {
      write(project, path, 'x');
    }
    const socket = await listening(project);
    expect(await paths(socket)).toEqual(['.github/ci.yml', 'src/x.ts']);
    const why = async (path: string): Promise<unknown> => {
      return (await socket.call('status', { why: path })).result?.['why'];
    };
    expect(await why('.env')).toMatchObject({ tracked: false, reason: 'secret' });
    expect(await why('dist/x.js')).toMatchObject({ tracked: false, reason: 'fixed', at: 'dist' });
    expect(await why('.cache/x')).toMatchObject({ tracked: false, reason: 'hidden' });
    expect(await why('src/x.ts')).toMatchObject({ tracked: true, reason: 'default' });
    const { stdout } = await project.cli(['status', '--why', '.env']);
    expect(stdout).toContain('.env is not tracked: it looks like a secret');
    await socket.call('update_config', { include: ['.env', 'dist/x.js'] });
    expect(await paths(socket)).toEqual(['.env', '.github/ci.yml', 'dist/x.js', 'src/x.ts']);
  });

  it('25, 38: lists what it cannot hold, and never opens it', async () => {
    const project = newProject();
    execFileSync('mkfifo', [join(project.root, 'pipe')]);
    write(project, 'big', 'x'.repeat(5000));
    const socket = await listening(project);
    await socket.call('update_config', { maxFileBytes: 4000 });
    const { files, skipped } = await known(socket);
    expect(files).toEqual([]);
    expect([...skipped].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: 'big', reason: 'too_large' },
      { path: 'pipe', reason: 'special' },
    ]);
  });

  it('43: tracks a nested repository as content and says so', async () => {
    const project = newProject();
    write(project, 'inner/code', 'x');
    execFileSync('git', ['init', '-q', join(project.root, 'inner')]);
    const socket = await listening(project);
    expect(await paths(socket)).toEqual(['inner/code']);
    const { result } = await socket.call('status');
    expect(result?.['watcher']).toMatchObject({ nested_repositories: ['inner'], nested_roots: [] });
  });

  it('leaves a nested project with a daemon of its own out, and says so', async () => {
    const project = newProject();
    write(project, 'mine', 'x');
    write(project, 'inner/theirs', 'x');
    const outer = await listening(project);
    expect(await paths(outer)).toEqual(['inner/theirs', 'mine']);
    await project.cli(['--root', join(project.root, 'inner'), 'start']);
    expect(await paths(outer)).toEqual(['mine']);
    const { result } = await outer.call('status');
    expect(result?.['watcher']).toMatchObject({ nested_roots: ['inner'] });
    const { error } = await outer.call('start_edit', { files: ['inner/theirs'] });
    expect(error?.message).toBe('inner is a project of its own.');
    expect(error?.data).toMatchObject({ code: 'PATH_UNSUPPORTED' });

    await project.cli(['--root', join(project.root, 'inner'), 'stop']);
    rmSync(join(project.root, 'inner/.agentsmithy'), { recursive: true });
    write(project, 'inner/theirs', 'ours again');
    expect(await paths(outer)).toEqual(['inner/theirs', 'mine']);
    expect((await outer.call('start_edit', { files: ['inner/theirs'] })).error).toBeUndefined();
  });

  it('a checkout of git is told as one thing', async () => {
    const project = newProject();
    git(project, 'init', '-q', '-b', 'main');
    for (let file = 0; file < 40; file++) write(project, `src/${file}`, 'one\n');
    git(project, 'add', '-A');
    git(project, 'commit', '-qm', 'one');
    git(project, 'checkout', '-qb', 'other');
    for (let file = 0; file < 40; file++) write(project, `src/${file}`, 'two\n');
    git(project, 'commit', '-qam', 'two');
    const socket = await listening(project);
    await known(socket);
    git(project, 'checkout', '-q', 'main');
    await until('all files were heard of', () => changes(socket).length >= 40);
    expect(new Set(changes(socket).map(({ path }) => path)).size).toBe(40);
    expect(git(project, 'status', '--short')).toBe('');
  });

  it('a scan on demand finds the same and says how long it took', async () => {
    const project = newProject();
    write(project, 'a', 'x');
    const socket = await listening(project);
    const { result } = await socket.call('rescan');
    expect(result).toMatchObject({ fresh: true, files: 1 });
  });

  it('changes the engine without a restart', async () => {
    const project = newProject();
    write(project, 'a', 'x');
    const socket = await listening(project);
    await socket.call('update_config', { watcher: 'chokidar' });
    write(project, 'b', 'y');
    expect(await paths(socket)).toEqual(['a', 'b']);
    const { result } = await socket.call('status');
    expect(result?.['watcher']).toMatchObject({ engine: 'chokidar', files: 2 });
  });

  it('a project that is renamed away ends its daemon and loses nothing', async () => {
    const project = newProject((folder) => {
      mkdirSync(join(folder, 'here'));
      return join(folder, 'here');
    });
    write(project, 'a', 'x');
    const socket = await listening(project);
    expect(await paths(socket)).toEqual(['a']);
    const elsewhere = join(project.folder, 'there');
    renameSync(project.root, elsewhere);
    // Whoever asks is how it is noticed at once; a daemon nobody asks notices it by itself.
    socket.send('{"jsonrpc":"2.0","id":"x","method":"known_files","params":{}}\n');
    await until('the daemon has ended', () => socket.isClosed);
    expect(changes(socket)).toEqual([]);
    await project.cli(['--root', elsewhere, 'start', '--rebind']);
    const moved = await project.cli(['--root', elsewhere, '--json', 'files']);
    expect((JSON.parse(moved.stdout) as Known).files.map(({ path }) => path)).toEqual(['a']);
    await project.cli(['--root', elsewhere, 'stop']);
  });
});
