import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { agentMessages } from '../support/agent-messages.js';
import { CLI, projectsPerTest, REPOSITORY, temporaryFolder } from '../support/daemon-project.js';
import { run, signal, type Outcome } from '../support/processes.js';
import { hasPython, onTerminal } from '../support/terminal.js';
import { sharedWork, Work } from '../support/work.js';

interface Edit {
  readonly paths?: readonly string[];
  readonly scope?: string;
  readonly agent: { readonly name: string };
  readonly state: string;
}

const hook = (agent: string, input: string, cwd = '/'): Promise<Outcome> =>
  run([process.execPath, CLI, 'agent-hook', agent], { input, cwd });

async function openEdits(work: Work): Promise<readonly Edit[]> {
  const { edits } = await work.call<{ edits: Edit[] }>('list_edits');
  return edits.filter(({ state }) => state === 'open');
}

const AGENTS = agentMessages('').map(({ agent, form = '' }) => ({ agent, form }));

describe.each(AGENTS)('$agent $form', ({ agent, form }) => {
  const work = sharedWork();
  let turn = 0;
  beforeEach(() => {
    turn++;
  });

  function messages() {
    const found = agentMessages(work().root, turn).find(
      (each) => each.agent === agent && (each.form ?? '') === form,
    );
    if (found === undefined) throw new Error(agent);
    return found;
  }

  async function say(message: object): Promise<void> {
    const { code, stdout, stderr } = await hook(agent, JSON.stringify(message));
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: messages().fine, stderr: '' });
  }

  async function authorOf(path: string): Promise<string> {
    const { last } = await work().call<{ last: string }>('blame', { path });
    return last;
  }

  it('a prompt is a message with a checkpoint', async () => {
    await work().fresh({ 'a.ts': 'one\n' });
    await say(messages().prompt('Make it faster'));
    const [newest] = await work().log();
    expect(newest).toMatchObject({
      kind: 'message',
      message: 'Before user message: Make it faster',
    });
  });

  it('an edit is bracketed and has its author', async () => {
    await work().fresh({ 'a.ts': 'one\n' });
    await say(messages().edit('before', 'a.ts'));
    expect(await openEdits(work())).toMatchObject([{ paths: ['a.ts'], agent: { name: agent } }]);
    work().put({ 'a.ts': 'two\n' });
    await say(messages().edit('after', 'a.ts'));
    expect(await openEdits(work())).toEqual([]);
    expect(await authorOf('a.ts')).toBe(`agent:${agent}`);
  });

  it('a command is an edit of the project', async () => {
    await work().fresh({ 'a.ts': 'one\n' });
    await say(messages().shell('before', 'make b.ts'));
    expect(await openEdits(work())).toMatchObject([{ scope: 'project', agent: { name: agent } }]);
    work().put({ 'b.ts': 'made\n' });
    await say(messages().shell('after', 'make b.ts'));
    expect(await openEdits(work())).toEqual([]);
    expect(await authorOf('b.ts')).toMatch(/^command:/u);
  });

  it('after its end nothing is left open', async () => {
    await work().fresh({ 'a.ts': 'one\n' });
    await say(messages().edit('before', 'a.ts'));
    await say(messages().shell('before', 'sleep 100'));
    expect(await openEdits(work())).toHaveLength(2);
    await say(messages().end);
    expect(await openEdits(work())).toEqual([]);
  });

  it('is not kept from trying again by a call of its own that failed', async () => {
    await work().fresh({ 'a.ts': 'one\n' });
    const again = JSON.stringify(messages().edit('before', 'a.ts')).replaceAll(
      /"(toolu_01|call_|use-|tool-)/gu,
      '"another-$1',
    );
    await say(messages().edit('before', 'a.ts'));
    await say(messages().edit('before', 'a.ts'));
    await say(JSON.parse(again) as object);
    expect(await openEdits(work())).toHaveLength(1);
    await say(messages().end);
    expect(await openEdits(work())).toEqual([]);
  });

  it('is told in its own way that somebody else edits the file', async () => {
    await work().fresh({ 'a.ts': 'one\n' });
    const { edit_id: id } = await work().call<{ edit_id: string }>('start_edit', {
      files: ['a.ts'],
    });
    const { code, stdout } = await hook(agent, JSON.stringify(messages().edit('before', 'a.ts')));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject(messages().refusal);
    await work().call('abort_edit', { edit_id: id });
  });
});

