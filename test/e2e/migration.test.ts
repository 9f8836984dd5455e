import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { contentOf, makeOldDialog, OLD, writeOldIndex } from '../support/old-dialog.js';
import { isAlive, signal } from '../support/processes.js';
import { until } from '../support/until.js';
import { git, Work, type Opened } from '../support/work.js';

const newProject = projectsPerTest();
const VERSIONS = [{ a: '0' }, { a: '1', 'sub/b': 'b' }, { a: '2', 'sub/b': 'b' }];

interface Index {
  readonly dialogs: readonly Readonly<Record<string, unknown>>[];
  readonly current_dialog_id: string;
}

/** A project with files, the folder of an older program, and no daemon yet. */
function oldProject(versions = VERSIONS): Project & { old: ReturnType<typeof makeOldDialog> } {
  const project = newProject();
  writeFileSync(join(project.root, 'a'), '2');
  const old = makeOldDialog(project, versions);
  writeOldIndex(project, { [OLD]: 'from before' });
  return Object.assign(project, { old });
}

const branches = (checkpoints: string): Record<string, string> =>
  Object.fromEntries(
    git(checkpoints, ['for-each-ref', '--format=%(refname:short) %(objectname)'])
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );

describe('a dialog of a program without sessions', () => {
  it('gets `main` from its HEAD and `session_1` from there, and its checkpoints stay', async () => {
    const project = oldProject();
    const { commits } = project.old;
    const work = await Work.start(project);
    const { dialogs, current_dialog_id: current } = await work.call<Index>('list_dialogs');
    expect(current).toBe(OLD);
    expect(dialogs).toEqual([
      expect.objectContaining({
        id: OLD,
        title: 'from before',
        created_at: '2025-01-02T03:04:05Z',
        active_session: 'session_1',
        last_approved_at: null,
        initial_checkpoint: commits[0],
      }),
    ]);
    const tip = commits[2];
    expect(branches(work.checkpoints(OLD))).toEqual({ main: tip, session_1: tip });
    const listed = await work.log();
    expect(listed.map(({ commit_id: id }) => id)).toEqual(commits.toReversed());
    expect(listed[0]?.message).toBe('Before user message: number 2');
    expect(await work.fsck()).toBe('');
  });

  it('goes on like any other: restore, undo, message, approve, reset', async () => {
    const project = oldProject();
    const { commits } = project.old;
    const work = await Work.start(project);
    await work.restore(commits[1] ?? '');
    expect([work.read('a'), work.read('sub/b')]).toEqual(['1', 'b']);
    await work.restore((commits[0] ?? '').slice(0, 12));
    expect(work.read('a')).toBe('0');
    await work.call('undo');
    expect(work.read('a')).toBe('1');
    await work.call('user_message', { content: 'go on' });
    const approved = await work.call<{ new_session: string }>('approve');
    expect(approved.new_session).toBe('session_2');
    work.put({ a: 'not wanted' });
    await work.call('reset');
    expect(work.read('a')).toBe('1');
    const checkpoints = work.checkpoints(OLD);
    expect(git(checkpoints, ['log', 'main', '--oneline']).split('\n').length).toBeGreaterThan(3);
    git(checkpoints, ['diff', 'main', 'session_2']);
    expect(git(checkpoints, ['log', '--merges', 'main', '--oneline'])).not.toBe('');
    expect(await work.fsck()).toBe('');
  });

  it('is kept byte for byte, with its journal and the index it stood in', async () => {
    const project = oldProject();
    const before = contentOf(project.old.folder);
    const index: unknown = JSON.parse(readFileSync(project.path('dialogs/index.json'), 'utf8'));
    const work = await Work.start(project);
    await work.save('work goes on');
    expect(contentOf(project.path('old-dialogs', OLD))).toEqual(before);
    const kept: unknown = JSON.parse(readFileSync(project.path('old-dialogs/index.json'), 'utf8'));
    expect(kept).toEqual(index);
  });

  it('may have been left on a commit without a branch, and other branches are kept', async () => {
    const project = oldProject();
    const { commits } = project.old;
    const checkpoints = join(project.old.folder, 'checkpoints');
    git(checkpoints, ['update-ref', '--no-deref', 'HEAD', commits[1] ?? '']);
    git(checkpoints, ['symbolic-ref', 'HEAD', 'refs/heads/master']);
    git(checkpoints, ['branch', 'side/idea', commits[1] ?? '']);
    git(checkpoints, ['update-ref', 'refs/heads/master', commits[2] ?? '']);
    git(checkpoints, ['pack-refs', '--all']);
    writeFileSync(join(checkpoints, '.git/HEAD'), `${commits[0] ?? ''}\n`);
    const work = await Work.start(project);
    await work.call('list_dialogs');
    expect(branches(work.checkpoints(OLD))).toEqual({
      main: commits[0],
      session_1: commits[0],
      old_master: commits[2],
      'old_side-idea': commits[1],
    });
    await work.restore(commits[2] ?? '');
    expect(work.read('a')).toBe('2');
  });

  it('is taken over once, however often the daemon starts', async () => {
    const project = oldProject();
    const first = await Work.start(project);
    const before = await first.call<Index>('list_dialogs');
    await project.cli(['stop']);
    const ledger = readFileSync(project.path('ledger/events.jsonl'), 'utf8');
    expect(ledger.trim().split('\n')).toHaveLength(1);
    const second = await Work.start(project);
    expect(await second.call('list_dialogs')).toEqual(before);
    expect(readFileSync(project.path('ledger/events.jsonl'), 'utf8')).toBe(ledger);
  });

  it('does not take the place of the dialog that is current', async () => {
    const project = newProject();
    const work = await Work.start(project);
    const { dialog_id: id } = await work.fresh({ a: '0' });
    await project.cli(['stop']);
    makeOldDialog(project, VERSIONS);
    const again = await Work.start(project);
    const { dialogs, current_dialog_id: current } = await again.call<Index>('list_dialogs');
    expect(dialogs.map((one) => one['id'])).toEqual([id, OLD]);
    expect(current).toBe(id);
  });

  it('is gone for good when it is deleted', async () => {
    const project = oldProject();
    const work = await Work.start(project);
    const { dialog_id: other } = await work.call<Opened>('create_dialog');
    await work.call('delete_dialog', { dialog_id: OLD });
    expect(existsSync(project.path('old-dialogs', OLD))).toBe(false);
    await project.cli(['stop']);
    const again = await Work.start(project);
    const { dialogs } = await again.call<Index>('list_dialogs');
    expect(dialogs.map((one) => one['id'])).toEqual([other]);
  });
});

