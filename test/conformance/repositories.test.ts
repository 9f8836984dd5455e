import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { git, Work } from '../support/work.js';

const newProject = projectsPerTest();

function commitAll(folder: string, message: string): void {
  git(folder, ['add', '-A']);
  git(folder, ['commit', '-q', '-m', message]);
}

/** What of the user's repository a restore could move. */
function ownState(folder: string): string {
  const refs = git(folder, ['for-each-ref']);
  const head = git(folder, ['rev-parse', '--symbolic-full-name', 'HEAD']);
  const log = git(folder, ['reflog']);
  const index = git(folder, ['rev-parse', '--git-path', 'index']).trim();
  const bytes = readFileSync(join(folder, index)).toString('latin1');
  return [refs, head, log, bytes].join('\n');
}

describe('repositories of the user', () => {
  it('45: two worktrees with a daemon each have histories of their own', async () => {
    const project = newProject((folder) => join(folder, 'main'));
    mkdirSync(project.root);
    git(project.root, ['init', '-q', '-b', 'trunk']);
    writeFileSync(join(project.root, 'a'), 'committed');
    commitAll(project.root, 'first');
    const linked = newProject((folder) => join(folder, 'linked'));
    git(project.root, ['worktree', 'add', '-q', linked.root]);
    const one = await Work.start(project);
    const two = await Work.start(linked);
    const first = await one.save('of the first');
    const second = await two.save('of the second');
    one.put({ a: 'changed in the first', b: 'new' });
    two.put({ a: 'changed in the second' });
    const missing = await one.refusal('restore', { checkpoint_id: second.commit_id });
    expect(missing.data).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
    await one.restore(first.commit_id);
    expect(one.disk()).toEqual({ a: 'file committed' });
    expect(two.disk()).toEqual({ a: 'file changed in the second' });
    expect((await two.log()).map(({ message }) => message)).not.toContain('of the first');
  });

  it('49: a rebase, an amended commit and a stash between checkpoints: a restore changes files only', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: '0\n', b: '0\n' });
    git(work.root, ['init', '-q', '-b', 'trunk']);
    commitAll(work.root, 'first');
    git(work.root, ['checkout', '-q', '-b', 'side']);
    work.put({ b: 'side\n' });
    commitAll(work.root, 'side');
    work.put({ 'in-work': 'not committed' });
    const { commit_id: kept } = await work.save('before the rebase');
    const before = work.disk();
    git(work.root, ['stash', '-q', '-u']);
    git(work.root, ['checkout', '-q', 'trunk']);
    work.put({ a: 'trunk\n' });
    commitAll(work.root, 'trunk');
    git(work.root, ['rebase', '-q', 'trunk', 'side']);
    git(work.root, ['commit', '-q', '--amend', '-m', 'another name']);
    const mine = ownState(work.root);
    await work.restore(kept);
    expect(work.disk()).toEqual(before);
    expect(ownState(work.root)).toBe(mine);
    await work.call('undo');
    expect(work.disk()).toEqual({ a: 'file trunk\n', b: 'file side\n' });
    expect(ownState(work.root)).toBe(mine);
  });

  it('54: a project that is a part of a repository: only files below it change', async () => {
    const project = newProject((folder) => join(folder, 'repository/packages/app'));
    mkdirSync(project.root, { recursive: true });
    const above = join(project.folder, 'repository');
    git(above, ['init', '-q']);
    writeFileSync(join(above, '.gitignore'), '*.made\n/packages/app/local/\n');
    writeFileSync(join(above, 'outside'), 'committed');
    const work = await Work.start(project);
    const { initial_checkpoint: first } = await work.fresh({
      'src/a': '0',
      'b.made': 'ignored from above',
      'local/c': 'ignored from above',
    });
    commitAll(above, 'first');
    expect(Object.keys(await work.tree(first))).toEqual(['src/a']);
    const mine = ownState(above);
    work.put({ 'src/a': '1', 'src/new': '1' });
    writeFileSync(join(above, 'outside'), 'changed');
    await work.restore(first);
    expect(work.disk()).toEqual({
      'b.made': 'file ignored from above',
      'local/c': 'file ignored from above',
      'src/a': 'file 0',
    });
    expect(readFileSync(join(above, 'outside'), 'utf8')).toBe('changed');
    expect(ownState(above)).toBe(mine);
    expect(git(above, ['status', '--porcelain'])).toBe(' M outside\n');
  });
});
