import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { plainEnvironment, run, signal, type Outcome } from '../support/processes.js';
import { CLI, projectsPerTest, type Project } from '../support/daemon-project.js';
import { soon, until } from '../support/until.js';

const newProject = projectsPerTest();
const smithyd = (...words: string[]): Promise<Outcome> => run([process.execPath, CLI, ...words]);
const hasScript = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0;
const onTerminal = hasScript ? it : it.skip;

const hasBash = spawnSync('bash', ['--version'], { stdio: 'ignore' }).status === 0;

describe('completion', () => {
  (hasBash ? it : it.skip).each([
    ['smithyd sta', ['start', 'status']],
    ['smithyd dialog ', ['list', 'new', 'rm', 'use']],
    ['smithyd --root /somewhere dialog u', ['use']],
    ['smithyd restore abcd --dry', ['--dry-run']],
    ['smithyd gc --d', ['--dry-run']],
    ['smithyd help dial', ['dialog']],
    ['smithyd completion ', ['bash', 'fish', 'zsh']],
    ['smithyd setup ai', ['aider']],
    ['smithyd checkpoint --kind ', ['manual', 'pre_commit', 'session_start']],
    ['smithyd checkpoint -m text --kind p', ['pre_commit']],
  ])('of %j in bash offers %j', async (typed, offered) => {
    const { stdout: script } = await smithyd('completion', 'bash');
    const words = typed.split(' ').map((word) => `'${word}'`);
    const asked = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _smithyd`;
    const { stdout } = spawnSync('bash', ['-c', `${script}\n${asked}; echo "\${COMPREPLY[*]}"`], {
      encoding: 'utf8',
    });
    expect(
      stdout
        .trim()
        .split(' ')
        .filter((word) => word !== '--help')
        .sort(),
    ).toEqual(offered);
  });

  it('of a shell that is not known is refused with those that are', async () => {
    const { code, stderr } = await smithyd('completion', 'csh');
    expect(code).toBe(2);
    expect(stderr).toContain('fish');
  });
});

describe('help', () => {
  it.each([[['--help']], [['help']], [[]]])(
    '%j names every command on one screen',
    async (words) => {
      const { code, stdout, stderr } = await smithyd(...words);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { stdout: all } = await smithyd('help', 'all');
      const named = all.split('\n').flatMap((line) => line.split(' ')[0] ?? []);
      expect(named.length).toBeGreaterThan(50);
      for (const command of named) expect(stdout.split(/[\s,]+/u)).toContain(command);
      for (const flag of ['--root DIR', '--json', '--force', '--version']) {
        expect(stdout).toContain(`  ${flag} `);
      }
      const lines = stdout.split('\n');
      expect(lines.length).toBeLessThanOrEqual(24);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    },
  );

  it.each([
    ['start', '--foreground'],
    ['doctor', '--repair'],
    ['config set', 'KEY VALUE'],
    ['watch', '--type TYPE'],
    ['call', 'METHOD [JSON]'],
    ['run', 'recorded under'],
    ['browser', '--remote-debugging-port'],
    ['setup', 'Do not ask.'],
    ['unknown', 'Put the known content back'],
  ])('of %s tells how it is used', async (command, usage) => {
    const { code, stdout } = await smithyd(...command.split(' '), '--help');
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toContain(`smithyd ${command}`);
    expect(stdout).toContain(usage);
    expect((await smithyd('help', ...command.split(' '))).stdout).toBe(stdout);
  });

  it('of a group shows its commands', async () => {
    const { stdout } = await smithyd('config', '--help');
    expect(stdout).toContain('smithyd config get');
    expect(stdout).toContain('smithyd config set');
  });

  it('of a command is given with its words behind it, too', async () => {
    const { stdout } = await smithyd('restore', 'abcd', '--help');
    expect(stdout).toBe((await smithyd('help', 'restore')).stdout);
    expect((await smithyd('help', 'help')).stdout).toBe((await smithyd('help')).stdout);
  });

  it('of all has a line for each command', async () => {
    const { stdout } = await smithyd('help', 'all');
    for (const command of ['start', 'config get', 'config set', 'dialog new', 'call']) {
      expect(stdout).toMatch(new RegExp(`^${command}  +\\w`, 'mu'));
    }
  });

  it('starts no daemon and makes no folder', async () => {
    const project = newProject();
    await project.cli(['status', '--help']);
    await project.cli(['--version']);
    expect(existsSync(project.path())).toBe(false);
  });
});

describe('a wrong command line', () => {
  it.each([
    [['stauts'], '"status"'],
    [['config', 'gt'], 'Did you mean "config get"'],
    [['conf'], '"config get"'],
    [['x'], 'There is no command "x".\n  See `smithyd --help`'],
    [['bookmark'], 'bookmark needs one of: add, list, rm'],
    [['hooks', '--json'], 'hooks needs one of: install, status, uninstall'],
    [['bookmark', 'foo'], 'There is no command "bookmark foo".\n  bookmark needs one of: add'],
    [['--bogus', 'status'], 'smithyd does not know --bogus'],
    [['--jsn', 'status'], 'Did you mean "--json"'],
    [['--', 'status', 'extra'], 'status takes no "extra"'],
    [['help', 'nope'], 'There is no command "nope"'],
    [['stauts', '--help'], ' or "status"'],
    [['status', 'extra'], 'takes no "extra"'],
    [['doctor', '--repar'], 'Did you mean "--repair"'],
    [['start', '--forground'], 'start does not know --forground'],
    [['config', 'set', 'http.enabled'], 'needs a key and a value'],
    [['call'], 'needs a method'],
    [['call', 'status', '{bad'], 'is not JSON'],
    [['watch', '--tpye', 'x'], 'Did you mean "--type"'],
    [['watch', '--type', 'bogus'], 'Choose one of: user, dialog'],
    [['stop', 'now'], 'stop takes no "now"'],
    [['mcp', '--stdio'], 'mcp does not know --stdio'],
    [['diff'], 'diff needs FROM'],
    [['diff', 'main', '--file'], '--file needs a value'],
    [['log', '--constructor'], 'log does not know --constructor'],
    [['message', '- make it faster'], 'Put -- before a text that begins with a dash'],
    [['config', 'get', 'a', 'b'], 'one key at most'],
    [['--dialog', '01AB', 'blame', 'a'], 'blame takes no --dialog'],
    [['--dialog', '01AB', 'call', 'status'], 'call takes no --dialog'],
    [['status', '--root'], '--root needs a value'],
    [['--root', '', 'status'], '--root needs a value'],
    [['--dialog=', 'log'], '--dialog needs a value'],
    [['cleanup', 'x'], 'OLDER-THAN needs a number, not "x"'],
    [['cleanup', '--older-than', 'x'], '--older-than needs a number, not "x"'],
    [['diff', 'main', '--unified', '--stat'], '--stat cannot be given beside --unified'],
    [['log', '-n', 'x'], '--limit needs a number'],
    [['gc', '--dry-run=yes'], '--dry-run is true or false'],
    [['--dialog', '01AB', 'status'], 'status takes no --dialog'],
    [['--dialog', '01AB', 'dialog', 'rm', '01CD'], 'dialog rm names its dialog itself'],
    [['--dialog', '01AB', 'dialog', 'use', '01CD'], 'dialog use names its dialog itself'],
  ])('%j ends with 2 and says what was meant', async (words, hint) => {
    const project = newProject();
    const { code, stdout, stderr } = await project.cli(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(hint);
    expect(existsSync(project.path())).toBe(false);
  });

  it('is told as JSON to a program', async () => {
    const { code, stdout, stderr } = await smithyd('--json', 'stauts');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('stauts'),
        hint: expect.stringContaining('"status"'),
      },
    });
  });
});

describe('exit codes follow the error table', () => {
  it.each([
    [2, ['call', 'no_such_method']],
    [2, ['call', 'status', '{"no":1}']],
    [2, ['call', 'status', '[]']],
    [2, ['call', 'status', '{"__proto__":1}']],
    [2, ['config', 'set', 'http.enabled', '5']],
    [2, ['config', 'set', '__proto__.x', '5']],
    [0, ['call', 'status']],
  ])('%d for %j', async (expected, words) => {
    const project = newProject();
    const { code, stderr } = await project.cli(words);
    expect({ code, stderr }).toMatchObject({ code: expected });
    expect(stderr === '').toBe(expected === 0);
  });

  it('74 for what the system refuses to this command, which is no matter of the daemon', async () => {
    const project = newProject();
    writeFileSync(join(project.root, '.gemini'), 'a file where a folder should be');
    const { code, stderr } = await project.cli(['setup', 'gemini', '--yes']);
    expect(code).toBe(74);
    expect(stderr).toMatch(/^smithyd: The system refused: E[A-Z]+: /u);
    expect(stderr).not.toContain('daemon');
  });

  it('69 when the daemon dies before it answers', async () => {
    const project = newProject((folder) => {
      mkdirSync(join(folder, 'root'));
      return join(folder, 'root');
    });
    const asked = join(project.folder, 'asked');
    // A git that answers the start and never again, until its folder is taken away.
    const told = join(project.folder, 'told');
    const git = `#!/bin/sh\n[ "$1" = --version ] || exit 1\n[ -e '${told}' ] || { : > '${told}'; echo git version 2.99.0; exit 0; }\n: > '${asked}'\nwhile [ -e '${asked}' ]; do sleep 0.05; done\n`;
    mkdirSync(join(project.folder, 'bin'));
    writeFileSync(join(project.folder, 'bin/git'), git, { mode: 0o755 });
    const path = `${join(project.folder, 'bin')}:${process.env['PATH'] ?? ''}`;
    const { pid } = await project.startDaemon({ env: { PATH: path } });
    const asking = project.cli(['doctor']);
    await until('git is being asked', () => existsSync(asked));
    signal(pid, 'SIGKILL');
    expect((await asking).code).toBe(69);
  });
});

