import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { argumentsOf, isAlive, processesOf, run, signal } from '../support/processes.js';
import { projectsPerTest, type DaemonInfo } from '../support/daemon-project.js';
import { request } from '../support/raw-socket.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('starting the daemon', () => {
  it('writes daemon.json with exactly what a client needs to reach it', async () => {
    const project = newProject();
    const { started, ...said } = await project.startDaemon();
    expect(started).toBe(true);
    const file = project.daemonFile();
    expect(file).toEqual(said);
    expect(file).toEqual({
      pid: expect.any(Number),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/u),
      protocol: 1,
      root: project.root,
      socket: project.path('run/smithyd.sock'),
      http: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/u) },
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u),
    });
    expect(processesOf(project.root)).toEqual([file?.pid]);
  });

  it('closes its folders, files and socket to everybody but their owner', async () => {
    const project = newProject();
    await project.startDaemon();
    expect({
      state: modeOf(project.path()),
      run: modeOf(project.path('run')),
      daemon: modeOf(project.path('run/daemon.json')),
      token: modeOf(project.path('run/token')),
      log: modeOf(project.path('run/daemon.log')),
      lock: modeOf(project.path('run/lock')),
      socket: modeOf(project.path('run/smithyd.sock')),
    }).toEqual({
      state: '700',
      run: '700',
      daemon: '600',
      token: '600',
      log: '600',
      lock: '600',
      socket: '600',
    });
  });

  it('makes a new token at each start', async () => {
    const project = newProject();
    await project.startDaemon();
    const first = readFileSync(project.path('run/token'), 'utf8');
    await project.cli(['stop']);
    await project.startDaemon();
    const second = readFileSync(project.path('run/token'), 'utf8');
    expect(first).toMatch(/^[\w-]{43}\n$/u);
    expect(second).not.toBe(first);
  });

  it('90: attaches to the daemon that runs already', async () => {
    const project = newProject();
    const first = await project.startDaemon();
    const second = await project.startDaemon();
    expect(second).toEqual({ ...first, started: false });
    expect(processesOf(project.root)).toEqual([first.pid]);
  });

  it('90: leaves exactly one daemon when eight start at once', async () => {
    const project = newProject();
    const starts = await Promise.all(Array.from({ length: 8 }, () => project.startDaemon()));
    expect(new Set(starts.map(({ pid }) => pid)).size).toBe(1);
    const [{ pid } = { pid: 0 }] = starts;
    await until('the late ones are gone', () => processesOf(project.root).length === 1);
    expect(processesOf(project.root)).toEqual([pid]);
    expect(starts.filter(({ started }) => started)).toHaveLength(1);
  });

  it('is not needed before other commands', async () => {
    const project = newProject();
    const { pid, root } = await project.status();
    expect(root).toBe(project.root);
    expect(processesOf(project.root)).toEqual([pid]);
  });

  it('81, 90: is refused in the foreground while a daemon runs', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    const { code, stderr } = await project.cli(['start', '--foreground']);
    expect(code).toBe(75);
    expect(stderr).toContain(`process ${pid}`);
  });

  it('leaves git status of the project as it was', async () => {
    const project = newProject();
    execFileSync('git', ['init', '-q', project.root], { stdio: 'ignore' });
    await project.startDaemon();
    const status = execFileSync(
      'git',
      ['-C', project.root, 'status', '--porcelain', '--untracked-files=all'],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    expect(status.toString()).toBe('');
  });

  it('hands on nothing of a hostile environment', async () => {
    const project = newProject();
    const inside = join(project.root, 'bin');
    const { pid } = await project.startDaemon({
      env: {
        NODE_OPTIONS: '--no-deprecation',
        GIT_DIR: '/nowhere',
        LD_PRELOAD_LIKE: 'x',
        npm_config_x: 'x',
        PATH: `.:bin:${inside}:${project.root}:${process.env['PATH'] ?? ''}`,
      },
    });
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const names = environment.filter((entry) => entry !== '').map((entry) => entry.split('=')[0]);
    const allowed = ['PATH', 'HOME', 'TMPDIR'];
    expect(names.filter((name) => !allowed.includes(name ?? ''))).toEqual([]);
    const path = environment.find((entry) => entry.startsWith('PATH='))?.slice('PATH='.length);
    expect(path).toBe(process.env['PATH']);
  });
});

