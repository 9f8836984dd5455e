import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { editing, type Started } from '../support/edits.js';
import { until } from '../support/until.js';
import { git, sharedWork, Work } from '../support/work.js';

interface Listed {
  readonly edits: readonly {
    readonly edit_id: string;
    readonly paths?: readonly string[];
    readonly scope?: string;
    readonly state: string;
    readonly expires_at: string | null;
  }[];
}

describe('an edit', () => {
  const shared = sharedWork();

  it('answers with what each file holds, and names what it changed when it ends', async () => {
    const work = shared();
    await work.fresh({ 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n' });
    const edit = editing(work);
    const started = await edit.start(['a.txt', 'new.txt', 'b.txt']);
    expect(started.files).toEqual([
      { path: 'a.txt', exists: true, hash: hashOf(work, 'one\ntwo\n') },
      { path: 'new.txt', exists: false, hash: null },
      { path: 'b.txt', exists: true, hash: hashOf(work, 'b\n') },
    ]);
    work.put({ 'a.txt': 'one\n2\n', 'new.txt': 'n\n' });
    const { files, events } = await edit.finalize(started);
    expect(
      files.map(({ path, change, additions, deletions }) => [path, change, additions, deletions]),
    ).toEqual([
      ['a.txt', 'modified', 1, 1],
      ['b.txt', 'unchanged', 0, 0],
      ['new.txt', 'created', 1, 0],
    ]);
    expect(files[0]).toMatchObject({
      before: hashOf(work, 'one\ntwo\n'),
      after: hashOf(work, 'one\n2\n'),
    });
    expect(files[0]?.diff).toContain('-two\n+2\n');
    expect(events).toHaveLength(2);
    expect((await edit.unknown()).hasUnknownChanges).toBe(false);
  });

  it('makes no checkpoint', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    const before = await work.log();
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: '2' });
    await edit.finalize(started);
    expect(await work.log()).toEqual(before);
  });

  it('79: keeps others off its files and names the holder', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    const edit = editing(work);
    const first = await edit.start(['a'], { tool: 'write' });
    const { data } = await work.refusal('start_edit', { files: ['b', 'a'] });
    expect(data).toMatchObject({
      code: 'EDIT_CONFLICT',
      holder: {
        edit_id: first.edit_id,
        agent: { name: 'ann', version: null },
        tool: 'write',
        paths: ['a'],
      },
    });
    await edit.finalize(first);
    await edit.abort(await edit.start(['a']));
  });

  it('waits for a held file as long as it is told to', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    const edit = editing(work);
    const first = await edit.start(['a']);
    const second = edit.start(['a'], { wait_ms: 60_000 });
    await edit.finalize(first);
    await edit.abort(await second);
  });

  it('77: is refused when a file is not what its editor has read, with what changed', async () => {
    const work = shared();
    await work.fresh({ a: 'old\n' });
    const expected = hashOf(work, 'old\n');
    work.put({ a: 'new\n' });
    const { data } = await work.refusal('start_edit', { files: ['a'], expect: { a: expected } });
    expect(data).toMatchObject({
      code: 'STALE_READ',
      files: [{ path: 'a', expected, actual: hashOf(work, 'new\n') }],
    });
    expect(JSON.stringify(data)).toContain(String.raw`-old\n+new\n`);
  });

  it('78: taken back leaves the files as they were, and what it wrote can be got back', async () => {
    const work = shared();
    const { dialog_id: dialog } = await work.fresh({ a: 'old\n', 'keep/x': 'x' });
    const before = work.disk();
    const edit = editing(work);
    const started = await edit.start(['a', 'made/new.txt', 'keep/x']);
    work.put({ a: 'new\n', 'made/new.txt': 'n', 'keep/x': null });
    const { restored, removed, saved } = await edit.abort(started);
    expect(restored).toEqual(['a', 'keep/x']);
    expect(removed).toEqual(['made/new.txt']);
    expect(work.disk()).toEqual(before);
    const contents = saved.map(({ path, hash }) => {
      return [path, git(work.checkpoints(dialog), ['cat-file', 'blob', hash])];
    });
    expect(contents).toEqual([
      ['a', 'new\n'],
      ['made/new.txt', 'n'],
    ]);
    expect((await edit.unknown()).hasUnknownChanges).toBe(false);
    expect((await work.refusal('abort_edit', { edit_id: started.edit_id })).data).toMatchObject({
      code: 'EDIT_NOT_FOUND',
    });
  });

  it('leaves a folder that was empty before alone when it is taken back', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    mkdirSync(work.at('empty'));
    const edit = editing(work);
    const started = await edit.start(['empty/new']);
    work.put({ 'empty/new': 'n' });
    await edit.abort(started);
    expect(work.disk()).toEqual({ a: 'file 1', 'empty/': 'empty folder' });
  });

  it('answers the same when its end is called again', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: '2' });
    const first = await edit.finalize(started);
    const again = await edit.finalize(started);
    expect(again.events).toEqual(first.events);
    expect(again.files).toEqual(first.files.map(({ diff: _diff, ...file }) => file));
  });

  it('opens once, however often the call is repeated under one request id', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    const edit = editing(work);
    const more = { request_id: `r-${Date.now()}` };
    const [first, second] = await Promise.all([edit.start(['a'], more), edit.start(['a'], more)]);
    expect(second.edit_id).toBe(first.edit_id);
    expect((await edit.start(['a'], more)).edit_id).toBe(first.edit_id);
    await edit.abort(first);
  });

  it('takes the new file that is most like a gone one for the moved one', async () => {
    const lines = Array.from({ length: 10 }, (_, number) => `line ${number}\n`);
    const work = shared();
    await work.fresh({ old: lines.join('') });
    const edit = editing(work);
    const started = await edit.start(['old', 'a little', 'much']);
    renameSync(work.at('old'), work.at('much'));
    writeFileSync(work.at('much'), lines.slice(1).join(''));
    writeFileSync(work.at('a little'), lines.slice(0, 6).join(''));
    const { files } = await edit.finalize(started);
    expect(files.map(({ path, from, change }) => [path, from, change])).toEqual([
      ['a little', undefined, 'created'],
      ['much', 'old', 'renamed'],
    ]);
  });

  it('tells a moved file from a new one', async () => {
    const work = shared();
    const text = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('');
    await work.fresh({ 'old/name.txt': text, b: 'b' });
    const edit = editing(work);
    const started = await edit.start(['old/name.txt', 'new/name.txt', 'b', 'c']);
    mkdirSync(work.at('new'));
    renameSync(work.at('old/name.txt'), work.at('new/name.txt'));
    writeFileSync(work.at('new/name.txt'), `${text}one more\n`);
    renameSync(work.at('b'), work.at('c'));
    const { files } = await edit.finalize(started);
    expect(files.map(({ path, from, change }) => [path, from, change])).toEqual([
      ['c', 'b', 'renamed'],
      ['new/name.txt', 'old/name.txt', 'renamed'],
    ]);
    expect(await edit.authors('new/name.txt')).toBe(`${'unknown '.repeat(20)}agent:ann`);
  });

  it('is listed while it is open', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    const edit = editing(work);
    const files = await edit.start(['a']);
    const project = await edit.startProject({ detached: true, ttl_ms: 60_000 });
    const { edits } = await work.call<Listed>('list_edits');
    expect(edits).toEqual([
      expect.objectContaining({
        edit_id: files.edit_id,
        paths: ['a'],
        state: 'open',
        expires_at: null,
      }),
      expect.objectContaining({ edit_id: project.edit_id, scope: 'project', state: 'open' }),
    ]);
    expect((await work.call<{ edits_open: number }>('status')).edits_open).toBe(2);
    await edit.finalize(files);
    await edit.finalize(project);
  });

  it('72: of the whole project owns what changes meanwhile, except what others hold', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n', b: 'b\n', c: 'c\n' });
    const edit = editing(work);
    const shell = await edit.startProject();
    work.put({ a: 'a\nshell\n', made: 'shell\n' });
    const own = await edit.start(['a', 'b']);
    work.put({ a: 'a\nshell\nann\n', b: 'ann\n', c: 'c\nshell\n' });
    await edit.finalize(own);
    work.put({ b: 'ann\nshell\n' });
    const { files } = await edit.finalize(shell);
    expect(files.map(({ path, change }) => `${change} ${path}`).sort()).toEqual([
      'created made',
      'modified a',
      'modified b',
      'modified c',
    ]);
    expect(await edit.authors('a')).toBe('unknown command:make agent:ann');
    expect(await edit.authors('b')).toBe('agent:ann command:make');
    expect(await edit.authors('c')).toBe('unknown command:make');
    expect(await edit.authors('made')).toBe('command:make');
    expect((await edit.unknown()).affectedFiles).toEqual([]);
  });

  it('of the whole project can be taken back as a whole', async () => {
    const work = shared();
    await work.fresh({ a: 'a', b: 'b' });
    work.put({ b: 'not saved in any checkpoint' });
    const before = work.disk();
    const edit = editing(work);
    const shell = await edit.startProject();
    work.put({ a: 'x', b: 'y', 'out/deep/c': 'z' });
    await edit.abort(shell);
    expect(work.disk()).toEqual(before);
  });

  it('publishes what happens to it', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const socket = await work.project.socket();
    await socket.call('subscribe', { types: ['edit_started', 'file_edit', 'edit_aborted'] });
    const edit = editing(work);
    const started = await edit.start(['a']);
    expect(await socket.event('edit_started')).toMatchObject({
      edit_id: started.edit_id,
      paths: ['a'],
    });
    work.put({ a: '2\n' });
    await edit.finalize(started);
    expect(await socket.event('file_edit')).toMatchObject({
      edit_id: started.edit_id,
      file: work.at('a'),
      diff: expect.stringContaining('-1\n+2\n'),
    });
    await edit.abort(await edit.start(['a']));
    expect(await socket.event('edit_aborted')).toMatchObject({ reason: 'asked' });
  });

  it('28, 36: makes an ignored file tracked from then on', async () => {
    const work = shared();
    await work.fresh({ '.gitignore': 'out/\n', 'out/kept.txt': 'k\n', 'out/other.txt': 'o\n' });
    const edit = editing(work);
    const started = await edit.start(['out/kept.txt', '.env']);
    work.put({ 'out/kept.txt': 'new\n', '.env': 'A=1\n' });
    const { files } = await edit.finalize(started);
    expect(files.map(({ path, change }) => `${change} ${path}`)).toEqual([
      'created .env',
      'modified out/kept.txt',
    ]);
    const { commit_id: commit } = await work.save('with it');
    expect(Object.keys(await work.tree(commit))).toEqual(['.env', '.gitignore', 'out/kept.txt']);
  });

  it('blocks a restore of what it holds, and nothing else', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '1', b: '1' });
    work.put({ a: '2', b: '2' });
    await work.save('second');
    const edit = editing(work);
    const started = await edit.start(['a']);
    const before = work.disk();
    for (const [method, params] of [
      ['restore', { checkpoint_id: first }],
      ['reset', {}],
      ['undo', {}],
    ] as const) {
      const { data } = await work.refusal(method, params);
      expect(data).toMatchObject({ code: 'RESTORE_BLOCKED', path: 'a', edit_id: started.edit_id });
    }
    expect(work.disk()).toEqual(before);
    await work.restore(first, { paths: ['b'] });
    expect(work.disk()).toEqual({ a: 'file 2', b: 'file 1' });
    await edit.finalize(started);
    await work.restore(first);
  });
});

