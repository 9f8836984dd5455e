import { spawn } from 'node:child_process';
import { afterEach, describe, expect, it } from '@jest/globals';
import { CLI, projectsPerTest } from '../support/daemon-project.js';
import { plainEnvironment, signal } from '../support/processes.js';
import { hasPython, onTerminal } from '../support/terminal.js';
import { soon, until } from '../support/until.js';
import { Work, type Saved } from '../support/work.js';

const newProject = projectsPerTest();
const withTerminal = hasPython ? it : it.skip;

const children: number[] = [];
afterEach(() => {
  for (const pid of children.splice(0)) signal(pid, 'SIGKILL');
});

async function listen(work: Work, env: Readonly<Record<string, string>> = {}) {
  const args = [CLI, '--root', work.root, 'watch'];
  const child = spawn(process.execPath, args, { env: plainEnvironment(env) });
  children.push(child.pid ?? 0);
  const seen = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (seen.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (seen.stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  await until('it listens', () => seen.stderr.includes('Listening'));
  return { child, seen, ended };
}

/** How often somebody has begun to listen. */
async function listeners(work: Work): Promise<number> {
  const { text } = await work.call<{ text: string }>('get_metrics');
  return Number(/\{method="subscribe",outcome="ok"\} (\d+)/u.exec(text)?.[1] ?? 0);
}

describe('smithyd watch', () => {
  it('tells messages, edits with their author, unknown changes, checkpoints, sessions and restores', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ 'a.ts': 'one\n' });
    const before = await work.call<{ edit_id: string }>('start_edit', {
      ...{ files: ['b.ts'], agent: { name: 'early' }, tool: 'Write' },
    });
    const { child, seen, ended } = await listen(work);
    const sees = (pattern: RegExp) => until(String(pattern), () => pattern.test(seen.stdout));
    await work.call('user_message', { content: 'Make it\nfaster' });
    await sees(/message +Make it faster {2}\([0-9a-f]{8}, session_1\)\n/u);
    work.put({ 'b.ts': '++ two\n' });
    await work.call('finalize_edit', { edit_id: before.edit_id });
    await sees(/edit +early Write {2}b\.ts {2}\+1 -0\n/u);
    const edit = await work.call<{ edit_id: string }>('start_edit', {
      ...{ files: ['a.ts'], agent: { name: 'claude-code' }, tool: 'Edit' },
    });
    await sees(/edit begins +claude-code Edit {2}a\.ts\n/u);
    await work.call('abort_edit', { edit_id: edit.edit_id });
    await sees(/edit undone +claude-code Edit/u);
    work.put({ 'c.ts': 'by somebody\n' });
    await sees(/UNKNOWN +created c\.ts\n/u);
    const { commit_id: saved } = await work.call<Saved>('create_checkpoint', { message: 'kept' });
    await sees(new RegExp(`checkpoint +${saved.slice(0, 8)} manual {2}kept`, 'u'));
    work.put({ 'c.ts': null });
    await work.restore(saved);
    await sees(new RegExp(`restore +${saved.slice(0, 8)}`, 'u'));
    await work.call('approve', {});
    await sees(/session +approved, now session_2\n/u);
    expect(seen.stdout).not.toContain('\u001b');
    for (const line of seen.stdout.trimEnd().split('\n'))
      expect(line).toMatch(/^\d\d:\d\d:\d\d {2}\S/u);
    child.kill('SIGINT');
    expect(await soon('its end', ended)).toBe(0);
  });

  it('lets no file name steer the terminal', async () => {
    const work = await Work.start(newProject());
    const { child, seen, ended } = await listen(work);
    work.put({ 'a\u001b[2Jb\nc\u202e.ts': 'x' });
    await until('it is told', () => seen.stdout.includes('UNKNOWN'));
    expect(seen.stdout).toMatch(/UNKNOWN +created .*a.*2Jb.*\n$/u);
    expect(seen.stdout.split('\n')).toHaveLength(2);
    // eslint-disable-next-line no-control-regex -- that is the question
    expect(seen.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/u);
    child.kill('SIGTERM');
    expect(await soon('its end', ended)).toBe(0);
  });

  it('says that the daemon went away and that the next one is there, and misses nothing', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: '1' });
    const { child, seen, ended } = await listen(work);
    signal(work.project.daemonFile()?.pid ?? 0, 'SIGKILL');
    await until('it is said', () => seen.stdout.includes('the daemon is gone'));
    await work.project.cli(['message', 'Still there?']);
    await until('it is back', () => seen.stdout.includes('connected again'));
    await until('it has heard', () => seen.stdout.includes('Still there?'));
    child.kill('SIGINT');
    expect(await soon('its end', ended)).toBe(0);
  });

  const onScreen = (work: Work, env: Readonly<Record<string, string>>) => {
    const command = `stty cols 40 && exec '${process.execPath}' '${CLI}' --root '${work.root}' watch`;
    return onTerminal(['sh', '-c', command], { when: 'UNKNOWN', keys: '\\x03', env });
  };

  withTerminal('on a terminal colours what is unknown and keeps to its width', async () => {
    const work = await Work.start(newProject());
    const watched = onScreen(work, { TERM: 'xterm' });
    await until('it listens', async () => (await listeners(work)) === 1);
    work.put({ [`${'long-'.repeat(20)}name.ts`]: 'x' });
    const { code, stdout } = await watched;
    expect(code).toBe(0);
    const line = stdout.split('\r\n').find((each) => each.includes('UNKNOWN')) ?? '';
    expect(line).toContain('\u001b[1;35mUNKNOWN');
    // eslint-disable-next-line no-control-regex -- taken out to count what is left
    expect(line.replace(/\u001b\[[\d;]*m/gu, '').length).toBeLessThanOrEqual(40);
  });

  withTerminal('on a terminal without colours has no escape codes', async () => {
    const work = await Work.start(newProject());
    const watched = onScreen(work, { TERM: 'xterm', NO_COLOR: '1' });
    await until('it listens', async () => (await listeners(work)) === 1);
    work.put({ 'a.ts': 'x' });
    const { code, stdout } = await watched;
    expect(code).toBe(0);
    expect(stdout).toContain('UNKNOWN');
    expect(stdout).not.toContain('\u001b');
  });
});