describe('stopping the daemon', () => {
  it('takes daemon.json, token and socket away and ends the process', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    expect(await project.json(['stop'])).toEqual({ stopped: true });
    for (const file of ['run/daemon.json', 'run/token', 'run/smithyd.sock']) {
      expect({ file, exists: existsSync(project.path(file)) }).toEqual({ file, exists: false });
    }
    await until('the process is gone', () => !isAlive(pid));
    expect(processesOf(project.root)).toEqual([]);
  });

  it('is no error when none runs', async () => {
    const project = newProject();
    expect(await project.json(['stop'])).toEqual({ stopped: false });
    expect(existsSync(project.path())).toBe(false);
  });

  it('waits for one that still finishes what is under way', async () => {
    const project = newProject(below);
    const git = slowGit(project.folder);
    const { pid } = await project.startDaemon({
      env: { PATH: `${git}:${process.env['PATH'] ?? ''}` },
    });
    const asking = await project.socket();
    asking.send(request('slow', 'doctor'));
    await until('git is being asked', () => existsSync(join(git, 'asked')));
    signal(pid, 'SIGTERM');
    await until('stopping has begun', () => !existsSync(project.path('run/daemon.json')));
    // It gives git up after its own time-out: `go` never comes.
    expect(await project.cli(['stop'])).toEqual({
      code: 0,
      stdout: `The daemon stopped for ${project.root}.\n`,
      stderr: '',
    });
    await until('the process is gone', () => !isAlive(pid));
    expect(await project.json(['stop'])).toEqual({ stopped: false });
  });

  it('is no error for those who ask while it stops already', async () => {
    const project = newProject();
    const { pid, socket } = await project.startDaemon();
    // The one who waited for the start has gone; a daemon that is held still could not let go of it.
    await until('nobody is connected', () => connectionsTo(socket) === 0);
    // Held still until all four are connected: one of them is first, three come too late.
    signal(pid, 'SIGSTOP');
    const asking = Promise.all(Array.from({ length: 4 }, () => project.cli(['stop'])));
    await until('all are connected', () => connectionsTo(socket) === 4);
    signal(pid, 'SIGCONT');
    const stops = await asking;
    expect(stops.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      stops.map(() => ({ code: 0, stderr: '' })),
    );
    await until('the process is gone', () => !isAlive(pid));
    expect(processesOf(project.root)).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('is clean on %s', async (name) => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    signal(pid, name);
    await until('the process is gone', () => !isAlive(pid));
    expect(existsSync(project.path('run/daemon.json'))).toBe(false);
    expect(existsSync(project.path('run/smithyd.sock'))).toBe(false);
    expect(logOf(project.path('run/daemon.log')).at(-1)).toMatchObject({
      what: 'stopping',
      reason: name,
    });
  });

  it('answers the requests under way first', async () => {
    const project = newProject(below);
    const git = slowGit(project.folder);
    const { pid } = await project.startDaemon({
      env: { PATH: `${git}:${process.env['PATH'] ?? ''}` },
    });
    const asking = await project.socket();
    const stopping = await project.socket();
    asking.send(request('slow', 'doctor'));
    await until('git is being asked', () => existsSync(join(git, 'asked')));
    stopping.send(request('stop', 'shutdown'));
    expect((await stopping.answer('stop')).result).toEqual({ stopping: true });
    writeFileSync(join(git, 'go'), '');
    expect((await asking.answer('slow')).result?.['checks']).toEqual(expect.any(Array));
    await asking.closed();
    await until('the process is gone', () => !isAlive(pid));
  });

  it('answers a whole batch under way first', async () => {
    const project = newProject(below);
    const git = slowGit(project.folder);
    await project.startDaemon({ env: { PATH: `${git}:${process.env['PATH'] ?? ''}` } });
    const asking = await project.socket();
    asking.send(`[${request(1, 'doctor').trim()},${request(2, 'status').trim()}]\n`);
    await until('git is being asked', () => existsSync(join(git, 'asked')));
    signal(project.daemonFile()?.pid ?? 0, 'SIGTERM');
    await until('stopping has begun', () => !existsSync(project.path('run/daemon.json')));
    writeFileSync(join(git, 'go'), '');
    const [frame] = await asking.frames(1);
    expect(frame?.batch?.map(({ id, error }) => ({ id, error }))).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('sends all of its answers to a client that reads them late', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    const late = await project.socket();
    const other = await project.socket();
    // More than the kernel keeps for a client that does not read.
    const include = Array.from({ length: 150 }, (_, at) => `${at}${'x'.repeat(2000)}`);
    await other.call('update_config', { include });
    late.net.pause();
    for (const id of [1, 2, 3, 4]) late.send(request(id, 'get_config'));
    await until('all four are answered', async () => {
      const { result } = await other.call('get_metrics');
      return String(result?.['text']).includes('{method="get_config",outcome="ok"} 4');
    });
    signal(pid, 'SIGTERM');
    await until('stopping has begun', () => !existsSync(project.path('run/daemon.json')));
    late.net.resume();
    const frames = await late.frames(4);
    expect(frames.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });

  it('does not fail a command that comes while it finishes what is under way', async () => {
    const project = newProject(below);
    const git = slowGit(project.folder);
    const { pid } = await project.startDaemon({
      env: { PATH: `${git}:${process.env['PATH'] ?? ''}` },
    });
    const asking = await project.socket();
    asking.send(request('slow', 'doctor'));
    await until('git is being asked', () => existsSync(join(git, 'asked')));
    signal(pid, 'SIGTERM');
    await until('stopping has begun', () => !existsSync(project.path('run/daemon.json')));
    // The old daemon gives git up after its own time-out: `go` never comes.
    const status = await project.status();
    expect(status.pid).not.toBe(pid);
    await until('the old one is gone', () => !isAlive(pid));
    expect(project.daemonFile()?.pid).toBe(status.pid);
    expect(processesOf(project.root)).toEqual([status.pid]);
  });
});

describe('after a kill -9', () => {
  it.each([['status'], ['config', 'get'], ['doctor'], ['start'], ['stop']])(
    'smithyd %s %s needs no cleaning up by hand',
    async (...words) => {
      const project = newProject();
      const { pid } = await project.startDaemon();
      signal(pid, 'SIGKILL');
      await until('the process is gone', () => !isAlive(pid));
      expect(existsSync(project.path('run/smithyd.sock'))).toBe(true);
      const { code, stderr } = await project.cli(words);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    },
  );

  it('a socket that still accepts but answers nothing costs no request', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    signal(pid, 'SIGKILL');
    await until('the process is gone', () => !isAlive(pid));
    // What a dying process looks like from outside: it takes the connection and then it is gone.
    const address = project.path('run/smithyd.sock');
    unlinkSync(address);
    const dying = createServer((connection) => {
      connection.on('error', () => undefined);
      connection.once('data', () => {
        connection.destroy();
        dying.close();
      });
    });
    await new Promise<void>((resolve) => dying.listen(address, resolve));
    const { code, stderr } = await project.cli(['config', 'set', 'maxCheckpointAge', '9']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await project.json(['config', 'get'])).toMatchObject({ maxCheckpointAge: 9 });
  });

  it('81: a process that was given the old number is neither trusted nor touched', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    signal(pid, 'SIGKILL');
    await until('the process is gone', () => !isAlive(pid));
    const file = project.path('run/daemon.json');
    const stale = { ...project.daemonFile(), pid: process.pid };
    writeFileSync(file, JSON.stringify(stale));
    const status = await project.status();
    expect(status.pid).not.toBe(process.pid);
    expect(project.daemonFile()?.pid).toBe(status.pid);
    expect((await project.cli(['stop'])).code).toBe(0);
  });

  it('81: the lock of a start that was killed half way does not block the next', async () => {
    const project = newProject();
    for (let round = 0; round < 4; round++) {
      const starting = project.cli(['start', '--foreground']);
      // Any moment of a start will do, and each round finds another one.
      await until('it has begun', () => round === 0 || existsSync(project.path('run/lock')));
      for (const pid of processesOf(project.root)) signal(pid, 'SIGKILL');
      await until('it is gone', () => processesOf(project.root).length === 0);
      await starting;
    }
    expect((await project.status()).root).toBe(project.root);
  });
});