describe('an edit whose client is gone', () => {
  const project = projectsPerTest();

  it('is taken back at once when it was connected', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: 'old' });
    const other = await work.project.socket();
    await other.call('start_edit', { files: ['a', 'b'] });
    work.put({ a: 'half', b: 'made' });
    other.destroy();
    await until('the files are as they were', () => {
      return work.read('a') === 'old' && !existsSync(work.at('b')) ? true : undefined;
    });
    await until('nothing is held', async () => {
      const { edits } = await work.call<Listed>('list_edits');
      return edits.length === 0 ? true : undefined;
    });
  });

  it('goes on when it is detached, until its time is over; then it can still be settled', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: 'old\n', b: 'old\n' });
    const events = await work.project.socket();
    await events.call('subscribe', { types: ['edit_incomplete'] });
    const other = await work.project.socket();
    const short = { detached: true, ttl_ms: 3_000, agent: { name: 'bob' } };
    const first = (await other.call('start_edit', { files: ['a'], ...short }))
      .result as unknown as Started;
    const second = (await other.call('start_edit', { files: ['b'], ...short }))
      .result as unknown as Started;
    other.destroy();
    work.put({ a: 'new\n', b: 'new\n' });
    await until('both are incomplete', async () => {
      const { edits } = await work.call<Listed>('list_edits');
      return edits.every(({ state }) => state === 'incomplete') ? true : undefined;
    });
    expect(await events.event('edit_incomplete')).toMatchObject({ reason: 'its time is over' });
    expect(work.read('a')).toBe('new\n');
    const edit = editing(work);
    expect(await edit.authors('a')).toBe('agent:bob');
    expect((await edit.unknown()).affectedFiles).toEqual([]);
    expect((await edit.finalize(first)).files).toMatchObject([{ path: 'a', change: 'modified' }]);
    expect(await edit.abort(second)).toMatchObject({ restored: ['b'] });
    expect(work.read('b')).toBe('old\n');
    expect(await edit.authors('b')).toBe('baseline');
    expect((await work.call<Listed>('list_edits')).edits).toEqual([]);
  });

  it('is not taken back where somebody else has written since', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: 'old' });
    const edit = editing(work);
    const started = await edit.start(['a'], { detached: true, ttl_ms: 3_000 });
    work.put({ a: 'by the edit' });
    await until('it is incomplete', async () => {
      const { edits } = await work.call<Listed>('list_edits');
      return edits[0]?.state === 'incomplete' ? true : undefined;
    });
    work.put({ a: 'by a person' });
    const { restored, skipped } = await edit.abort(started);
    expect(restored).toEqual([]);
    expect(skipped).toEqual([{ path: 'a', reason: 'changed_by_others' }]);
    expect(work.read('a')).toBe('by a person');
  });

  it.each(['stop', 'kill'] as const)(
    'is left incomplete when the daemon ends (%s)',
    async (how) => {
      const home = project();
      const work = await Work.start(home);
      await work.fresh({ a: 'old\n', b: 'b\n' });
      const edit = editing(work);
      const files = await edit.start(['a'], { agent: { name: 'bob' } });
      const shell = await edit.startProject();
      work.put({ a: 'new\n', b: 'b\nshell\n' });
      await edit.unknown();
      if (how === 'stop') await home.cli(['stop']);
      else process.kill(home.daemonFile()?.pid ?? 0, 'SIGKILL');
      await until('the connection is gone', () => (work.socket.isClosed ? true : undefined));
      const again = await Work.start(home);
      const after = editing(again);
      await until('both are incomplete', async () => {
        const { edits } = await again.call<Listed>('list_edits');
        return edits.every(({ state }) => state === 'incomplete') ? true : undefined;
      });
      expect(again.read('a')).toBe('new\n');
      expect(await after.authors('a')).toBe('agent:bob');
      expect(await after.authors('b')).toBe('baseline command:make');
      expect((await after.unknown()).affectedFiles).toEqual([]);
      expect(await after.abort(files)).toMatchObject({ restored: ['a'] });
      expect((await after.finalize(shell)).files).toMatchObject([{ path: 'b' }]);
      expect(again.read('a')).toBe('old\n');
    },
  );

  it('that was settled before a crash answers the same after it', async () => {
    const home = project();
    const work = await Work.start(home);
    await work.fresh({ a: 'old\n' });
    const edit = editing(work);
    const started = await edit.start(['a'], { request_id: 'once' });
    work.put({ a: 'new\n' });
    const first = await edit.finalize(started);
    process.kill(home.daemonFile()?.pid ?? 0, 'SIGKILL');
    await until('the connection is gone', () => (work.socket.isClosed ? true : undefined));
    const again = editing(await Work.start(home));
    expect((await again.finalize(started)).events).toEqual(first.events);
    expect((await again.start(['a'], { request_id: 'once' })).edit_id).toBe(started.edit_id);
  });
});

