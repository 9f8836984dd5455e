import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CLI } from '../support/daemon-project.js';
import { git, sharedWork } from '../support/work.js';
import { hasPython, onTerminal } from '../support/terminal.js';
import type { Outcome } from '../support/processes.js';

const work = sharedWork();
const withPython = hasPython ? it : it.skip;

const smithyd = (...words: string[]): Promise<Outcome> => work().project.cli(words);

async function ok(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await smithyd(...words);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  return stdout;
}

/** As a script does it: what it prints is the id. */
async function startEdit(...words: string[]): Promise<string> {
  const { code, stdout } = await smithyd('edit', 'start', ...words);
  expect(code).toBe(0);
  return stdout.trim();
}

const ID = /^\w{26}$/u;

describe('edits on the command line', () => {
  it('start prints the id alone, and beside it what is held', async () => {
    await work().fresh({ 'a.txt': 'one\n' });
    const { stdout, stderr } = await smithyd('edit', 'start', 'a.txt', 'new.txt');
    expect(stdout.trimEnd()).toMatch(ID);
    expect(stderr.split('\n')).toEqual(['  saved  a.txt', '  new    new.txt', '']);
    await ok('edit', 'abort', stdout.trim());
  });

  it('start tells what was unknown before', async () => {
    await work().fresh({ 'a.txt': 'one\n' });
    work().put({ 'a.txt': 'somebody else\n' });
    const { stdout, stderr } = await smithyd('edit', 'start', 'a.txt');
    expect(stderr).toMatch(/^! .*a\.txt/mu);
    await ok('edit', 'abort', stdout.trim());
  });

  it('start refuses a name that no file can have', async () => {
    await work().fresh({ 'a.txt': 'one\n' });
    for (const path of ['n'.repeat(300), `${'n'.repeat(300)}/a`]) {
      const { code, stderr } = await smithyd('edit', 'start', path);
      expect({ code, stderr }).toEqual({ code: 16, stderr: expect.stringContaining('too long') });
    }
  });

  it('finalize prints what changed, with its lines', async () => {
    await work().fresh({ 'a.txt': 'one\n', 'same.txt': 'same\n', 'gone.txt': 'x\ny\n' });
    const id = await startEdit('a.txt', 'same.txt', 'gone.txt', 'new.txt', '--tool', 'vim');
    work().put({ 'a.txt': 'one\ntwo\n', 'gone.txt': null, 'new.txt': 'n\n' });
    expect(await ok('edit', 'finalize', id)).toBe(
      [
        `Edit ${id} is recorded: 3 files changed, +2 -2.`,
        '  modified   a.txt     +1 -0',
        '  deleted    gone.txt  +0 -2',
        '  created    new.txt   +1 -0',
        '  unchanged  same.txt',
        '',
      ].join('\n'),
    );
  });

  it('abort prints what was put back, removed and saved', async () => {
    await work().fresh({ 'a.txt': 'one\n' });
    const id = await startEdit('a.txt', 'new.txt');
    work().put({ 'a.txt': 'two\n', 'new.txt': 'n\n' });
    const hash = git(work().root, ['hash-object', '--stdin'], 'two\n').trim();
    const lines = (await ok('edit', 'abort', id.slice(0, 20))).split('\n');
    expect(lines[0]).toBe(`Edit ${id} is taken back.`);
    expect(lines).toContain('  restored  a.txt');
    expect(lines).toContain('  removed   new.txt');
    expect(lines).toContain(`  saved     a.txt as ${hash}`);
    expect(work().disk()).toEqual({ 'a.txt': 'file one\n' });
    expect(await ok('edit', 'abort', await startEdit('a.txt'))).toContain('nothing had changed');
  });

  it('list is a table of what is open and by whom', async () => {
    await work().fresh();
    expect(await ok('edit', 'list')).toBe('No edits are open.\n');
    const one = await startEdit(
      'a',
      'b',
      'c',
      'd',
      '--agent',
      '{"name":"claude"}',
      '--tool',
      'Write',
    );
    const two = await startEdit('--scope', 'project', '--ttl-ms', '3600000');
    const lines = (await ok('edit', 'list')).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^EDIT +STATE +SINCE +ENDS +BY +FILES$/u);
    expect(lines.slice(1).sort()).toEqual([
      expect.stringMatching(`^${one}  open .* in \\d+ min +claude, Write +a, b, c and 1 more$`),
      expect.stringMatching(`^${two}  open .* in \\d+ min +- +the whole project$`),
    ]);
    const starts = lines.map((line) => line.search(/(?:FILES|a, b|the whole)/u));
    expect(new Set(starts).size).toBe(1);
    await ok('edit', 'abort', one);
    await ok('edit', 'finalize', two);
  });

  it('outlive the command that started them, and are gone when they were ended', async () => {
    await work().fresh({ 'a.txt': 'one\n' });
    const id = await startEdit('a.txt');
    const refused = await smithyd('edit', 'start', 'a.txt');
    expect(refused.code).toBe(10);
    expect(refused.stderr).toContain('a.txt');
    await ok('edit', 'finalize', id);
    expect((await smithyd('edit', 'abort', id)).code).toBe(4);
    expect((await smithyd('edit', 'finalize', 'nonsense')).code).toBe(4);
  });

  it('cannot steer the terminal by a name', async () => {
    await work().fresh();
    const nasty = 'a\u001b[31m\nb\u202e.txt';
    const id = await startEdit(nasty, '--tool', 'x\u001b[0m\ny');
    const shown = [await ok('edit', 'list')];
    work().put({ [nasty]: 'x\n' });
    shown.push(await ok('edit', 'finalize', id));
    work().put({ [nasty]: 'y\n' });
    shown.push(await ok('unknown'), await ok('blame', nasty), await ok('unknown', '--integrate'));
    // eslint-disable-next-line no-control-regex -- the characters that must not come through
    for (const text of shown) expect(text).not.toMatch(/[\u001b\u202e]/u);
    expect(shown[0]?.trimEnd().split('\n')).toHaveLength(2);
  });
});