describe('damage done to a running daemon', () => {
  it('a deleted socket file comes back', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    const before = await project.socket();
    unlinkSync(project.path('run/smithyd.sock'));
    await until('the socket is back', () => existsSync(project.path('run/smithyd.sock')));
    await until('it is private', () => modeOf(project.path('run/smithyd.sock')) === '600');
    expect((await project.status()).pid).toBe(pid);
    expect((await before.call('status')).result?.['pid']).toBe(pid);
  });

  it.each(['daemon.json', 'token'])('a deleted %s comes back as it was', async (name) => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    const file = project.path(`run/${name}`);
    const before = readFileSync(file, 'utf8');
    unlinkSync(file);
    expect((await project.status()).pid).toBe(pid);
    await until('the file is back', () => existsSync(file));
    expect({ text: readFileSync(file, 'utf8'), mode: modeOf(file) }).toEqual({
      text: before,
      mode: '600',
    });
    await project.cli(['stop']);
    expect(existsSync(file)).toBe(false);
  });

  it('a deleted state folder ends it cleanly', async () => {
    const project = newProject();
    const running = project.cli(['start', '--foreground']);
    await until('it is ready', () => project.daemonFile());
    remove(project.path());
    const { code, stderr } = await running;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(existsSync(project.path())).toBe(false);
  });

  it('a project can be deleted while its daemon runs, in one go', async () => {
    const project = newProject((folder) => {
      mkdirSync(join(folder, 'root'));
      return join(folder, 'root');
    });
    writeFileSync(join(project.root, 'a.txt'), 'one\n');
    await project.json(['message', 'Hello']);
    const { pid } = await project.status();
    const { code, stderr } = await run(['rm', '-rf', project.root]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await until('it is gone', () => !isAlive(pid));
    expect(existsSync(project.root)).toBe(false);
  });

  it('a daemon whose state folder was replaced leaves the new one alone', async () => {
    const project = newProject();
    const old = await project.startDaemon();
    // Held still, so that the next daemon is there before the old one can look.
    signal(old.pid, 'SIGSTOP');
    remove(project.path());
    const { pid } = await project.startDaemon();
    signal(old.pid, 'SIGCONT');
    await until('the old one is gone', () => !isAlive(old.pid));
    expect(existsSync(project.path('run/token'))).toBe(true);
    expect((await project.status()).pid).toBe(pid);
    expect(processesOf(project.root)).toEqual([pid]);
  });

  it('daemon.json that is no JSON is taken for none', async () => {
    const project = newProject();
    mkdirSync(project.path('run'), { recursive: true, mode: 0o700 });
    writeFileSync(project.path('run/daemon.json'), '{"socket":');
    const { pid } = await project.status();
    expect(project.daemonFile()?.pid).toBe(pid);
  });

  it('a project copied with its state gets a daemon of its own', async () => {
    const project = newProject();
    const copy = newProject();
    const { pid } = await project.startDaemon();
    mkdirSync(copy.path('run'), { recursive: true, mode: 0o700 });
    writeFileSync(copy.path('run/daemon.json'), JSON.stringify(project.daemonFile()));
    const status = await copy.status();
    expect(status).toMatchObject({ root: copy.root });
    expect(status.pid).not.toBe(pid);
  });
});

