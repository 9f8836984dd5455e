import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { git, sharedWork, Work } from '../support/work.js';

const newProject = projectsPerTest();

describe('a file that the checkpoint could not see', () => {
  const shared = sharedWork();

  it('is not deleted by a restore, reset or undo because an agent has edited it since', async () => {
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
});

describe('a file that was let in while no daemon ran', () => {
  it('is not deleted by a restore of what came before', async () => {
    const project = newProject();
    git(project.root, ['init', '-q']);
    writeFileSync(join(project.root, '.git', 'info', 'exclude'), 'notes\n');
    const first = await Work.start(project);
    const { initial_checkpoint: initial } = await first.call<{ initial_checkpoint: string }>(
      'create_dialog',
      { title: 'a test' },
    );
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
