import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { until } from '../support/until.js';
import { Work } from '../support/work.js';

const newProject = projectsPerTest();

/** Dialogs, edits of several agents, an approval, a milestone, a deleted dialog, an open edit. */
async function worked(project: Project): Promise<Work> {
  const work = await Work.start(project);
  await work.fresh({ 'src/a': '1\n', b: '1\n' });
  const edit = editing(work);
  for (const [number, name] of ['ann', 'bob', 'ann'].entries()) {
    const started = await edit.start(['src/a', 'b'], { agent: { name } });
    work.put({ 'src/a': `1\n${number}\n`, b: `${number}\n` });
    await edit.finalize(started);
  }
  await work.call('approve', {});
  // Made behind the answer: later it would be a line more in the middle of a comparison.
  await until('the approval has its snapshot', async () => {
    const { events } = await work.call<{ events: unknown[] }>('history', {
      action_type: 'snapshot_create',
    });
    return events[0];
  });
  await work.call('milestone_add', { title: 'half way' });
  const { dialog_id: id } = await work.call<{ dialog_id: string }>('create_dialog', {});
  await work.call('user_message', { content: 'gone soon' });
  await work.call('delete_dialog', { dialog_id: id });
  work.put({ 'src/new': 'by nobody\n' });
  await work.save('more');
  await edit.start(['b'], { detached: true });
  return work;
}

async function answersOf(work: Work): Promise<string> {
  const asked: [string, object][] = [
    ['history', { limit: 1000 }],
    ['history', { file: 'src', author: 'ann' }],
    ['list_dialogs', {}],
    ['list_sessions', { all: true }],
    ['list_checkpoints', {}],
    ['blame', { path: 'src/a' }],
    ['blame', { path: 'src/new' }],
    ['milestone_list', {}],
    ['detect_unknown_modifications', {}],
  ];
  const answers: unknown[] = [];
  for (const [method, params] of asked) answers.push(await work.call(method, params));
  return JSON.stringify(answers);
}

const warnings = async (work: Work) =>
  (await work.call<{ warnings: readonly string[] }>('status')).warnings;

async function again(project: Project): Promise<Work> {
  await project.cli(['stop']);
  return Work.start(project);
}

describe('what a daemon puts aside when it stops', () => {
  it('gives the same answers as every line of the ledger', async () => {
    const project = newProject();
    let work = await again((await worked(project)).project);
    const expected = await answersOf(work);
    for (const name of ['ledger/derived.jsonl', 'ledger/index.bin', 'ledger/segments.bin']) {
      await project.cli(['stop']);
      rmSync(project.path(name), { force: true });
      work = await Work.start(project);
      expect(await answersOf(work)).toBe(expected);
    }
    await project.cli(['stop']);
    expect(existsSync(project.path('ledger/derived.jsonl'))).toBe(true);
  });

  it('is made again when it is damaged, and `status` says so', async () => {
    const project = newProject();
    const work = await again((await worked(project)).project);
    const expected = await answersOf(work);
    expect(await warnings(work)).toEqual([]);
    for (const name of ['derived.jsonl', 'index.bin']) {
      await project.cli(['stop']);
      const path = project.path('ledger', name);
      const bytes = readFileSync(path);
      bytes[60] = (bytes[60] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      const mended = await Work.start(project);
      expect(await answersOf(mended)).toBe(expected);
      expect(await warnings(mended)).toEqual([expect.stringContaining(`ledger/${name}`)]);
    }
    expect(await warnings(await again(project))).toEqual([]);
  });
});