describe('the log', () => {
  it('is one JSON object per line', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    await project.cli(['stop']);
    const lines = logOf(project.path('run/daemon.log'));
    expect(lines.map(({ what }) => what)).toEqual(['ready', 'stopping']);
    for (const line of lines) {
      expect(line).toMatchObject({ at: expect.any(String), level: 'info' });
    }
    expect(lines[0]).toMatchObject({ pid, root: project.root });
  });
});

describe('the process of the daemon', () => {
  it('keeps neither the folder it was called in nor the output of its caller', async () => {
    const project = newProject();
    const info: DaemonInfo = await project.startDaemon();
    const links = [0, 1, 2].map((fd) => readlinkSync(`/proc/${info.pid}/fd/${fd}`));
    expect(links).toEqual(['/dev/null', '/dev/null', '/dev/null']);
    expect(readlinkSync(`/proc/${info.pid}/cwd`)).toBe('/');
    expect(argumentsOf(info.pid)).toContain(project.root);
  });
});

/** Counted by the kernel: accepted or not, each has a line besides the one that listens. */
function connectionsTo(socket: string): number {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines.filter((line) => line.endsWith(` ${socket}`)).length - 1;
}

/**
 * Again from the start when something was just put into it: the daemon still works there. The
 * retries of rmSync itself would only repeat the last step.
 */
function remove(folder: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === 100) throw error;
    }
  }
}

/** A root with room beside it: the daemon looks for no program inside the project. */
function below(folder: string): string {
  mkdirSync(join(folder, 'root'));
  return join(folder, 'root');
}

function logOf(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/**
 * A git that tells its version at the start of a daemon; asked again it says so (`asked`) and answers when it
 * is told to (`go`).
 */
function slowGit(folder: string): string {
  const git = join(folder, 'slow');
  mkdirSync(git);
  writeFileSync(
    join(git, 'git'),
    `#!/bin/sh\n[ "$1" = --version ] || exit 1\n[ -e '${git}/told' ] || { : > '${git}/told'; echo git version 2.99.0; exit 0; }\n: > '${git}/asked'\nwhile ! [ -e '${git}/go' ] && [ -d '${git}' ]; do sleep 0.05; done\necho git version 2.99.0\n`,
    { mode: 0o755 },
  );
  return git;
}
