import { chmodSync, mkdirSync, renameSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { editing, type UnknownResult } from '../support/edits.js';
import { until } from '../support/until.js';
import { git, sharedWork, Work } from '../support/work.js';

interface Handled {
  readonly success: boolean;
  readonly message: string;
  readonly compensatingSnapshotId?: string;
  readonly modifiedFiles?: readonly string[];
  readonly saved?: readonly { readonly path: string; readonly hash: string }[];
}
interface Validated {
  readonly success: boolean;
  readonly error?: string;
  readonly unknownChanges?: UnknownResult;
  readonly warnings: readonly string[];
  readonly suggestions: readonly string[];
}

describe('a change that nobody announced', () => {
  const shared = sharedWork();
  const handle = (work: Work, strategy: string, more: object = {}) =>
    work.call<Handled>('handle_unknown_changes', { strategy, ...more });

  it('is found with what was expected and what is there', async () => {
    const work = shared();
    await work.fresh({ a: 'old\n', gone: 'g\n', same: 's' });
    work.put({ a: 'new\n', gone: null, made: 'm\n' });
    const found = await editing(work).unknown();
    expect(found.hasUnknownChanges).toBe(true);
    expect(found.affectedFiles).toEqual(['a', 'gone', 'made']);
    expect(
      found.unknownChanges.map(({ filePath, changeType, expectedHash, actualHash }) => [
        filePath,
        changeType,
        expectedHash === null,
        actualHash === null,
      ]),
    ).toEqual([
      ['a', 'modified', false, false],
      ['gone', 'deleted', false, true],
      ['made', 'created', true, false],
    ]);
    expect(found.unknownChanges[0]?.diff).toContain('-old\n+new\n');
    expect(found.generatedDiff).toContain('+m\n');
    expect((await editing(work).unknown(['same', 'a'])).affectedFiles).toEqual(['a']);
  });

  it('is none when the content is back to what is known', async () => {
    const work = shared();
    await work.fresh({ a: 'old' });
    work.put({ a: 'new' });
    await editing(work).unknown();
    work.put({ a: 'old' });
    expect((await editing(work).unknown()).hasUnknownChanges).toBe(false);
    chmodSync(work.at('a'), 0o755);
    expect((await editing(work).unknown()).affectedFiles).toEqual(['a']);
  });

  it('is not looked for in files that are excluded from checking', async () => {
    const work = shared();
    await work.fresh({ a: '1', 'x.log': '1', 'x_generated.ts': '1' });
    work.put({ a: '2', 'x.log': '2', 'x_generated.ts': '2' });
    expect((await editing(work).unknown()).affectedFiles).toEqual(['a']);
  });

  it('is known once a checkpoint holds it, and by somebody unknown', async () => {
    const work = shared();
    await work.fresh({ a: 'one\n' });
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: 'one\ntwo\n' });
    await edit.finalize(started);
    work.put({ a: 'one\ntwo\nthree\n' });
    await work.save('all of it');
    expect((await edit.unknown()).hasUnknownChanges).toBe(false);
    expect(await edit.authors('a')).toBe('unknown agent:ann unknown');
  });

  it('taken in moves the known state and is written down as unknown', async () => {
    const work = shared();
    await work.fresh({ a: 'one\n' });
    work.put({ a: 'one\ntwo\n' });
    const answer = await handle(work, 'auto-integrate');
    expect(answer).toMatchObject({ success: true, modifiedFiles: ['a'] });
    expect(answer.compensatingSnapshotId).toMatch(/^evt-\d{6,}$/u);
    expect((await editing(work).unknown()).hasUnknownChanges).toBe(false);
    expect(work.read('a')).toBe('one\ntwo\n');
  });

  it('rejected puts the known content back and keeps what was there', async () => {
    const work = shared();
    const { dialog_id: dialog } = await work.fresh({ a: 'old', gone: 'g', same: 's' });
    work.put({ a: 'new', gone: null, made: 'm' });
    const answer = await handle(work, 'strict');
    expect(answer.success).toBe(true);
    expect([...(answer.modifiedFiles ?? [])].sort()).toEqual(['a', 'gone', 'made']);
    expect(work.disk()).toEqual({ a: 'file old', gone: 'file g', same: 'file s' });
    const contents = (answer.saved ?? []).map(({ path, hash }) => {
      return `${path}=${git(work.checkpoints(dialog), ['cat-file', 'blob', hash])}`;
    });
    expect(contents.sort()).toEqual(['a=new', 'made=m']);
    expect((await editing(work).unknown()).hasUnknownChanges).toBe(false);
  });

  it('rejected for some files leaves the others', async () => {
    const work = shared();
    await work.fresh({ a: '1', b: '1' });
    work.put({ a: '2', b: '2' });
    await handle(work, 'reject', { files: ['a'] });
    expect(work.disk()).toEqual({ a: 'file 1', b: 'file 2' });
    expect((await editing(work).unknown()).affectedFiles).toEqual(['b']);
  });

  it('only noted changes nothing and throws nothing', async () => {
    const work = shared();
    await work.fresh({ a: '1' });
    work.put({ a: '2' });
    expect(await handle(work, 'warn')).toMatchObject({ success: true });
    expect(work.read('a')).toBe('2');
    expect((await editing(work).unknown()).affectedFiles).toEqual(['a']);
  });

  it('stops an edit under the strategy strict, and changes nothing', async () => {
    const work = shared();
    await work.fresh({ a: '1', b: '1' });
    work.put({ a: '2' });
    const before = work.disk();
    const { data } = await work.refusal('start_edit', { files: ['a', 'b'], strategy: 'strict' });
    expect(data).toMatchObject({ code: 'UNKNOWN_CHANGES', affectedFiles: ['a'] });
    expect(work.disk()).toEqual(before);
    expect((await editing(work).unknown()).affectedFiles).toEqual(['a']);
    await editing(work).abort(await editing(work).start(['b'], { strategy: 'strict' }));
  });

  it('is told to an edit under the strategy warn, which goes on', async () => {
    const work = shared();
    await work.fresh({ a: 'one\n' });
    work.put({ a: 'one\ntwo\n' });
    const edit = editing(work);
    const started = await edit.start(['a'], { strategy: 'warn' });
    expect(started.unknown.affectedFiles).toEqual(['a']);
    expect(started.warnings).toHaveLength(1);
    work.put({ a: 'one\ntwo\nthree\n' });
    await edit.finalize(started);
    expect(await edit.authors('a')).toBe('unknown unknown agent:ann');
    expect((await edit.unknown()).hasUnknownChanges).toBe(false);
  });

  it('is still unknown when the edit that was warned of it is taken back', async () => {
    const work = shared();
    await work.fresh({ a: 'one' });
    work.put({ a: 'two' });
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: 'three' });
    await edit.abort(started);
    expect(work.read('a')).toBe('two');
    expect((await edit.unknown()).affectedFiles).toEqual(['a']);
  });

  it('is taken in by an edit under the strategy integrate', async () => {
    const work = shared();
    await work.fresh({ a: 'one' });
    work.put({ a: 'two' });
    const edit = editing(work);
    await edit.abort(await edit.start(['a'], { strategy: 'integrate' }));
    expect(work.read('a')).toBe('two');
    expect((await edit.unknown()).hasUnknownChanges).toBe(false);
  });

  it('71: is published as it happens, and an announced one is not', async () => {
    const work = shared();
    await work.fresh({ a: '1', b: '1' });
    const socket = await work.project.socket();
    await socket.call('subscribe', { types: ['unknown_change'] });
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: '2' });
    await edit.finalize(started);
    work.put({ b: '2' });
    const event = await socket.event('unknown_change');
    expect(event).toMatchObject({ total: 1, changes: [{ path: 'b', change: 'modified' }] });
  });

  it('has its lines told apart after the file was moved', async () => {
    const work = shared();
    await work.fresh({ 'a.txt': 'one\n' });
    const edit = editing(work);
    const started = await edit.start(['a.txt']);
    work.put({ 'a.txt': 'one\nann\n' });
    await edit.finalize(started);
    mkdirSync(work.at('sub'));
    renameSync(work.at('a.txt'), work.at('sub/b.txt'));
    await handle(work, 'integrate');
    expect(await edit.authors('sub/b.txt')).toBe('unknown agent:ann');
  });

  it('and its author are what they were after a restore', async () => {
    const work = shared();
    await work.fresh({ a: 'one\n' });
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: 'one\nann\n' });
    await edit.finalize(started);
    const { commit_id: commit } = await work.save('with ann');
    work.put({ a: 'something else\n' });
    await work.save('without');
    await work.restore(commit);
    expect(await edit.authors('a')).toBe('unknown agent:ann');
    expect((await edit.unknown()).hasUnknownChanges).toBe(false);
  });

  it('is weighed by validate_files, with suggestions', async () => {
    const work = shared();
    await work.fresh({ a: '1', b: '1' });
    work.put({ a: '2' });
    const validate = (params: object) => work.call<Validated>('validate_files', params);
    expect(await validate({ files: ['b'] })).toEqual({
      success: true,
      warnings: [],
      suggestions: [],
    });
    const warned = await validate({ files: ['a'] });
    expect(warned).toMatchObject({ success: true, unknownChanges: { affectedFiles: ['a'] } });
    expect(warned.warnings).toHaveLength(1);
    expect(warned.suggestions.length).toBeGreaterThan(0);
    const strict = await validate({ files: ['a'], strictMode: true });
    expect(strict).toMatchObject({
      success: false,
      error: expect.stringContaining('1 file holds'),
    });
    const handled = await validate({ files: ['a'], autoHandleUnknownChanges: true });
    expect(handled.success).toBe(true);
    expect((await editing(work).unknown()).hasUnknownChanges).toBe(false);
  });

  it('is forgotten when the known state is reset', async () => {
    const work = shared();
    await work.fresh({ a: '1', 'b.log': '1' });
    work.put({ a: '2', 'b.log': '2' });
    expect(await work.call('reset_known_state')).toEqual({ files: 2 });
    expect((await editing(work).unknown()).hasUnknownChanges).toBe(false);
  });
});

