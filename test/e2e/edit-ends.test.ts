import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { projectsPerTest } from '../support/daemon-project.js';
import { editing, type Started } from '../support/edits.js';
import { until } from '../support/until.js';
import { Work } from '../support/work.js';

interface Listed {
  readonly edits: readonly { readonly edit_id: string; readonly state: string }[];
}

const project = projectsPerTest();

async function states(work: Work): Promise<string> {
  const { edits } = await work.call<Listed>('list_edits');
  return edits.map(({ state }) => state).join(' ');
}

/** Nothing can be saved from now on; the answer ends that. */
function breakStore({ project: home }: Work): () => void {
  const [folder, away] = [home.path('store/objects'), home.path('store/away')];
  renameSync(folder, away);
  return () => renameSync(away, folder);
}

function logged({ project: home }: Work, text: string): Promise<true> {
  return until(`the log says "${text}"`, () => {
    return readFileSync(home.path('run/daemon.log'), 'utf8').includes(text) ? true : undefined;
  });
}

describe('an edit that nobody can end as long as nothing can be saved', () => {
  it('is taken back later when its client is gone', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: 'old' });
    const other = await work.project.socket();
    await other.call('start_edit', { files: ['a'] });
    work.put({ a: 'half' });
    const mend = breakStore(work);
    other.destroy();
    await logged(work, 'could not be ended');
    mend();
    await until('nothing is held', async () => ((await states(work)) === '' ? true : undefined));
    expect(work.read('a')).toBe('old');
  });

  it('is left incomplete later when its time is over', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: 'old' });
    const edit = editing(work);
    const started = await edit.start(['a'], { detached: true, ttl_ms: 500 });
    work.put({ a: 'new' });
    const mend = breakStore(work);
    await logged(work, 'could not be ended');
    mend();
    await until('it is incomplete', async () => {
      return (await states(work)) === 'incomplete' ? true : undefined;
    });
    expect((await edit.finalize(started)).files).toMatchObject([{ path: 'a' }]);
  });
});

describe('a start that is called again under its request id', () => {
  const request = { files: ['a'], request_id: 'again' };

  it('opens a new edit when the first was taken back', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: 'old' });
    const lost = await work.project.socket();
    const first = (await lost.call('start_edit', request)).result as unknown as Started;
    lost.destroy();
    await until('it is taken back', async () => ((await states(work)) === '' ? true : undefined));
    const second = await work.call<Started>('start_edit', request);
    expect(second.edit_id).not.toBe(first.edit_id);
    work.put({ a: 'new' });
    const { files } = await editing(work).finalize(second);
    expect(files).toMatchObject([{ path: 'a', change: 'modified' }]);
    expect((await work.call<Started>('start_edit', request)).edit_id).toBe(second.edit_id);
  });

  it('opens a new edit when the first was left by a daemon that is gone', async () => {
    const home = project();
    const work = await Work.start(home);
    await work.fresh({ a: 'old' });
    const first = await work.call<Started>('start_edit', request);
    await home.cli(['stop']);
    const again = await Work.start(home);
    const second = await again.call<Started>('start_edit', request);
    expect(second.edit_id).not.toBe(first.edit_id);
    again.put({ a: 'new' });
    expect((await editing(again).finalize(second)).files).toMatchObject([{ path: 'a' }]);
    expect((await editing(again).unknown()).affectedFiles).toEqual([]);
  });

  it('holds the edit from then on, though its first client goes', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: 'old' });
    const lost = await work.project.socket();
    const first = (await lost.call('start_edit', request)).result as unknown as Started;
    expect((await work.call<Started>('start_edit', request)).edit_id).toBe(first.edit_id);
    const other = await work.project.socket();
    await other.call('start_edit', { files: ['b'] });
    work.put({ a: 'new' });
    lost.destroy();
    other.destroy();
    await until('the other one is taken back', async () => {
      return (await work.call<Listed>('list_edits')).edits.length === 1 ? true : undefined;
    });
    expect((await editing(work).finalize(first)).files).toMatchObject([{ path: 'a' }]);
    expect(work.read('a')).toBe('new');
  });

  it('is answered with the edit of the first call, whoever of both goes before that', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: 'old' });
    const holder = await editing(work).start(['a']);
    const lost = await work.project.socket();
    void lost.call('start_edit', { ...request, wait_ms: 60_000 }).catch(() => undefined);
    await lost.call('status');
    const second = work.call<Started>('start_edit', { ...request, wait_ms: 60_000 });
    await work.call('status');
    lost.destroy();
    await lost.closed();
    await editing(work).finalize(holder);
    const { edit_id: id } = await second;
    await work.call('status');
    work.put({ a: 'new' });
    expect((await editing(work).finalize({ edit_id: id })).files).toMatchObject([{ path: 'a' }]);
  });
});