describe('output', () => {
  it('is the answer of the method, on one line, with --json', async () => {
    const project = newProject();
    const { stdout } = await project.cli(['status', '--json']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ root: project.root, protocol: 1, edits_open: 0 });
  });

  it('is for people without it', async () => {
    const project = newProject();
    const { stdout } = await project.cli(['status']);
    expect(stdout).toMatch(/^project +\/.*\ndaemon +smithyd \d.*process \d+, up \d+ s\n/u);
  });

  it('stands in columns whatever the script, and names files as a shell reads them', async () => {
    const project = newProject();
    for (const name of ["it's b", 'it']) writeFileSync(join(project.root, name), name);
    const { stdout: page } = await project.cli(['files', '--limit', '1', '--after', 'a b']);
    expect(page).toContain('--after it\n');
    await project.cli(['bookmark', 'add', '漢字']);
    await project.cli(['bookmark', 'add', 'abcdefg']);
    const { stdout } = await project.cli(['bookmark', 'list']);
    expect(stdout).toMatch(/^漢字 {5}[0-9a-f]{8} /mu);
    writeFileSync(join(project.root, 'ja'), 'after the one with a quote');
    const { stdout: next } = await project.cli(['files', '--limit', '1', '--after', 'it']);
    expect(next).toContain("--after 'it'\\''s b'\n");
  });

  it('of rescan and cleanup is a sentence', async () => {
    const project = newProject();
    writeFileSync(join(project.root, 'a'), 'a\n');
    expect((await project.cli(['rescan'])).stdout).toMatch(/^Looked at 1 file in \d+ ms\.\n$/u);
    expect((await project.cli(['cleanup'])).stdout).toBe(
      'Removed no file checkpoints; no file checkpoints are left.\n',
    );
  });

  it('has no colours in a pipe', async () => {
    const project = newProject();
    const { stdout } = await project.cli(['doctor']);
    expect(stdout).toContain('ok');
    expect(stdout).not.toContain('\u001b');
    expect((await project.cli(['stauts'])).stderr).not.toContain('\u001b');
  });

  onTerminal('has colours on a terminal, unless NO_COLOR says no', async () => {
    const project = newProject();
    const line = `'${process.execPath}' '${CLI}' --root '${project.root}' doctor`;
    const words = ['script', '-qec', line, '/dev/null'];
    const coloured = await run(words, { env: { TERM: 'xterm' } });
    expect(coloured.stdout).toContain('\u001b[32mok');
    const plain = await run(words, { env: { TERM: 'xterm', NO_COLOR: '1' } });
    expect(plain.stdout).toContain('ok');
    expect(plain.stdout).not.toContain('\u001b[');
    const dumb = await run(words, { env: { TERM: 'dumb' } });
    expect(dumb.stdout).not.toContain('\u001b[');
  });

  const nasty = 'a\u001b[31m\u009b\u202e\u200bb\r';
  // eslint-disable-next-line no-control-regex -- the characters that must not come through
  const steering = /[\u001b\u009b\u202e\u200b\r]/u;

  it('cannot be steered by the name of a folder', async () => {
    const project = newProject((folder) => {
      mkdirSync(join(folder, nasty));
      return join(folder, nasty);
    });
    for (const words of [['start'], ['status'], ['doctor'], ['stop'], ['start', '--no']]) {
      const { stdout, stderr } = await project.cli(words);
      expect({ words, output: stdout + stderr }).toEqual({
        words,
        output: expect.not.stringMatching(steering),
      });
    }
  });

  it('cannot be steered by a setting that came with the project', async () => {
    const project = newProject();
    mkdirSync(project.path(), { mode: 0o700 });
    writeFileSync(project.path('config.json'), JSON.stringify({ include: [nasty], [nasty]: 1 }));
    for (const words of [
      ['status'],
      ['config', 'get'],
      ['config', 'get', '--json'],
      ['call', 'get_config'],
      ['config', 'set', 'exclude', JSON.stringify([nasty])],
    ]) {
      const { code, stdout, stderr } = await project.cli(words);
      expect({ words, code, output: stdout + stderr }).toEqual({
        words,
        code: 0,
        output: expect.not.stringMatching(steering),
      });
    }
    const config = await project.json<{ include: string[] }>(['config', 'get']);
    expect(config.include).toEqual([nasty]);
  });

  it('that nobody reads ends the command quietly', async () => {
    const project = newProject();
    await project.startDaemon();
    const line = `'${process.execPath}' '${CLI}' --root '${project.root}' metrics | true`;
    const { code, stderr } = await run(['sh', '-c', line]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  (existsSync('/dev/full') ? it : it.skip)('that cannot be written is a failure', async () => {
    const project = newProject();
    const line = `'${process.execPath}' '${CLI}' --root '${project.root}' help > /dev/full`;
    const { code, stderr } = await run(['sh', '-c', line]);
    expect(code).toBe(74);
    expect(stderr).toMatch(/^smithyd: The output could not be written: ENOSPC.*\n$/u);
  });
});

describe('config set', () => {
  it.each([
    ['edits.ttlMs', '1234', 1234],
    ['http.enabled', 'false', false],
    ['trackHidden', 'all', 'all'],
    ['exclude', '["a","b"]', ['a', 'b']],
  ])('%s %s is kept', async (key, text, value) => {
    const project = newProject();
    const { code, stdout } = await project.cli(['config', 'set', key, text]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${key} = ${JSON.stringify(value)}\n` });
    expect((await project.cli(['config', 'get', key])).stdout).toBe(`${JSON.stringify(value)}\n`);
    const config = await project.json<Record<string, unknown>>(['config', 'get']);
    const [group = '', inner] = key.split('.');
    const found = config[group];
    expect(inner === undefined ? found : (found as Record<string, unknown>)[inner]).toEqual(value);
  });
});

describe('watch', () => {
  const children: number[] = [];
  afterEach(() => {
    for (const pid of children.splice(0)) signal(pid, 'SIGKILL');
  });

  function watch(project: Project, ...words: string[]) {
    const args = [CLI, '--root', project.root, ...words];
    const child = spawn(process.execPath, args, { env: plainEnvironment() });
    children.push(child.pid ?? 0);
    const seen = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (seen.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (seen.stderr += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    return { child, seen, ended };
  }

  it('prints events as they happen, outlives a restart and ends on Ctrl-C', async () => {
    const project = newProject();
    const { child, seen, ended } = watch(project, 'watch');
    await until('it listens', () => seen.stderr.includes('Listening'));
    await project.cli(['config', 'set', 'maxCheckpointAge', '9']);
    await until('the event is printed', () =>
      /config_changed +.*maxCheckpointAge/u.test(seen.stdout),
    );
    await project.cli(['stop']);
    await until('the stop is printed', () => seen.stdout.includes('the daemon is stopping'));
    let age = 10;
    await until('it listens to the next daemon', async () => {
      await project.cli(['config', 'set', 'maxCheckpointAge', String(age++)]);
      return seen.stdout.split('config_changed').length > 2;
    });
    child.kill('SIGINT');
    expect(await soon('its end', ended)).toBe(0);
  });

  it('prints only the types and the dialog asked for, as JSON lines with --json', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    const { result: one } = await socket.call('create_dialog', {});
    const { result: two } = await socket.call('create_dialog', {});
    const words = ['watch', '--type', 'shutting_down', '--type=note'];
    const dialog = String(one?.['dialog_id']);
    const { child, seen, ended } = watch(project, '--json', '--dialog', dialog, ...words);
    await until('it listens', async () => {
      const { result } = await socket.call('get_metrics');
      return String(result?.['text']).includes('{method="subscribe",outcome="ok"} 1');
    });
    await socket.call('update_config', { maxCheckpointAge: 8 });
    await socket.call('note', { text: 'theirs', dialog_id: two?.['dialog_id'] });
    await socket.call('note', { text: 'ours', dialog_id: dialog });
    await project.cli(['stop']);
    const lines = await until('two lines are printed', () => {
      return /^(?:.+\n){2}/u.exec(seen.stdout)?.[0].trim().split('\n');
    });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { type: 'note', text: 'ours' },
      { type: 'shutting_down' },
    ]);
    child.kill('SIGTERM');
    expect(await soon('its end', ended)).toBe(0);
  });

  it('of a dialog that is not there ends with the refusal', async () => {
    const { code, stderr } = await newProject().cli(['--dialog', 'nope', 'watch']);
    expect(code).toBe(4);
    expect(stderr).toContain('There is no dialog nope.');
  });
});

describe('blame', () => {
  it('of a FIFO is refused and reads nothing', async () => {
    const project = newProject();
    spawnSync('mkfifo', [join(project.root, 'pipe')]);
    const { code, stderr } = await project.cli(['blame', 'pipe']);
    expect({ code, stderr }).toEqual({ code: 16, stderr: expect.stringContaining('pipe') });
  });
});