describe('the known state', () => {
  const project = projectsPerTest();

  it.each(['stop', 'kill'] as const)('outlives the daemon (%s)', async (how) => {
    const home = project();
    const work = await Work.start(home);
    await work.fresh({ a: 'one\n', b: 'one\n', c: 'one\n' });
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: 'one\ntwo\n' });
    await edit.finalize(started);
    work.put({ b: 'changed before' });
    await edit.unknown();
    if (how === 'stop') await home.cli(['stop']);
    else process.kill(home.daemonFile()?.pid ?? 0, 'SIGKILL');
    await until('the connection is gone', () => (work.socket.isClosed ? true : undefined));
    work.put({ c: 'changed meanwhile' });
    const again = editing(await Work.start(home));
    expect((await again.unknown()).affectedFiles).toEqual(['b', 'c']);
    expect(await again.authors('a')).toBe('baseline agent:ann');
  });

  it('is not asked for while detection is off, and that is said', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: '1' });
    work.put({ a: '2' });
    await work.call('update_config', { enableUnknownChangeDetection: false });
    const off = await editing(work).unknown();
    expect(off).toMatchObject({ hasUnknownChanges: false });
    expect(off.warnings).toHaveLength(1);
    await work.call('update_config', { enableUnknownChangeDetection: true });
    expect((await editing(work).unknown()).affectedFiles).toEqual(['a']);
  });
});