describe('an old dialog that a kill interrupts', () => {
  /** What a kill leaves between the steps, made by taking back what comes after. */
  const steps: Record<string, (project: Project) => void> = {
    'after the branches were set': (project) => rmSync(project.path('ledger/events.jsonl')),
    'after the repository was made': (project) => {
      rmSync(project.path('ledger/events.jsonl'));
      const refs = project.path('dialogs', OLD, 'checkpoints/.git/refs/heads');
      for (const name of readdirSync(refs)) rmSync(join(refs, name));
    },
    'after it was moved away': (project) => {
      rmSync(project.path('ledger/events.jsonl'));
      rmSync(project.path('dialogs', OLD), { recursive: true });
    },
  };

  it.each(Object.entries(steps))('%s is taken over at the next start', async (_, undo) => {
    const project = oldProject();
    const before = contentOf(project.old.folder);
    const { commits } = project.old;
    await (await Work.start(project)).call('list_dialogs');
    await project.cli(['stop']);
    undo(project);
    const work = await Work.start(project);
    const { dialogs } = await work.call<Index>('list_dialogs');
    expect(dialogs).toEqual([expect.objectContaining({ id: OLD, title: 'from before' })]);
    expect((await work.log()).map(({ commit_id: id }) => id)).toEqual(commits.toReversed());
    expect(contentOf(project.path('old-dialogs', OLD))).toEqual(before);
    expect(await work.fsck()).toBe('');
  });

  it('by -9, again and again at different moments, loses nothing', async () => {
    const project = oldProject(Array.from({ length: 20 }, (_, at) => ({ a: `${at}` })));
    const before = contentOf(project.old.folder);
    const packs = project.path('store/objects/pack');
    const moments: (() => boolean)[] = [
      () => existsSync(packs) && readdirSync(packs).length > 0,
      () => existsSync(project.path('old-dialogs', OLD)),
      () => existsSync(project.path('dialogs', OLD, 'checkpoints/.git/HEAD')),
      () => existsSync(project.path('dialogs', OLD, 'checkpoints/.git/refs/heads/main')),
    ];
    for (const isReached of moments) {
      const { pid } = await project.startDaemon();
      await until('the moment has come', () => isReached() || !isAlive(pid));
      signal(pid, 'SIGKILL');
      await until('the daemon is gone', () => !isAlive(pid));
    }
    const work = await Work.start(project);
    expect((await work.log()).map(({ commit_id: id }) => id)).toEqual(
      project.old.commits.toReversed(),
    );
    expect(contentOf(project.path('old-dialogs', OLD))).toEqual(before);
    expect(await work.fsck()).toBe('');
  });
});

describe('an old dialog that cannot be taken over', () => {
  const troubles: Record<string, (checkpoints: string) => void> = {
    'has no commit': (checkpoints) => git(checkpoints, ['update-ref', '-d', 'refs/heads/master']),
    'lacks an object': (checkpoints) => {
      const blob = git(checkpoints, ['rev-parse', 'HEAD:a']).trim();
      rmSync(join(checkpoints, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    },
  };

  it.each(Object.entries(troubles))(
    'because it %s is left as it is and named, and everything else works',
    async (_, spoil) => {
      const project = oldProject();
      spoil(join(project.old.folder, 'checkpoints'));
      const before = contentOf(project.old.folder);
      const work = await Work.start(project);
      const { dialog_id: id } = await work.call<Opened>('create_dialog');
      await work.save('works');
      const { warnings } = await work.call<{ warnings: string[] }>('status');
      expect(warnings).toEqual([expect.stringContaining(OLD)]);
      await work.call('delete_dialog', { dialog_id: id });
      await work.save('still works');
      await project.cli(['stop']);
      const again = await Work.start(project);
      await again.save('and after a restart');
      expect(contentOf(project.old.folder)).toEqual(before);
    },
  );
});

describe('a dialog whose ledger was lost', () => {
  it('is not taken for one that was only begun', async () => {
    const project = newProject();
    const work = await Work.start(project);
    const { dialog_id: id } = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const { commit_id: commit } = await work.save('acknowledged');
    await project.cli(['stop']);
    rmSync(project.path('ledger/events.jsonl'));
    const again = await Work.start(project);
    await again.call('list_dialogs');
    expect(git(again.checkpoints(id), ['rev-parse', 'session_1']).trim()).toBe(commit);
  });
});