describe('an agent that does not tell its prompts', () => {
  const newProject = projectsPerTest();

  it('has the project saved before the first thing it does in a turn, and only then', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ 'a.ts': 'one\n' });
    const say = async (message: object | undefined): Promise<void> => {
      expect((await hook('cline', JSON.stringify(message))).code).toBe(0);
    };
    const kinds = async () => (await work.log()).map(({ kind }) => kind);
    const cline = agentMessages(work.root).find(({ form }) => form === 'version 3');
    const turn = async (content: string): Promise<void> => {
      await say(cline?.edit('before', 'a.ts'));
      work.put({ 'a.ts': content });
      await say(cline?.edit('after', 'a.ts'));
      await say(cline?.shell('before', 'make'));
      await say(cline?.shell('after', 'make'));
      await say(cline?.end);
    };
    await turn('two\n');
    expect(await kinds()).toEqual(['message', 'initial']);
    await turn('three\n');
    expect(await kinds()).toEqual(['message', 'message', 'initial']);
    const [second, first] = await work.log();
    expect((await work.content(second?.commit_id ?? '', 'a.ts')).toString()).toBe('two\n');
    expect((await work.content(first?.commit_id ?? '', 'a.ts')).toString()).toBe('one\n');
    await say(cline?.prompt('Told after all'));
    await say(cline?.edit('before', 'a.ts'));
    expect(await kinds()).toEqual(['message', 'message', 'message', 'initial']);
  });
});

describe('a hook never stands in the way of an agent', () => {
  const newProject = projectsPerTest();
  const [claude] = agentMessages('');

  it.each([
    ['no JSON', 'nonsense', /not JSON/u],
    ['JSON of another kind', '[1]', /^$/u],
    ['an event nobody knows', '{"hook_event_name":"Whatever"}', /^$/u],
    ['a folder that is not there', '{"hook_event_name":"Stop","cwd":"/nowhere"}', /not a folder/u],
  ])('given %s', async (_, input, told) => {
    const { code, stdout, stderr } = await hook('claude-code', input);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(told);
    expect(stderr.split('\n').length).toBeLessThanOrEqual(2);
  });

  it('without a daemon: a tool call starts none, a prompt does', async () => {
    const project = newProject();
    const [messages] = agentMessages(project.root);
    await hook('claude-code', JSON.stringify(messages?.edit('before', 'a.ts')));
    expect(project.daemonFile()).toBeUndefined();
    await hook('claude-code', JSON.stringify(messages?.prompt('Begin')));
    expect(project.daemonFile()).toBeDefined();
  });

  it('when the daemon hangs', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    const [messages] = agentMessages(project.root);
    signal(pid, 'SIGSTOP');
    const { code, stderr } = await hook(
      'claude-code',
      JSON.stringify(messages?.edit('before', 'a.ts')),
    );
    signal(pid, 'SIGCONT');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^smithyd: .*answered.*\n$/u);
  });

  it('leaves files outside of the project alone', async () => {
    const work = await Work.start(newProject());
    const message = JSON.stringify({
      ...claude?.edit('before', 'home/notes.md'),
      cwd: work.root,
    });
    expect(await hook('claude-code', message)).toMatchObject({ code: 0, stderr: '' });
    expect(await openEdits(work)).toEqual([]);
  });

  it('given a name that no agent has', async () => {
    const { code, stdout, stderr } = await hook('claude', '{}');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe('smithyd: There is no agent "claude". Did you mean "claude-code"?\n');
  });

  it('finds the files of a project that is reached by a link', async () => {
    const work = await Work.start(newProject());
    const link = join(temporaryFolder(), 'link');
    symlinkSync(work.root, link);
    const [claude] = agentMessages(link);
    await hook('claude-code', JSON.stringify(claude?.edit('before', 'new/a.ts')), link);
    expect(await openEdits(work)).toMatchObject([{ paths: ['new/a.ts'] }]);
    rmSync(dirname(link), { recursive: true });
  });
});

const SETUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'claude-code': {
    '.claude/settings.local.json':
      '{\n    "permissions": { "allow": ["Bash(ls)"] },\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}',
    '.mcp.json': '{"mcpServers":{"other":{"command":"other"}}}\n',
  },
  codex: { '.codex/config.toml': '# mine\nmodel = "gpt-5"' },
  gemini: { '.gemini/settings.json': '{\n\t"theme": "x"\n}\n' },
  cursor: { '.cursor/hooks.json': '{"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}}' },
  cline: { '.clinerules/rules.md': 'Be kind.\n' },
  opencode: { 'opencode.json': '{ "theme": "x" }\n' },
  vscode: {
    '.vscode/mcp.json': '{"servers": {}}',
    '.github/mcp.json': '{"mcpServers": {"other": {"command": "other"}}}',
  },
  aider: { '.aider.conf.yml': 'dark-mode: true\n' },
  shell: {},
  'agents-md': { 'AGENTS.md': '# Rules\n\nBe kind.' },
};

describe('smithyd setup', () => {
  const newProject = projectsPerTest();

  function write(root: string, files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  }

  describe.each(Object.entries(SETUPS))('%s', (name, files) => {
    it('keeps what is there, and its undo leaves every byte as it was', async () => {
      const project = newProject();
      write(project.root, files);
      const work = new Work(project, undefined as never);
      const before = work.disk();
      const { code, stdout } = await project.cli(['setup', name, '--yes']);
      expect(code).toBe(0);
      expect(stdout).toContain('smithyd');
      const mine = Object.keys(before).filter((path) => path !== 'AGENTS.md');
      for (const path of mine) expect(Object.keys(work.disk())).toContain(path);
      const again = await project.cli(['setup', name, '--yes']);
      expect(again.stdout).toContain('Nothing to do');
      expect((await project.cli(['setup', name, '--undo', '--yes'])).code).toBe(0);
      expect(work.disk()).toEqual(before);
    });

    it('begins with nothing and leaves nothing', async () => {
      const project = newProject();
      const work = new Work(project, undefined as never);
      await project.cli(['setup', name, '--yes']);
      if (!['shell', 'aider'].includes(name)) expect(work.disk()).not.toEqual({});
      await project.cli(['setup', name, '--undo', '--yes']);
      expect(work.disk()).toEqual({});
    });
  });

  it('tells both VS Code and Copilot, which look in different places, of the MCP server', async () => {
    const project = newProject();
    await project.cli(['setup', 'vscode', '--yes']);
    const read = (path: string): unknown =>
      JSON.parse(readFileSync(join(project.root, path), 'utf8'));
    const server = { command: 'smithyd', args: ['mcp'] };
    expect(read('.vscode/mcp.json')).toMatchObject({ servers: { smithyd: server } });
    expect(read('.github/mcp.json')).toMatchObject({ mcpServers: { smithyd: server } });
  });

  it('leaves nothing unknown in a project that is watched', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ 'a.ts': 'one\n' });
    await work.project.cli(['setup', 'gemini', '--yes']);
    expect(await work.call('blame', { path: '.gemini/settings.json' })).toMatchObject({
      last: 'command:smithyd setup gemini',
    });
    expect(await work.call('detect_unknown_modifications')).toMatchObject({
      hasUnknownChanges: false,
    });
    expect(await openEdits(work)).toEqual([]);
  });

  it('takes only ours out of a file that was changed since', async () => {
    const project = newProject();
    const path = join(project.root, '.claude/settings.local.json');
    write(project.root, SETUPS['claude-code'] ?? {});
    await project.cli(['setup', 'claude-code', '--yes']);
    const changed = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    expect(JSON.stringify(changed)).toContain('say done');
    writeFileSync(path, JSON.stringify({ ...changed, model: 'x' }));
    await project.cli(['setup', 'claude-code', '--undo', '--yes']);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      permissions: { allow: ['Bash(ls)'] },
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }] },
      model: 'x',
    });
  });

  it('takes only its block out of a text that was changed since', async () => {
    const project = newProject();
    const path = join(project.root, 'AGENTS.md');
    write(project.root, { 'CLAUDE.md': '# Rules\n' });
    symlinkSync('CLAUDE.md', path);
    await project.cli(['setup', 'agents-md', '--yes']);
    expect(readlinkSync(path)).toBe('CLAUDE.md');
    writeFileSync(path, `${readFileSync(path, 'utf8')}\nAnd more.\n`);
    await project.cli(['setup', 'agents-md', '--undo', '--yes']);
    expect(readlinkSync(path)).toBe('CLAUDE.md');
    expect(readFileSync(path, 'utf8')).toBe('# Rules\n\nAnd more.\n');
  });

  it('writes through no link that leads out of its folder', async () => {
    const project = newProject((folder) => join(folder, 'project'));
    mkdirSync(project.root);
    const outside = join(project.folder, 'outside.md');
    writeFileSync(outside, '# Not of this project\n');
    symlinkSync('../outside.md', join(project.root, 'AGENTS.md'));
    await project.cli(['setup', 'agents-md', '--yes']);
    expect(readFileSync(outside, 'utf8')).toBe('# Not of this project\n');
  });

  it('refuses settings with comments and hooks that are somebody else’s, by name', async () => {
    const project = newProject();
    const files = {
      '.vscode/mcp.json': '{\n  // mine\n  "servers": {}\n}\n',
      '.clinerules/hooks/PreToolUse': '#!/bin/sh\n',
    };
    write(project.root, files);
    for (const [name, file] of [
      ['vscode', '.vscode/mcp.json'],
      ['cline', 'PreToolUse'],
    ] as const) {
      const { code, stderr } = await project.cli(['setup', name, '--yes']);
      expect({ name, code }).toEqual({ name, code: 2 });
      expect(stderr).toContain(file);
    }
    for (const [path, text] of Object.entries(files)) {
      expect(readFileSync(join(project.root, path), 'utf8')).toBe(text);
    }
    expect(existsSync(join(project.root, '.github'))).toBe(false);
  });

  it('changes nothing when nobody can be asked', async () => {
    const project = newProject();
    const { code, stdout, stderr } = await project.cli(['setup', 'gemini']);
    expect(code).toBe(2);
    expect(stdout).toContain('smithyd agent-hook gemini');
    expect(stderr).toContain('--yes');
    expect(existsSync(join(project.root, '.gemini'))).toBe(false);
  });

  (hasPython ? it : it.skip).each([
    ['y', 0, true],
    ['n', 1, false],
  ])('asks on a terminal and does as it is told: %s', async (key, exit, isDone) => {
    const project = newProject();
    const command = [process.execPath, CLI, '--root', project.root, 'setup', 'gemini'];
    const { code } = await onTerminal(command, { when: '[y/N]', keys: `${key}\\r` });
    expect(code).toBe(exit);
    expect(existsSync(join(project.root, '.gemini'))).toBe(isDone);
  });

  it.each(['systemd', 'launchd'])('%s goes into the home folder', async (name) => {
    const project = newProject();
    const home = temporaryFolder();
    try {
      const env = { HOME: home };
      const { code } = await project.cli(['setup', name, '--yes'], { env });
      expect(code).toBe(0);
      const { stdout } = await run(['grep', '-rl', CLI, home]);
      expect(stdout).toMatch(/smithyd(?:@\.service|\.[0-9a-f]{12}\.plist)\n$/u);
      const other = newProject();
      expect(await other.cli(['setup', name, '--yes'], { env })).toMatchObject({ code: 0 });
      await other.cli(['setup', name, '--undo', '--yes'], { env });
      expect((await run(['grep', '-rl', CLI, home])).stdout).toBe(stdout);
      await project.cli(['setup', name, '--undo', '--yes'], { env });
      expect((await run(['find', home, '-mindepth', '1'])).stdout).toBe('');
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

/** A PATH with `smithyd` and others on it. */
function withPrograms(work: Work, programs: Readonly<Record<string, string>>): string {
  const bin = work.project.path('tools');
  mkdirSync(bin);
  const smithyd = `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`;
  for (const [name, text] of Object.entries({ smithyd, ...programs })) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  return `${bin}:${process.env['PATH'] ?? ''}`;
}

describe('the plugin for opencode', () => {
  const newProject = projectsPerTest();

  it('tells what opencode tells it, and stops a tool that must not run', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ 'a.ts': 'one\n', 'b.ts': 'one\n' });
    const path = withPrograms(work, {});
    const plugin = pathToFileURL(join(REPOSITORY, 'templates/opencode/smithyd.js')).href;
    await work.call('start_edit', { files: ['b.ts'] });
    const source = `
      import { Smithyd } from ${JSON.stringify(plugin)};
      import { writeFileSync } from 'node:fs';
      const directory = ${JSON.stringify(work.root)};
      const hooks = await Smithyd({ directory });
      const call = { tool: 'edit', sessionID: 's', callID: 'c' };
      const args = { filePath: directory + '/a.ts' };
      const parts = [{ type: 'text', text: 'Make it two' }];
      // Its id is in the message alone; opencode may send it again.
      await hooks['chat.message']({ sessionID: 's' }, { message: { id: 'm' }, parts });
      await hooks['chat.message']({ sessionID: 's' }, { message: { id: 'm' }, parts });
      await hooks['tool.execute.before'](call, { args });
      writeFileSync(args.filePath, 'two');
      await hooks['tool.execute.after']({ ...call, args }, {});
      await hooks.event({ event: { type: 'session.idle', properties: { sessionID: 's' } } });
      const held = { args: { filePath: directory + '/b.ts' } };
      await hooks['tool.execute.before']({ ...call, callID: 'd' }, held).catch((error) => console.log(error.message));
    `;
    const node = [process.execPath, '--input-type=module', '-e', source];
    const { code, stdout } = await run(node, { env: { PATH: path } });
    expect(code).toBe(0);
    expect(stdout).toContain('is being edited');
    expect((await work.log()).map(({ message }) => message)).toEqual([
      'Before user message: Make it two',
      expect.stringContaining('Initial'),
    ]);
    expect(await work.call('blame', { path: 'a.ts' })).toMatchObject({ last: 'agent:opencode' });
  });
});

describe('the wrapper for agents without hooks', () => {
  const newProject = projectsPerTest();

  it('saves before, and records what the agent changed under its name', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ 'a.ts': 'one\n' });
    await work.project.cli(['setup', 'shell', '--yes']);
    const path = withPrograms(work, { agent: '#!/bin/sh\necho two >a.ts\nexit 3\n' });
    const wrapper = work.at('.agentsmithy/bin/with-smithyd');
    const { code } = await run([wrapper, '-m', 'Make it two', 'agent'], {
      cwd: work.root,
      env: { PATH: path },
    });
    expect(code).toBe(3);
    const [newest] = await work.log();
    expect(newest?.message).toBe('Before user message: Make it two');
    expect(await work.call('blame', { path: 'a.ts' })).toMatchObject({ last: 'command:agent' });
    expect(await openEdits(work)).toEqual([]);
  });
});
