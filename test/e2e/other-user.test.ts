import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { plainEnvironment, processesOf, run, type Outcome } from '../support/processes.js';
import { CLI, projectsPerTest, type Project } from '../support/daemon-project.js';
import { soon, until } from '../support/until.js';

const newProject = projectsPerTest();
const NOBODY = 65_534;
const SETPRIV: readonly [string, ...string[]] = [
  'setpriv',
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  '--clear-groups',
];

/** Needs the right to become somebody else, and programs that somebody else may run. */
function canBeNobody(...program: string[]): boolean {
  if (process.getuid?.() !== 0) return false;
  const [first, ...rest] = [...SETPRIV, ...program];
  return spawnSync(first, rest, { stdio: 'ignore', cwd: '/' }).status === 0;
}
const asNobodyIt = canBeNobody(process.execPath, '-e', '0') ? it : it.skip;
const nobodyRunsSmithyd = canBeNobody(process.execPath, CLI, '--version') ? it : it.skip;

const asNobody = (...words: string[]): Promise<Outcome> => run([...SETPRIV, ...words]);

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await soon('the end of a child', ended);
  }
});

/** Somebody else's server; what it is told is in `seen`. */
async function listenAsNobody(socket: string): Promise<{ seen: () => string }> {
  const server = `
    const { createServer } = require('node:net');
    createServer((client) => {
      process.stdout.write('connected ');
      client.on('data', (data) => process.stdout.write(data));
    }).listen(process.argv[1], () => process.stdout.write('listening '));
  `;
  const [program, ...args] = [...SETPRIV, process.execPath, '-e', server, socket];
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: plainEnvironment(),
    cwd: '/',
  });
  children.push(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until('somebody else listens', () => text.includes('listening'));
  return { seen: () => text };
}

/** What comes of connecting: `connected`, or the code of the failure. */
const CONNECT = `
  const socket = require('node:net').connect(process.argv[1]);
  socket.on('connect', () => { process.stdout.write('connected'); socket.destroy(); });
  socket.on('error', (error) => process.stdout.write(error.code));
`;

async function expectForbidden(project: Project): Promise<void> {
  for (const command of ['start', 'status', 'stop']) {
    const { code, stderr } = await project.cli(['--json', command]);
    expect({ command, code, stderr }).toMatchObject({ command, code: 77 });
    expect(stderr).toContain('"FORBIDDEN"');
  }
}

describe('a folder in which nothing can be made', () => {
  nobodyRunsSmithyd('is what a command names that would start the daemon', async () => {
    const project = newProject();
    chownSync(project.root, NOBODY, NOBODY);
    chmodSync(project.root, 0o555);
    for (const command of ['status', 'start', 'doctor', 'start --foreground']) {
      const words = [process.execPath, CLI, '--root', project.root, ...command.split(' ')];
      const { code, stderr } = await asNobody(...words);
      expect({ command, code, stderr }).toMatchObject({ command, code: 74 });
      expect(stderr).toContain(`EACCES: permission denied, mkdir '${project.path()}'`);
      expect(stderr).toContain('must be writable');
      expect(stderr).not.toContain('log');
    }
  });
});

describe('another local user', () => {
  asNobodyIt('cannot connect to the socket, while its owner can', async () => {
    const project = newProject();
    const { socket } = await project.startDaemon();
    const own = await run([process.execPath, '-e', CONNECT, socket]);
    expect(own.stdout).toBe('connected');
    const other = await asNobody(process.execPath, '-e', CONNECT, socket);
    expect(other.stdout).toBe('EACCES');
  });

  asNobodyIt('cannot connect even when somebody opened the folders', async () => {
    const project = newProject();
    const { socket } = await project.startDaemon();
    for (const folder of [project.path(), project.path('run')]) chmodSync(folder, 0o755);
    expect((await asNobody('ls', project.path('run'))).stdout).toContain('smithyd.sock');
    const other = await asNobody(process.execPath, '-e', CONNECT, socket);
    expect(other.stdout).toBe('EACCES');
  });

  asNobodyIt(
    'cannot connect to a socket that was moved to the shared temporary folder',
    async () => {
      const project = newProject((folder) => {
        mkdirSync(join(folder, 'd'.repeat(120)));
        return join(folder, 'd'.repeat(120));
      });
      const { socket } = await project.startDaemon();
      expect((await run([process.execPath, '-e', CONNECT, socket])).stdout).toBe('connected');
      expect((await asNobody(process.execPath, '-e', CONNECT, socket)).stdout).toBe('EACCES');
    },
  );

  asNobodyIt('cannot look into the state folder, and read no file in it', async () => {
    const project = newProject();
    await project.startDaemon();
    expect((await asNobody('ls', project.root)).code).toBe(0);
    expect((await asNobody('ls', project.path())).code).not.toBe(0);
    for (const folder of [project.path(), project.path('run')]) chmodSync(folder, 0o755);
    for (const file of ['token', 'daemon.json', 'daemon.log', 'lock']) {
      const { code, stdout } = await asNobody('cat', project.path('run', file));
      expect({ file, code: code === 0, stdout }).toEqual({ file, code: false, stdout: '' });
    }
  });

  nobodyRunsSmithyd('is told so by the command line, and starts nothing', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    for (const command of ['start', 'status', 'stop', 'doctor']) {
      const words = [process.execPath, CLI, '--root', project.root, '--json', command];
      const { code, stderr } = await asNobody(...words);
      expect({ command, code, stderr }).toMatchObject({ command, code: 77 });
    }
    expect(processesOf(project.root)).toEqual([pid]);
  });

  asNobodyIt('cannot take the place of the state folder first', async () => {
    const project = newProject();
    chmodSync(project.root, 0o777);
    await asNobody('mkdir', '-m', '755', '-p', project.path('run'));
    expect(statSync(project.path('run')).uid).toBe(NOBODY);
    const { seen } = await listenAsNobody(project.path('run/smithyd.sock'));
    const info = { pid: 1, root: project.root, socket: project.path('run/smithyd.sock') };
    const line = `printf %s '${JSON.stringify(info)}' > '${project.path('run/daemon.json')}'`;
    expect((await asNobody('sh', '-c', line)).code).toBe(0);
    await expectForbidden(project);
    expect(seen()).toBe('listening ');
    expect(readdirSync(project.path('run')).sort()).toEqual(['daemon.json', 'smithyd.sock']);
  });

  asNobodyIt('is not talked to when its socket is in the place daemon.json names', async () => {
    const project = newProject();
    const open = join(project.folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const theirs = join(open, 's.sock');
    const { seen } = await listenAsNobody(theirs);
    mkdirSync(project.path('run'), { recursive: true, mode: 0o700 });
    chmodSync(project.path(), 0o700);
    const info = { pid: 1, root: project.root, socket: theirs };
    writeFileSync(project.path('run/daemon.json'), JSON.stringify(info));
    for (const command of ['status', 'stop']) {
      const { code, stderr } = await project.cli(['--json', command]);
      expect({ command, code, stderr }).toMatchObject({ command, code: 77 });
    }
    // Not even in a folder of ours may the socket be somebody else's.
    chmodSync(open, 0o755);
    expect((await project.cli(['status'])).code).toBe(77);
    expect(seen()).toBe('listening ');
    expect(existsSync(theirs)).toBe(true);
  });
});
