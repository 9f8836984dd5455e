import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { signal } from '../support/processes.js';
import { hasPython } from '../support/terminal.js';
import { gitView, Work } from '../support/work.js';

const newProject = projectsPerTest();

const MANY = 2_500;
const names = Array.from({ length: MANY }, (_, at) => `d/f${String(at).padStart(5, '0')}`);
const [first = '', last = ''] = [names[0], names[MANY - 100]];
const all = (version: string): Record<string, string> =>
  Object.fromEntries(names.map((name, at) => [name, `${version} ${at}\n`]));

/** A project with two states, and what takes it from the second to the first. */
async function between(write?: (work: Work) => Promise<void>) {
  const work = await Work.start(newProject());
  work.put({ ...all('one'), 'mine.txt': 'before\n', 'held.txt': 'held\n' });
  const { commit_id: one } = await work.save('one');
  if (write === undefined) work.put(all('two'));
  else await write(work);
  const { commit_id: two } = await work.save('two');
  return { work, one, two };
}

/** Stops the daemon in the middle of a restore, lets somebody work, and lets it go on. */
async function whileUnderWay<T>(work: Work, answer: Promise<T>, act: () => void): Promise<T> {
  const pid = work.project.daemonFile()?.pid ?? 0;
  const begun = (): boolean => readFileSync(work.at(first), 'utf8').startsWith('one');
  try {
    while (!begun()) await new Promise(setImmediate);
    signal(pid, 'SIGSTOP');
    expect(readFileSync(work.at(last), 'utf8')).toMatch(/^two/u);
    act();
  } finally {
    signal(pid, 'SIGCONT');
  }
  return answer;
}

const asAgent = async (work: Work): Promise<void> => {
  const { edit_id: edit } = await work.call<{ edit_id: string }>('start_edit', {
    files: names,
    agent: { name: 'bot' },
  });
  work.put(all('two'));
  await work.call('finalize_edit', { edit_id: edit });
};

describe('what somebody writes while a restore is under way', () => {
  it.each([
    { how: 'exact', params: {}, prepare: undefined },
    { how: 'keep_external', params: { mode: 'keep_external' }, prepare: asAgent },
  ])('stays and is named ($how)', async ({ params, prepare }) => {
    const { work, one, two } = await between(prepare);
    const restored = await whileUnderWay(work, work.restore(one, params), () => {
      work.put({ 'mine.txt': 'NEW WORK\n', 'notes.txt': 'NEW FILE\n', [last]: 'RACED\n' });
    });
    expect(restored.skipped).toEqual([{ path: last, reason: 'changed_meanwhile' }]);
    expect(restored.restored).toHaveLength(MANY - 1);
    const disk = work.disk();
    expect(disk).toMatchObject({
      'mine.txt': 'file NEW WORK\n',
      'notes.txt': 'file NEW FILE\n',
      [last]: 'file RACED\n',
    });
    // Saved with the restored state, and the state before is one step away.
    expect((await work.content(restored.new_checkpoint, last)).toString()).toBe('RACED\n');
    await work.call('undo');
    expect(gitView(work.root)).toBe(await work.treeId(two));
    await work.call('redo');
    expect(work.disk()).toEqual(disk);
  });

  it('stays under an edit that holds it', async () => {
    const { work, one } = await between();
    const { edit_id: edit } = await work.call<{ edit_id: string }>('start_edit', {
      files: ['held.txt', 'new-held.txt'],
      agent: { name: 'bot' },
    });
    await whileUnderWay(work, work.restore(one), () => {
      work.put({ 'held.txt': 'AGENT\n', 'new-held.txt': 'AGENT\n', [last]: 'RACED\n' });
    });
    const { files } = await work.call<{ files: { path: string; change: string }[] }>(
      'finalize_edit',
      { edit_id: edit },
    );
    expect(files.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'modified held.txt',
      'created new-held.txt',
    ]);
  });

  it('stays over a reset, which saved all that was there before', async () => {
    const work = await Work.start(newProject());
    work.put(all('one'));
    const { approved_commit: one } = await work.call<{ approved_commit: string }>('approve');
    work.put(all('two'));
    const answer = work.call<{ skipped: object[]; pre_reset_checkpoint: string }>('reset');
    const reset = await whileUnderWay(work, answer, () => work.put({ [last]: 'RACED\n' }));
    expect(reset.skipped).toEqual([{ path: last, reason: 'changed_meanwhile' }]);
    expect(work.disk()).toMatchObject({ [first]: 'file one 0\n', [last]: 'file RACED\n' });
    // What came meanwhile is a step of its own.
    await work.call('undo');
    expect(gitView(work.root)).toBe(await work.treeId(one));
    await work.call('undo');
    expect(gitView(work.root)).toBe(await work.treeId(reset.pre_reset_checkpoint));
  });

  it('stays when the daemon was killed and nobody watched', async () => {
    const { work, one } = await between();
    const pid = work.project.daemonFile()?.pid ?? 0;
    const cutOff = work.restore(one).catch(() => undefined);
    await whileUnderWay(work, Promise.resolve(), () => signal(pid, 'SIGKILL'));
    await cutOff;
    work.put({ 'mine.txt': 'NEW WORK\n', 'notes.txt': 'NEW FILE\n', [last]: 'RACED\n' });
    await work.project.json(['checkpoint']);
    const { warnings } = await work.project.json<{ warnings: string[] }>(['status']);
    expect(warnings).toContainEqual(expect.stringContaining('has been finished'));
    expect(readFileSync(work.at(names[MANY - 1] ?? ''), 'utf8')).toMatch(/^one/u);
    expect(work.disk()).toMatchObject({
      'mine.txt': 'file NEW WORK\n',
      'notes.txt': 'file NEW FILE\n',
      [last]: 'file RACED\n',
    });
  });
});

/** Of a program that wrote through a mapping of the file. */
const MAPPED = `
import mmap, sys
with open(sys.argv[1], 'r+b') as file:
    with mmap.mmap(file.fileno(), 0) as memory:
        memory[0:3] = b'MMM'
`;
const withPython = hasPython ? it : it.skip;

describe('a write that no event tells of', () => {
  withPython('is skipped once, and known from then on (needs python3)', async () => {
    const work = await Work.start(newProject());
    work.put({ a: 'one\n' });
    const { commit_id: one } = await work.save('one');
    work.put({ a: 'two\n' });
    await work.save('two');
    expect(spawnSync('python3', ['-c', MAPPED, work.at('a')]).status).toBe(0);
    const blind = await work.restore(one);
    expect(blind.skipped).toEqual([{ path: 'a', reason: 'changed_meanwhile' }]);
    expect((await work.content(blind.new_checkpoint, 'a')).toString()).toBe('MMM\n');
    expect((await work.restore(one)).restored).toEqual(['a']);
    expect(work.disk()).toEqual({ a: 'file one\n' });
  });
});
