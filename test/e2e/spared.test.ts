import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CLI, projectsPerTest } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { run } from '../support/processes.js';
import { git, sharedWork, Work, type Opened } from '../support/work.js';

const newProject = projectsPerTest();
/** Root reads everything unless it gives that right away. */
const AS_OTHERS =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
const [program, ...rest] = [...AS_OTHERS, process.execPath];
const asOthers = spawnSync(program, [...rest, '-e', '0']).status === 0 ? it : it.skip;

describe('a file that the checkpoint could not see', () => {
  const shared = sharedWork();

  it('is not deleted by a restore, reset or rewind because an agent has edited it since', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0', '.env': 'mine\n' });
    const edit = editing(work);
    const started = await edit.start(['.env']);
    work.put({ '.env': 'edited\n' });
    await edit.finalize(started);
    const left = [{ path: '.env', reason: 'ignored_at_checkpoint' }];
    expect(await work.restore(initial, { dry_run: true })).toMatchObject({ skipped: left });
    for (const [method, params] of [
      ['restore', { checkpoint_id: initial }],
      ['reset', {}],
      ['rewind', { target: initial }],
    ] as const) {
      const answer = await work.call(method, params);
      expect([method, answer]).toMatchObject([method, { deleted: [], skipped: left }]);
    }
    expect(work.disk()).toEqual({ a: 'file 0', '.env': 'file edited\n' });
  });

  it('is deleted when an agent made it after the checkpoint, also in an edit begun before', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    const edit = editing(work);
    const early = await edit.start(['.env.early']);
    const { commit_id: between } = await work.save('between');
    const late = await edit.start(['.env.late']);
    work.put({ '.env.early': '1', '.env.late': '1', a: '1' });
    await edit.finalize(early);
    await edit.finalize(late);
    const { deleted } = await work.restore(between);
    expect(deleted).toEqual(['.env.early', '.env.late']);
    await work.call('undo');
    expect((await work.restore(initial)).deleted).toEqual(['.env.early', '.env.late']);
    expect(work.disk()).toEqual({ a: 'file 0' });
  });

  it('is not deleted because a setting has let it in since; one made since is', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({
      ...{ a: '0', 'build/own': 'mine', '.hidden/own': 'mine' },
    });
    await work.call('update_config', { include: ['build/'] });
    await work.call('update_config', { trackHidden: 'all' });
    work.put({ 'new/file': '1', a: '1' });
    await work.save('all of it');
    const { deleted } = await work.restore(initial);
    expect(deleted).toEqual(['new/file']);
    expect(Object.keys(work.disk()).sort()).toEqual(['.hidden/own', 'a', 'build/own']);
  });

  it('is not deleted because it was too large then, however many were', async () => {
    const work = shared();
    await work.call('update_config', { maxFileBytes: 100 });
    try {
      const large = Array.from({ length: 1_100 }, (_, at) => [`large/${at}`, 'x'.repeat(101)]);
      await work.fresh(Object.fromEntries(large) as Record<string, string>);
      const { commit_id: checkpoint, skipped } = await work.save('without them');
      expect(skipped).toHaveLength(1_000);
      await work.call('approve');
      await work.call('update_config', { maxFileBytes: 1_000 });
      await work.save('with them');
      expect((await work.restore(checkpoint)).deleted).toEqual([]);
      expect(await work.call('reset')).toMatchObject({ deleted: [] });
      expect(Object.keys(work.disk())).toHaveLength(1_100);
    } finally {
      await work.call('update_config', { maxFileBytes: 52_428_800 });
    }
  });

  asOthers('is not deleted because its folder could not be read then', async () => {
    const project = newProject();
    await run([...AS_OTHERS, process.execPath, CLI, '--root', project.root, 'start']);
    const work = new Work(project, await project.socket());
    work.put({ 'data/deep/own': 'mine' });
    chmodSync(work.at('data'), 0);
    const { initial_checkpoint: initial } = await work.call<Opened>('create_dialog', {});
    chmodSync(work.at('data'), 0o755);
    const { commit_id: later } = await work.save();
    expect(Object.keys(await work.tree(later))).toEqual(['data/deep/own']);
    const { deleted, skipped } = await work.restore(initial);
    expect(deleted).toEqual([]);
    expect(skipped).toEqual([{ path: 'data/deep/own', reason: 'not_in_checkpoint' }]);
    expect(work.disk()).toEqual({ 'data/deep/own': 'file mine' });
  });
});

describe('a file that was let in while no daemon ran', () => {
  it('is not deleted by a restore of what came before', async () => {
    const project = newProject();
    git(project.root, ['init', '-q']);
    writeFileSync(join(project.root, '.git', 'info', 'exclude'), 'notes\n');
    const first = await Work.start(project);
    const { initial_checkpoint: initial } = await first.call<Opened>('create_dialog');
    first.put({ notes: 'mine' });
    await first.save();
    await project.cli(['stop']);
    writeFileSync(join(project.root, '.git', 'info', 'exclude'), '');
    const work = await Work.start(project);
    work.put({ made: '1' });
    const { deleted, skipped } = await work.restore(initial);
    expect(deleted).toEqual(['made']);
    expect(skipped).toEqual([{ path: 'notes', reason: 'ignored_at_checkpoint' }]);
    expect(work.disk()).toEqual({ notes: 'file mine' });
  });
});