describe('unknown', () => {
  it('shows each change with how it was noticed and its size', async () => {
    await work().fresh({ 'a.txt': '1\n2\n3\n', 'gone.txt': 'x\n' });
    expect(await ok('unknown')).toBe('No unknown changes.\n');
    work().put({ 'a.txt': '1\n+2\n-x\n3\n', 'gone.txt': null, 'new.bin': Buffer.from([0, 1]) });
    expect((await ok('unknown')).split('\n').slice(0, 4)).toEqual([
      '3 files hold content that nobody announced:',
      '  modified  live     a.txt     +2 -1',
      '  deleted   live     gone.txt  +0 -1',
      '  created   live     new.bin   binary',
    ]);
    const named = await ok('unknown', 'gone.txt');
    expect(named).toContain('1 file holds');
    expect(named).not.toContain('a.txt');
    const answer = await work().project.json<Record<string, unknown>>(['unknown']);
    expect(answer).toMatchObject({
      hasUnknownChanges: true,
      unknownChanges: [{ filePath: 'a.txt', origin: 'live' }, {}, {}],
    });
  });

  it('--diff into a pipe is a patch that git takes', async () => {
    await work().fresh({ 'a.txt': '1\n2\n', 'gone.txt': 'x\n' });
    work().put({ 'a.txt': '1\ntwo\n', 'gone.txt': null, 'new.txt': 'n\n' });
    const patch = await ok('unknown', '--diff');
    const copy = join(work().project.folder, 'copy');
    mkdirSync(copy);
    writeFileSync(join(copy, 'a.txt'), '1\n2\n');
    writeFileSync(join(copy, 'gone.txt'), 'x\n');
    git(copy, ['apply'], patch);
    expect(git(copy, ['hash-object', 'a.txt', 'new.txt'])).toBe(
      git(work().root, ['hash-object', 'a.txt', 'new.txt']),
    );
  });

  withPython('--diff on a terminal has colours and no steering (needs python3)', async () => {
    await work().fresh({ 'a.txt': 'one\n' });
    work().put({ 'a.txt': 'two\u001b[31m\n' });
    const words = [process.execPath, CLI, '--root', work().root, 'unknown', '--diff'];
    const { stdout } = await onTerminal(words, { when: 'never', keys: '', env: { TERM: 'xterm' } });
    expect(stdout).toContain('\u001b[31m-one');
    expect(stdout).toContain('\u001b[32m+two\\u001b[31m\u001b[0m');
  });

  it('--integrate takes in what is named, --reject puts the rest back and says what is saved', async () => {
    await work().fresh({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    work().put({ 'a.txt': 'two\n', 'b.txt': 'two\n', 'new.txt': 'n\n' });
    expect(await ok('unknown', '--integrate', 'a.txt')).toMatch(
      / known now.*\n {2}a\.txt\nEvent evt-/su,
    );
    const hash = git(work().root, ['hash-object', '--stdin'], 'two\n').trim();
    expect(await ok('unknown', '--reject')).toContain(`b.txt    what was there is ${hash}`);
    expect(work().disk()).toEqual({ 'a.txt': 'file two\n', 'b.txt': 'file one\n' });
    expect(await ok('unknown')).toBe('No unknown changes.\n');
    expect(await ok('unknown', '--reject')).toBe('There are no unknown changes.\n');
    expect(await work().project.json(['unknown', '--integrate'])).toMatchObject({ success: true });
  });

  it('reset is a command of its own; a file of that name comes after two dashes', async () => {
    await work().fresh({ reset: 'one\n', other: 'one\n' });
    work().put({ reset: 'two\n', other: 'two\n' });
    expect(await ok('unknown', '--', 'reset')).toContain('1 file holds');
    expect(await ok('unknown', 'reset')).toContain('2 files were unknown');
    expect(await ok('unknown')).toBe('No unknown changes.\n');
  });

  it.each([
    [['--integrate', '--reject'], 'contradict'],
    [['--rejct'], 'does not know --rejct'],
    [['--diff', '--reject'], 'only shows'],
    [['../outside'], 'not a path inside'],
  ])('%j is refused and changes nothing', async (words, told) => {
    await work().fresh({ 'a.txt': 'one\n' });
    work().put({ 'a.txt': 'two\n' });
    const { code, stderr } = await smithyd('unknown', ...words);
    expect([2, 16]).toContain(code);
    expect(stderr).toContain(told);
    expect(work().read('a.txt')).toBe('two\n');
  });
});

describe('blame', () => {
  it('shows each line behind its author, age, event and number', async () => {
    await work().fresh({ 'a.txt': 'one\ntwo\n' });
    const id = await startEdit('a.txt', '--agent', 'claude');
    work().put({ 'a.txt': 'one\n\ttab\u001b[31m\ntwo' });
    await ok('edit', 'finalize', id);
    const lines = (await ok('blame', 'a.txt')).trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^(?:unknown|baseline) .* 1 {2}one$/u),
      expect.stringMatching(/^agent:claude {2}.*(?:ago|now) +evt-\d{6} +2 {6}tab\\u001b\[31m$/u),
      expect.stringMatching(/^agent:claude {2}.* 3 {2}two$/u),
    ]);
    expect(lines[0]?.indexOf('one')).toBe(lines[2]?.indexOf('two'));
    const absolute = await ok('blame', work().at('a.txt'));
    expect(absolute.split('\n')).toHaveLength(4);
    const answer = await work().project.json(['blame', 'a.txt']);
    expect(answer).toEqual(await work().call('blame', { path: 'a.txt' }));
  });

  it('of a binary file says so', async () => {
    await work().fresh({ 'a.bin': Buffer.from([0, 1, 2, 10, 0]) });
    expect(await ok('blame', 'a.bin')).toMatch(
      /^A binary file has no lines to tell apart; it was changed last by unknown/u,
    );
  });

  withPython('keeps every line within the width of the terminal (needs python3)', async () => {
    await work().fresh({ 'a.txt': `${'wide 漢字 '.repeat(40)}\nshort\n` });
    const shell = `stty cols 60 && '${process.execPath}' '${CLI}' --root '${work().root}' blame a.txt`;
    const { code, stdout } = await onTerminal(['sh', '-c', shell], {
      when: 'never',
      keys: '',
      env: { NO_COLOR: '1' },
    });
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\r\n');
    expect(lines).toHaveLength(2);
    const columns = (line: string): number => line.length + (line.match(/[漢字]/gu)?.length ?? 0);
    for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(60);
    expect(lines[0]).toMatch(/…$/u);
    expect(lines[1]).toMatch(/short$/u);
  });

  it('tells of a file without lines who changed it, and nothing of one that is not tracked', async () => {
    await work().fresh({ empty: '' });
    expect(await ok('blame', 'empty')).toBe('');
    const { code, stderr } = await smithyd('blame', 'nowhere.txt');
    expect(code).toBe(16);
    expect(stderr).toContain('nowhere.txt is no tracked file');
    expect((await smithyd('blame')).code).toBe(2);
    expect((await smithyd('blame', 'a', 'b')).code).toBe(2);
    expect((await smithyd('blame', '../x')).code).toBe(16);
  });
});
