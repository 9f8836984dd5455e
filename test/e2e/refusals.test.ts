import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isAlive, processesOf, run, signal } from '../support/processes.js';
import { CLI, projectsPerTest, type Project } from '../support/daemon-project.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();
const asRoot = process.getuid?.() === 0 ? it : it.skip;
const NOBODY = 65_534;

/** Every command that would start a daemon says the same. */
async function refusals(project: Project, args: readonly string[] = []): Promise<string[]> {
  const said: string[] = [];
  for (const command of ['start', 'status']) {
    const { code, stdout, stderr } = await project.cli([...args, '--json', command]);
    expect({ command, code, stdout, stderr }).toMatchObject({ code: 77, stdout: '' });
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    expect(error.code).toBe('FORBIDDEN');
    said.push(error.message);
  }
  await until('no daemon is left', () => processesOf(project.root).length === 0);
  return said;
}

describe('a state folder that cannot be trusted is refused', () => {
  it('when others can write to it', async () => {
    const project = newProject();
    mkdirSync(project.path());
    chmodSync(project.path(), 0o777);
    for (const message of await refusals(project))
      expect(message).toContain('written to by others');
    expect(readdirSync(project.path())).toEqual([]);
  });

  it('when others can write to the folder of the socket', async () => {
    const project = newProject();
    mkdirSync(project.path('run'), { recursive: true, mode: 0o700 });
    chmodSync(project.path('run'), 0o770);
    for (const message of await refusals(project))
      expect(message).toContain('written to by others');
  });

  it('when it is a symbolic link', async () => {
    const project = newProject();
    const elsewhere = newProject();
    symlinkSync(elsewhere.root, project.path());
    for (const message of await refusals(project)) expect(message).toContain('symbolic link');
    expect(readdirSync(elsewhere.root)).toEqual([]);
  });

  // As a cloned or unpacked project can bring it along.
  it.each(['ledger', 'store', 'dialogs', 'run/lock', 'ledger/diffs/patch.part'])(
    'when %s is a link that leads out of it',
    async (place) => {
      const project = newProject();
      const elsewhere = newProject();
      mkdirSync(dirname(project.path(place)), { recursive: true });
      symlinkSync(join(elsewhere.root, 'place'), project.path(place));
      mkdirSync(join(elsewhere.root, 'place'));
      for (const message of await refusals(project)) expect(message).toContain('symbolic link');
      expect(readdirSync(join(elsewhere.root, 'place'))).toEqual([]);
    },
  );

  it('when a file is in its place', async () => {
    const project = newProject();
    writeFileSync(project.path(), 'mine');
    const { code } = await project.cli(['status']);
    expect(code).toBe(77);
    expect(readFileSync(project.path(), 'utf8')).toBe('mine');
  });

  asRoot('when it belongs to somebody else', async () => {
    const project = newProject();
    mkdirSync(project.path(), { mode: 0o700 });
    chownSync(project.path(), NOBODY, NOBODY);
    for (const message of await refusals(project)) expect(message).toContain('another user');
    expect(readdirSync(project.path())).toEqual([]);
  });
});

describe('a state folder that others can only read', () => {
  it('is closed to them and used', async () => {
    const project = newProject();
    mkdirSync(project.path());
    chmodSync(project.path(), 0o755);
    await project.status();
    expect(statSync(project.path()).mode & 0o777).toBe(0o700);
  });
});

describe('what lies in the place of the socket', () => {
  it('is left untouched and the start refused when it is no socket', async () => {
    const project = newProject();
    mkdirSync(project.path('run'), { recursive: true, mode: 0o700 });
    chmodSync(project.path(), 0o700);
    writeFileSync(project.path('run/smithyd.sock'), 'precious');
    for (const message of await refusals(project)) expect(message).toContain('not a socket');
    expect(readFileSync(project.path('run/smithyd.sock'), 'utf8')).toBe('precious');
    expect(existsSync(project.path('run/daemon.json'))).toBe(false);
  });

  it('is replaced when it is the socket of a daemon that was killed', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    signal(pid, 'SIGKILL');
    await until('the process is gone', () => !isAlive(pid));
    expect(lstatSync(project.path('run/smithyd.sock')).isSocket()).toBe(true);
    expect((await project.status()).pid).not.toBe(pid);
  });
});