describe('a refused edit', () => {
  const shared = sharedWork();

  it.each<[string, object, string]>([
    ['a path outside', { files: ['../x'] }, 'PATH_OUTSIDE_ROOT'],
    ['the user’s repository', { files: ['.git/config'] }, 'PATH_PROTECTED'],
    ['a folder', { files: ['folder'] }, 'PATH_UNSUPPORTED'],
    ['a path behind a link', { files: ['link/x'] }, 'PATH_OUTSIDE_ROOT'],
    ['neither files nor scope', {}, 'INVALID_PARAMS'],
    ['both files and scope', { files: ['a'], scope: 'project' }, 'INVALID_PARAMS'],
    [
      'an unknown dialog',
      { files: ['a'], dialog_id: '01AAAAAAAAAAAAAAAAAAAAAAAA' },
      'DIALOG_NOT_FOUND',
    ],
  ])('changes nothing: %s', async (_what, params, code) => {
    const work = shared();
    await work.fresh({ a: '1', 'folder/x': 'x' });
    symlinkSync('folder', work.at('link'));
    const before = work.disk();
    expect((await work.refusal('start_edit', params)).data['code']).toBe(code);
    expect(work.disk()).toEqual(before);
    expect((await work.call<Listed>('list_edits')).edits).toEqual([]);
  });

  it('names the limit of open edits for one client', async () => {
    const work = shared();
    await work.fresh();
    const edit = editing(work);
    const socket = await work.project.socket();
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, number) =>
        socket.call('start_edit', { files: [`f${number}`] }),
      ),
    );
    const refused = answers.filter(({ error }) => error !== undefined);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.error?.data).toMatchObject({ code: 'LIMIT_EXCEEDED', value: 64 });
    socket.destroy();
    await until('they are all given back', async () => {
      const { edits } = await work.call<Listed>('list_edits');
      return edits.length === 0 ? true : undefined;
    });
    await edit.abort(await edit.start(['f1']));
  });
});

function hashOf(work: Work, content: string): string {
  return git(work.root, ['hash-object', '--stdin'], content).trim();
}