describe('what is written while an edit ends', () => {
  const COUNT = 400;
  const names = Array.from({ length: COUNT }, (_, number) => `many/f${number}`);
  const filled = (sign: string) =>
    Object.fromEntries(names.map((name) => [name, `${name}\n${sign.repeat(20_000)}\n`]));

  /**
   * Puts new files there, one after another, until the call is answered; names them. Each appears whole:
   * one that is made and then filled can be the edit's own and unknown, rightly.
   */
  async function writingMeanwhile<T>(
    work: Work,
    answer: Promise<T>,
  ): Promise<{ answer: T; late: string[] }> {
    const late: string[] = [];
    let isAnswered = false;
    const ended = answer.finally(() => (isAnswered = true));
    await until('it is answered', () => {
      const name = `late${late.length}`;
      work.put({ '.agentsmithy/late': name });
      renameSync(work.at('.agentsmithy/late'), work.at(name));
      late.push(name);
      return isAnswered;
    });
    return { answer: await ended, late };
  }

  it('is the edit’s own or unknown when that is finalized', async () => {
    const work = await Work.start(project());
    await work.fresh(filled('a'));
    const edit = editing(work);
    const command = await edit.startProject();
    work.put(filled('b'));
    const { answer, late } = await writingMeanwhile(work, edit.finalize(command));
    const own = answer.files.map(({ path }) => path).filter((path) => path.startsWith('late'));
    const { affectedFiles } = await edit.unknown();
    expect([...own, ...affectedFiles].sort()).toEqual(late.sort());
  });

  it('is gone or unknown when the edit is taken back', async () => {
    const work = await Work.start(project());
    await work.fresh(filled('a'));
    const edit = editing(work);
    const command = await edit.startProject();
    work.put(filled('b'));
    const { late } = await writingMeanwhile(work, edit.abort(command));
    const { affectedFiles } = await edit.unknown();
    const left = late.filter((name) => existsSync(work.at(name)));
    expect([...affectedFiles].sort()).toEqual(left.sort());
  });
});

describe('a project edit', () => {
  it('can be taken back although its dialog, the only one with the content, was deleted', async () => {
    const work = await Work.start(project());
    await work.fresh({ f: 'of another dialog' });
    work.put({ f: 'the only copy' });
    const { dialog_id: dialog } = await work.call<{ dialog_id: string }>('create_dialog', {});
    const edit = editing(work);
    const command = await edit.startProject();
    await work.call('delete_dialog', { dialog_id: dialog });
    work.put({ f: 'by the command' });
    expect(await edit.abort(command)).toMatchObject({ restored: ['f'], skipped: [] });
    expect(work.read('f')).toBe('the only copy');
  });
});

describe('an incomplete edit', () => {
  it('can be taken back although its dialog is deleted', async () => {
    const home = project();
    const work = await Work.start(home);
    const { dialog_id: dialog } = await work.fresh({ a: 'a' });
    work.put({ f: 'in no checkpoint' });
    const started = await editing(work).start(['f']);
    work.put({ f: 'by the edit' });
    await editing(work).unknown();
    // What was written a moment ago is kept for a while in any case.
    await home.cli(['stop']);
    const again = await Work.start(home);
    await again.call('create_dialog', { title: 'another' });
    again.put({ f: 'by the edit' });
    await again.call('delete_dialog', { dialog_id: dialog });
    expect(await editing(again).abort(started)).toMatchObject({ restored: ['f'] });
    expect(again.read('f')).toBe('in no checkpoint');
  });
});

/** The child that reads the store for the daemon. */
async function readerOf(work: Work): Promise<number> {
  const { pid } = await work.call<{ pid: number }>('status');
  return until('the store has a reader', () =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number)
      .find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('cat-file')),
  );
}

async function sizeOf(work: Work, path: string): Promise<number | undefined> {
  const { files } = await work.call<{ files: { path: string; size: number }[] }>('known_files');
  return files.find((file) => file.path === path)?.size;
}

describe('a project edit, and a file changed before its content could be saved', () => {
  /** Somebody replaces `a`, which nobody has saved, while the edit begins and reads the store. */
  async function begun(): Promise<{ work: Work; started: Started }> {
    const home = project();
    const first = await Work.start(home);
    const { initial_checkpoint: initial, dialog_id } = await first.fresh({
      a: 'saved',
      b: 'saved',
    });
    // What the newest one lacks is known from the start on; of others it is read when it is needed.
    await first.call('create_dialog', {});
    await home.cli(['stop']);
    const work = await Work.start(home);
    await work.call('show', { at: initial, path: 'b', dialog_id });
    work.put({ a: 'never saved' });
    await until('it is known', async () => (await sizeOf(work, 'a')) === 11);
    const reader = await readerOf(work);
    process.kill(reader, 'SIGSTOP');
    const starting = editing(work).startProject({ dialog_id });
    await until('it is under way', async () =>
      (await states(work)) === 'open' ? true : undefined,
    );
    work.put({ a: 'too late' });
    await until('it is known', async () => (await sizeOf(work, 'a')) === 8);
    process.kill(reader, 'SIGCONT');
    return { work, started: await starting };
  }

  it('can be ended', async () => {
    const { work, started } = await begun();
    work.put({ b: 'by the command' });
    const { files } = await editing(work).finalize(started);
    expect(files.map(({ path, change }) => [path, change])).toEqual([
      ['a', 'modified'],
      ['b', 'modified'],
    ]);
    expect(await states(work)).toBe('');
  });

  it('is taken back but for that file, and says so', async () => {
    const { work, started } = await begun();
    work.put({ b: 'by the command' });
    const { restored, skipped } = await editing(work).abort(started);
    expect(restored).toEqual(['b']);
    expect(skipped).toMatchObject([{ path: 'a' }]);
    expect([work.read('a'), work.read('b')]).toEqual(['too late', 'saved']);
    expect(await states(work)).toBe('');
  });

  it('lets another edit have the file', async () => {
    const { work, started } = await begun();
    const other = await editing(work).start(['a']);
    work.put({ a: 'by ann' });
    expect((await editing(work).finalize(other)).files).toMatchObject([{ path: 'a' }]);
    await editing(work).finalize(started);
  });
});