describe('a socket path of more than 100 bytes', () => {
  const deep = (folder: string): string => {
    const root = join(folder, 'd'.repeat(120));
    mkdirSync(root);
    return root;
  };

  it('moves the socket to a private folder, and a stop takes both away', async () => {
    const project = newProject(deep);
    const { socket } = await project.startDaemon();
    const folder = join(socket, '..');
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(100);
    expect(socket.startsWith(project.root)).toBe(false);
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
    expect((statSync(socket).mode & 0o777).toString(8)).toBe('600');
    expect((await project.status()).root).toBe(project.root);
    await project.cli(['stop']);
    expect(existsSync(folder)).toBe(false);
  });

  it('leaves no folder behind when the daemon is killed and started again', async () => {
    const project = newProject(deep);
    const first = await project.startDaemon();
    signal(first.pid, 'SIGKILL');
    await until('the process is gone', () => !isAlive(first.pid));
    const second = await project.startDaemon();
    expect(second.socket).not.toBe(first.socket);
    expect(existsSync(join(first.socket, '..'))).toBe(false);
    await project.cli(['stop']);
    expect(existsSync(join(second.socket, '..'))).toBe(false);
  });

  it('prefers the runtime folder of the user', async () => {
    const project = newProject(deep);
    const runtime = join(project.folder, 'rt');
    mkdirSync(runtime, { mode: 0o700 });
    const { socket } = await project.startDaemon({ env: { XDG_RUNTIME_DIR: runtime } });
    expect(socket.startsWith(`${runtime}/smithyd-`)).toBe(true);
  });
});

describe('a root that nobody means', () => {
  it.each([
    ['the top of the file system', '/'],
    ['the shared temporary folder', realpathSync(tmpdir())],
    ['a system folder', '/usr'],
  ])('is refused without --force: %s', async (_, root) => {
    const { code, stderr } = await run([process.execPath, CLI, '--root', root, 'start']);
    expect(code).toBe(77);
    expect(stderr).toContain('--force');
    expect(existsSync(join(root, '.agentsmithy'))).toBe(false);
  });

  it('is refused without --force: the home directory, and what contains it', async () => {
    const project = newProject();
    const home = join(project.root, 'home');
    mkdirSync(home);
    for (const root of [home, project.root]) {
      for (const command of ['start', 'status']) {
        const words = [process.execPath, CLI, '--root', root, command];
        const { code, stderr } = await run(words, { env: { HOME: home } });
        expect({ root, command, code }).toEqual({ root, command, code: 77 });
        expect(stderr).toContain('home directory');
        expect(existsSync(join(root, '.agentsmithy'))).toBe(false);
      }
    }
  });

  it('is accepted with --force', async () => {
    const project = newProject();
    const env = { HOME: project.root };
    const status = await project.json<{ root: string }>(['--force', 'status'], { env });
    expect(status.root).toBe(project.root);
  });

  asRoot('is refused when it belongs to another user', async () => {
    const project = newProject();
    chownSync(project.root, NOBODY, NOBODY);
    for (const message of await refusals(project)) expect(message).toContain('another user');
    expect(existsSync(project.path())).toBe(false);
  });

  it('is refused by name when it is no folder', async () => {
    const project = newProject();
    const missing = join(project.root, 'missing');
    const { code, stderr } = await run([process.execPath, CLI, '--root', missing, 'status']);
    expect(code).toBe(2);
    expect(stderr).toContain(missing);
  });
});

describe('the project of a command without --root', () => {
  it('is the nearest folder above with state', async () => {
    const project = newProject();
    await project.startDaemon();
    const below = join(project.root, 'a/b');
    mkdirSync(below, { recursive: true });
    const { stdout } = await run([process.execPath, CLI, '--json', 'status'], { cwd: below });
    expect((JSON.parse(stdout) as { root: string }).root).toBe(project.root);
  });
});
