import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { CLI, projectsPerTest, type Project } from '../support/daemon-project.js';
import { plainEnvironment, run, signal } from '../support/processes.js';
import { hasPython, onTerminal } from '../support/terminal.js';
import { soon, until } from '../support/until.js';
import { sharedWork } from '../support/work.js';

interface Finalized {
  readonly edit_id: string;
  readonly files: readonly { path: string; change: string; additions: number }[];
}

const work = sharedWork();
const newProject = projectsPerTest();
const withPython = hasPython ? it : it.skip;

/** `smithyd run` in the project's folder. */
function smithyd(words: readonly string[], project: Project = work().project, more: object = {}) {
  return project.cli(words, { cwd: project.root, ...more });
}

/** Who wrote the lines, but for those that were there before anybody was asked to. */
async function by(path: string): Promise<string[]> {
  const { lines } = await work().call<{ lines: { by: string }[] }>('blame', { path });
  return lines.map((line) => line.by).filter((who) => who !== 'baseline' && who !== 'unknown');
}

describe('a command in brackets', () => {
  it('has what it changed recorded under its name, told in one line on stderr', async () => {
    await work().fresh({ 'kept.txt': 'one\n', 'gone.txt': 'x\n' });
    const change = 'echo two >> kept.txt; rm gone.txt; mkdir new; echo n > new/file.txt';
    const { code, stdout, stderr } = await smithyd(['run', '--', '/bin/sh', '-c', change]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(
      /^smithyd: sh: 3 files changed, \+2 -1: gone.txt, kept.txt, new\/file.txt \(edit \w{26}\)\n$/u,
    );
    expect(await by('kept.txt')).toEqual(['command:sh']);
    expect(await by('new/file.txt')).toEqual(['command:sh']);
    expect(await work().call('list_edits')).toEqual({ edits: [] });
    expect(await work().call('detect_unknown_modifications')).toMatchObject({
      hasUnknownChanges: false,
    });
  });

  it('has the stdout and the stdin for itself', async () => {
    await work().fresh();
    const words = ['--json', 'run', '--', 'tr', 'a-z', 'A-Z'];
    const { code, stdout, stderr } = await smithyd(words, undefined, { input: 'hello\n' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'HELLO\n' });
    expect(JSON.parse(stderr)).toMatchObject({ files: [], edit_id: expect.any(String) });
  });

  it('gives the whole answer on stderr with --json, nothing with --quiet', async () => {
    await work().fresh();
    const loud = await smithyd(['--json', 'run', '--', 'touch', 'made.txt']);
    const answer = JSON.parse(loud.stderr) as Finalized;
    expect(answer.files).toMatchObject([{ path: 'made.txt', change: 'created' }]);
    const quiet = await smithyd(['run', '--quiet', '--', 'touch', 'quiet.txt']);
    expect(quiet).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(existsSync(work().at('quiet.txt'))).toBe(true);
  });

  it('can be given the name of a tool and of an agent', async () => {
    await work().fresh();
    const words = ['run', '--tool', 'formatter', '--agent=claude', '--', 'sh', '-c'];
    await smithyd([...words, `echo x > f.txt; '${process.execPath}' '${CLI}' --json edit list`]);
    const { stdout } = await smithyd([...words, `'${process.execPath}' '${CLI}' --json edit list`]);
    expect(JSON.parse(stdout)).toMatchObject({
      edits: [{ scope: 'project', tool: 'formatter', agent: { name: 'claude' }, state: 'open' }],
    });
    expect(await by('f.txt')).toEqual(['command:formatter']);
  });

  it('keeps its own options, even those that look like ours', async () => {
    await work().fresh();
    const { stdout } = await smithyd([
      'run',
      '--',
      'echo',
      '--json',
      '--help',
      '--',
      '--root',
      '-h',
    ]);
    expect(stdout).toBe('--json --help -- --root -h\n');
  });

  it.each([0, 1, 2, 69, 127, 255])('has its exit code %d passed on', async (expected) => {
    await work().fresh();
    const words = ['run', '--quiet', '--', 'sh', '-c', `exit ${expected}`];
    expect((await smithyd(words)).code).toBe(expected);
  });

  it('that is not there ends with 127, one that is no program with 126', async () => {
    await work().fresh({ 'plain.txt': 'text\n' });
    const missing = await smithyd(['run', '--', 'no-such-command-anywhere']);
    expect(missing).toMatchObject({ code: 127, stdout: '' });
    expect(missing.stderr).toBe('smithyd: no-such-command-anywhere: command not found\n');
    const plain = await smithyd(['run', '--', './plain.txt']);
    expect(plain).toMatchObject({ code: 126, stdout: '' });
    expect(plain.stderr).toContain('./plain.txt: cannot be run');
    expect((await smithyd(['run', '--', '/'])).code).toBe(126);
    expect(await work().call('list_edits')).toEqual({ edits: [] });
  });

  it.each([
    [['run', 'true'], 'after two dashes'],
    [['run', '--'], 'after two dashes'],
    [['run', '--nonsense', '--', 'touch', 'never'], 'does not know --nonsense'],
    [['run', '--tool', '--', 'touch', 'never'], '--tool needs a value'],
  ])('%j is refused before anything runs', async (words, told) => {
    await work().fresh();
    const { code, stderr } = await smithyd(words);
    expect(code).toBe(2);
    expect(stderr).toContain(told);
    expect(existsSync(work().at('never'))).toBe(false);
  });

  it('that fills a pipe faster than it is read loses nothing', async () => {
    await work().fresh();
    const slow = `const b = Buffer.alloc(65536); let n = 0;
      const { readSync } = require('node:fs');
      for (let got; (got = readSync(0, b)) > 0;) { n += got; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); }
      console.log(n);`;
    const line = `'${process.execPath}' '${CLI}' --root '${work().root}' run --quiet -- head -c 8000000 /dev/zero | '${process.execPath}' -e "$SLOW"`;
    const { stdout } = await run(['sh', '-c', line], { env: { SLOW: slow } });
    expect(stdout).toBe('8000000\n');
  });
});

describe('edits that overlap', () => {
  it('keep their own: what another edit holds is not the command’s', async () => {
    await work().fresh({ 'held.txt': 'one\n', 'free.txt': 'one\n' });
    const { edit_id: id } = await work().call<{ edit_id: string }>('start_edit', {
      files: ['held.txt'],
      agent: { name: 'claude' },
    });
    const words = ['--json', 'run', '--', 'sh', '-c', 'echo two | tee -a held.txt >> free.txt'];
    const { stderr } = await smithyd(words);
    expect((JSON.parse(stderr) as Finalized).files.map(({ path }) => path)).toEqual(['free.txt']);
    const held = await work().call<Finalized>('finalize_edit', { edit_id: id });
    expect(held.files).toMatchObject([{ path: 'held.txt', change: 'modified', additions: 1 }]);
    expect(await by('held.txt')).toEqual(['agent:claude']);
    expect(await by('free.txt')).toEqual(['command:sh']);
  });

  it('inside of the command keep theirs too', async () => {
    await work().fresh({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    const inner = `'${process.execPath}' '${CLI}' run --quiet --tool inner -- sh -c 'echo in >> a.txt'`;
    await smithyd(['run', '--tool', 'outer', '--', 'sh', '-c', `${inner}; echo out >> b.txt`]);
    expect(await by('a.txt')).toEqual(['command:inner']);
    expect(await by('b.txt')).toEqual(['command:outer']);
  });
});

describe('a signal', () => {
  const children: number[] = [];
  afterEach(() => {
    // The whole group: a command must not outlive its test either.
    for (const pid of children.splice(0)) signal(-pid, 'SIGKILL');
  });

  function start(words: readonly string[]) {
    const args = [CLI, '--root', work().root, 'run', '--', ...words];
    const child = spawn(process.execPath, args, {
      cwd: work().root,
      env: plainEnvironment(),
      // No terminal and a group of its own: only `smithyd run` itself is hit.
      detached: true,
    });
    children.push(child.pid ?? 0);
    const seen = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (seen.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (seen.stderr += chunk.toString()));
    const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      child.on('close', (code, by) => resolve({ code, signal: by }));
    });
    return { child, seen, ended };
  }

  /** Says that it waits, and what hits it; the wait ends with its shell. */
  const TRAP = (name: string): string =>
    `trap 'echo got ${name}; echo after > after.txt; exit 42' ${name}; echo ready; while :; do sleep 0.05; done`;

  it.each(['INT', 'TERM', 'HUP', 'QUIT'] as const)(
    'SIG%s is passed on once, and the command decides how it ends',
    async (name) => {
      await work().fresh();
      const { child, seen, ended } = start(['sh', '-c', TRAP(name)]);
      await until('it is ready', () => seen.stdout.includes('ready'));
      child.kill(`SIG${name}`);
      expect(await soon('its end', ended)).toEqual({ code: 42, signal: null });
      expect(seen.stdout).toBe(`ready\ngot ${name}\n`);
      expect(seen.stderr).toContain('1 file changed, +1 -0: after.txt');
      expect(await by('after.txt')).toEqual(['command:sh']);
    },
  );

  it.each([
    ['SIGINT', null, 'SIGINT'],
    ['SIGTERM', null, 'SIGTERM'],
    ['SIGHUP', null, 'SIGHUP'],
    ['SIGQUIT', 131, null],
  ] as const)('%s that ends the command ends us alike', async (name, code, by) => {
    await work().fresh();
    const { child, seen, ended } = start([
      'sh',
      '-c',
      'echo x > x.txt; echo ready; exec sleep 600',
    ]);
    await until('it is ready', () => seen.stdout.includes('ready'));
    child.kill(name);
    expect(await soon('its end', ended)).toEqual({ code, signal: by });
    expect(seen.stderr).toContain('x.txt');
    expect(await work().call('list_edits')).toEqual({ edits: [] });
  });

  it.each([
    ['SIGKILL', null, 'SIGKILL'],
    ['SIGSEGV', 139, null],
  ] as const)('%s of the command itself is told by our end', async (name, code, by) => {
    await work().fresh();
    const { ended } = start(['sh', '-c', `ulimit -c 0; kill -${name.slice(3)} $$`]);
    expect(await soon('its end', ended)).toEqual({ code, signal: by });
    expect(await work().call('list_edits')).toEqual({ edits: [] });
  });

  it('that kills us leaves the work of the command and an edit to settle', async () => {
    await work().fresh();
    const { child, seen, ended } = start([
      'sh',
      '-c',
      'echo x > x.txt; echo $$; while [ ! -e stop ]; do sleep 0.05; done',
    ]);
    await until('it is ready', () => seen.stdout.includes('\n'));
    child.kill('SIGKILL');
    work().put({ stop: '' });
    await soon('its end', ended);
    const { edits } = await work().call<{ edits: { edit_id: string }[] }>('list_edits');
    expect(edits).toMatchObject([{ scope: 'project', tool: 'sh', state: 'open' }]);
    expect(work().read('x.txt')).toBe('x\n');
    await work().call('finalize_edit', { edit_id: edits[0]?.edit_id });
    expect(await by('x.txt')).toEqual(['command:sh']);
  });
});

describe('on a terminal', () => {
  const line = (script: string): string[] => {
    return [
      process.execPath,
      CLI,
      '--root',
      work().root,
      'run',
      '--quiet',
      '--',
      'sh',
      '-c',
      script,
    ];
  };

  withPython('the command has it: size, keys and all (needs python3)', async () => {
    await work().fresh();
    const script =
      'test -t 0 && test -t 1 && test -t 2 && stty -a > before.txt && echo ready && read word && echo "read $word"';
    const { code, stdout } = await onTerminal(line(script), {
      when: 'ready',
      keys: 'abc\\n',
      cwd: work().root,
    });
    expect(code).toBe(0);
    expect(stdout.replaceAll('\r', '')).toBe('ready\nabc\nread abc\n');
    const plain = await onTerminal(['stty', '-a'], { when: 'never', keys: '' });
    expect(work().read('before.txt')).toBe(plain.stdout.replaceAll('\r', ''));
  });

  withPython('Ctrl-C reaches the command exactly once (needs python3)', async () => {
    await work().fresh();
    const count = `n=0; trap 'n=$((n+1)); echo hit $n' INT; echo ready; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; exit $n`;
    const { code, stdout } = await onTerminal(line(count), { when: 'ready', keys: '\\x03' });
    expect({ code, hits: stdout.match(/hit \d/gu) }).toEqual({ code: 1, hits: ['hit 1'] });
  });

  withPython('Ctrl-C that ends the command ends us by the same (needs python3)', async () => {
    await work().fresh();
    const { code } = await onTerminal(line('echo ready; exec sleep 600'), {
      when: 'ready',
      keys: '\\x03',
    });
    expect(code).toBe(130);
    expect(await work().call('list_edits')).toEqual({ edits: [] });
  });
});

describe('without a daemon', () => {
  it('it is started', async () => {
    const project = newProject();
    const { code, stderr } = await smithyd(['run', '--', 'touch', 'a.txt'], project);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('1 file changed, +0 -0: a.txt'),
    });
  });

  /** State that no daemon can use. */
  function broken(): Project {
    const project = newProject((folder) => {
      mkdirSync(join(folder, 'root'));
      return join(folder, 'root');
    });
    writeFileSync(project.path(), 'a file where the state folder should be\n');
    return project;
  }

  it('that can be reached or started the command runs all the same, with a warning', async () => {
    const project = broken();
    const words = ['run', '--', 'sh', '-c', 'echo out; echo x > made.txt; exit 5'];
    const { code, stdout, stderr } = await smithyd(words, project);
    expect({ code, stdout }).toEqual({ code: 5, stdout: 'out\n' });
    expect(stderr).toContain('smithyd: What the command changes is not recorded.');
    expect(readFileSync(join(project.root, 'made.txt'), 'utf8')).toBe('x\n');
  });

  it('a program reads the warning as JSON', async () => {
    const { code, stderr } = await smithyd(['--json', 'run', '--', 'true'], broken());
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: expect.any(String), message: expect.stringContaining('not recorded') },
    });
  });

  it('that answers at the end the exit code stays and the failure is told', async () => {
    const project = newProject();
    await project.startDaemon();
    // The daemon is gone, and no other can start in its place.
    const pid = project.daemonFile()?.pid ?? 0;
    const state = project.path();
    const script = `echo x > x.txt; kill -9 ${pid}; mv '${state}' '${state}.away'; echo no > '${state}'; exit 9`;
    const { code, stderr } = await smithyd(['run', '--', 'sh', '-c', script], project);
    expect(code).toBe(9);
    expect(stderr).toContain('smithyd: What the command changed is not recorded yet');
  });

  it('that hangs the command still runs, and we end with it', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    signal(pid, 'SIGSTOP');
    const { code, stdout, stderr } = await smithyd(
      ['run', '--', 'sh', '-c', 'echo out; exit 4'],
      project,
    );
    signal(pid, 'SIGCONT');
    expect({ code, stdout }).toEqual({ code: 4, stdout: 'out\n' });
    expect(stderr).toContain('What the command changes is not recorded.');
  });

  it('in the middle of it the next one knows what the command did', async () => {
    const project = newProject();
    await project.startDaemon();
    const pid = project.daemonFile()?.pid ?? 0;
    const script = `echo one > a.txt; kill -9 ${pid}; echo two > b.txt; exit 3`;
    const { code, stderr } = await smithyd(['run', '--', 'sh', '-c', script], project);
    expect(code).toBe(3);
    expect(stderr).toContain('files changed');
    const blame = await project.json<{ lines: { by: string }[] }>(['blame', 'a.txt']);
    expect(blame.lines).toMatchObject([{ by: 'command:sh' }]);
  });

  it('a wrong root is told and nothing runs', async () => {
    const project = newProject();
    chmodSync(project.root, 0o755);
    const words = [
      process.execPath,
      CLI,
      '--root',
      `${project.root}/none`,
      'run',
      '--',
      'touch',
      'x',
    ];
    const { code } = await run(words, { cwd: project.root });
    expect(code).toBe(2);
    expect(existsSync(join(project.root, 'x'))).toBe(false);
  });
});
