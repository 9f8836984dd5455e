import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { gitView, sharedWork, Work, type Opened, type Restored } from '../support/work.js';

const newProject = projectsPerTest();

describe('a restore', () => {
  const shared = sharedWork();

  it('3: of an unknown checkpoint is refused, names what is near, and touches nothing', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const near = `${initial.slice(0, 39)}${initial.endsWith('0') ? '1' : '0'}`;
    const { data } = await work.refusal('restore', { checkpoint_id: near });
    expect(data).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND', id: near, near: [initial] });
    for (const id of ['f'.repeat(40), 'HEAD~1', 'session_1', '--all', `${initial}^{tree}`]) {
      const refusal = await work.refusal('restore', { checkpoint_id: id });
      expect(refusal.data['code']).toBe('CHECKPOINT_NOT_FOUND');
    }
    for (const params of [{ paths: [] }, { checkpoint_id: initial, paths: [] }, {}]) {
      const refusal = await work.refusal('restore', params);
      expect(refusal.data['code']).toBe('INVALID_PARAMS');
    }
    expect(work.disk()).toEqual({ a: 'file 1' });
    expect(await work.log()).toHaveLength(1);
  });

  it('takes abbreviated ids, and refuses ambiguous ones with the candidates', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    // Of more than 65,536 / 2 ids two would share four digits for sure; the birthday comes sooner.
    const seen = new Map<string, string>([[initial.slice(0, 4), initial]]);
    let twins: string[] = [];
    for (let round = 0; twins.length === 0 && round < 40; round++) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => work.save(`try ${round} ${i}`)),
      );
      for (const { commit_id: id } of answers) {
        const other = seen.get(id.slice(0, 4));
        if (other !== undefined) twins = [other, id];
        seen.set(id.slice(0, 4), id);
      }
    }
    expect(twins).toHaveLength(2);
    const [first = '', second = ''] = twins;
    const { data } = await work.refusal('restore', { checkpoint_id: first.slice(0, 4) });
    expect(data['code']).toBe('AMBIGUOUS_ID');
    expect(data['candidates']).toEqual(expect.arrayContaining([first, second]));
    expect((await work.restore(second.slice(0, 12))).restored_to).toBe(second);
    const short = await work.refusal('restore', { checkpoint_id: first.slice(0, 3) });
    expect(short.data['code']).toBe('CHECKPOINT_NOT_FOUND');
  });

  it('23: does not write through a directory that became a link', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ 'd/x': '0', 'd/y': '0' });
    const outside = mkdtempSync(join(tmpdir(), 'smithyd-outside-'));
    try {
      writeFileSync(join(outside, 'x'), 'theirs');
      rmSync(work.at('d'), { recursive: true });
      symlinkSync(outside, work.at('d'));
      await work.restore(initial);
      expect(work.disk()).toEqual({ 'd/x': 'file 0', 'd/y': 'file 0' });
      expect(lstatSync(work.at('d')).isDirectory()).toBe(true);
      expect(readdirSync(outside)).toEqual(['x']);
      expect(readFileSync(join(outside, 'x'), 'utf8')).toBe('theirs');
      await work.call('undo');
      expect(work.disk()).toEqual({ d: `link ${outside}` });
      expect(readFileSync(join(outside, 'x'), 'utf8')).toBe('theirs');
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it('35: deletes no file that was ignored at the checkpoint', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({
      '.gitignore': '*.log\nlocal/\n',
      a: '0',
      'precious.log': 'never saved',
      'local/settings': 'never saved',
    });
    work.put({ '.gitignore': '', a: '1' });
    const { commit_id: open } = await work.save();
    expect(Object.keys(await work.tree(open))).toContain('precious.log');
    const { deleted, skipped } = await work.restore(initial);
    expect(deleted).toEqual([]);
    expect(skipped).toEqual([
      { path: 'local/settings', reason: 'ignored_at_checkpoint' },
      { path: 'precious.log', reason: 'ignored_at_checkpoint' },
    ]);
    expect(work.disk()).toEqual({
      '.gitignore': 'file *.log\nlocal/\n',
      a: 'file 0',
      'precious.log': 'file never saved',
      'local/settings': 'file never saved',
    });
  });

  it('54, 62: paths limit it, and the present state is no reason to write', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({
      'sub/a': '0',
      'sub/deep/b': '0',
      'subway/c': '0',
      d: '0',
    });
    work.put({ 'sub/a': '1', 'sub/deep/b': '1', 'subway/c': '1', d: '1', 'sub/new': '1', e: '1' });
    const first = await work.restore(initial, { paths: ['sub'] });
    expect([first.restored, first.deleted]).toEqual([['sub/a', 'sub/deep/b'], ['sub/new']]);
    expect(work.disk()).toEqual({
      'sub/a': 'file 0',
      'sub/deep/b': 'file 0',
      'subway/c': 'file 1',
      d: 'file 1',
      e: 'file 1',
    });
    const second = await work.restore(initial, { paths: ['d', './subway/c'] });
    expect(second.restored).toEqual(['d', 'subway/c']);
    expect(work.disk()['e']).toBe('file 1');
    await work.restore(initial);
    const nothing = await work.restore(initial);
    expect(nothing).toMatchObject({
      restored_to: initial,
      safety_checkpoint: null,
      restored: [],
      deleted: [],
      kept: [],
      skipped: [],
    });
    for (const path of ['../x', '/etc/passwd', 'sub/../../x']) {
      const { data } = await work.refusal('restore', { checkpoint_id: initial, paths: [path] });
      expect(data['code']).toBe('PATH_OUTSIDE_ROOT');
    }
    for (const path of ['.git/config', '.agentsmithy/config.json', 'sub/.GIT/x']) {
      const { data } = await work.refusal('restore', { checkpoint_id: initial, paths: [path] });
      expect(data['code']).toBe('PATH_PROTECTED');
    }
  });

  it('55: brings back modified, deleted, created and renamed files', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({
      modified: '0',
      deleted: '0',
      'old/name': 'a content long enough to be found again under another name\n',
      'd/only': '0',
    });
    const before = work.disk();
    work.put({ modified: '1', deleted: null, created: '1', 'new/deep/er': '1', 'd/only': null });
    renameSync(work.at('old/name'), work.at('renamed'));
    rmSync(work.at('old'), { recursive: true });
    const answer = await work.restore(initial);
    expect(answer).toEqual({
      restored_to: initial,
      new_checkpoint: expect.stringMatching(/^[0-9a-f]{40}$/u),
      safety_checkpoint: expect.stringMatching(/^[0-9a-f]{40}$/u),
      restored: ['d/only', 'deleted', 'modified', 'old/name'],
      deleted: ['created', 'new/deep/er', 'renamed'],
      kept: [],
      skipped: [],
    });
    expect(work.disk()).toEqual(before);
    expect(await work.treeId(answer.new_checkpoint)).toBe(gitView(work.root));
    expect(await work.treeId(answer.new_checkpoint)).toBe(await work.treeId(initial));
    const [newest, safety] = await work.log();
    expect(newest).toMatchObject({ kind: 'restore', message: `Restored to ${initial}` });
    expect(safety?.commit_id).toBe(answer.safety_checkpoint);
    const saved = await work.tree(answer.safety_checkpoint ?? '');
    expect(Object.keys(saved)).toEqual(['created', 'modified', 'new/deep/er', 'renamed']);
  });

  it('56: only the file that differs is written', async () => {
    const work = shared();
    const names = Array.from({ length: 50 }, (_, i) => `f${i}`);
    const { initial_checkpoint: initial } = await work.fresh(
      Object.fromEntries(names.map((name) => [name, name])),
    );
    for (const name of names) utimesSync(work.at(name), 1_000_000, 1_000_000);
    work.put({ f7: 'other' });
    const stamps = (): string[] =>
      names.map((name) => {
        const { mtimeMs, ino, ctimeMs } = lstatSync(work.at(name));
        return `${name} ${mtimeMs} ${ino} ${ctimeMs}`;
      });
    const before = stamps();
    const { restored } = await work.restore(initial);
    expect(restored).toEqual(['f7']);
    const after = stamps();
    expect(names.filter((_, i) => before[i] !== after[i])).toEqual(['f7']);
    expect(work.read('f7')).toBe('f7');
  });

  it('58: never deletes what it never saved', async () => {
    const work = shared();
    await work.call('update_config', { maxFileBytes: 1000 });
    try {
      const { initial_checkpoint: initial } = await work.fresh({ '.gitignore': '*.o\n', a: '0' });
      const big = 'b'.repeat(2000);
      work.put({
        a: '1',
        'x.o': 'ignored',
        big,
        'dir/big': big,
        '.hidden': 'h',
        '.env': 'SECRET=1',
      });
      work.put({ 'dir/small': '1' });
      expect(spawnSync('mkfifo', [work.at('dir/pipe')]).status).toBe(0);
      const { deleted } = await work.restore(initial);
      expect(deleted).toEqual(['dir/small']);
      expect(work.disk()).toEqual({
        '.env': 'file SECRET=1',
        '.gitignore': 'file *.o\n',
        '.hidden': 'file h',
        a: 'file 0',
        big: `file ${big}`,
        'dir/big': `file ${big}`,
        'dir/pipe': 'special',
        'x.o': 'file ignored',
      });
    } finally {
      await work.call('update_config', { maxFileBytes: 52_428_800 });
    }
  });

  it('58: puts no file where something stands that it never saved', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ 'a.o': '0', b: '0', 'c/d': '0' });
    work.put({ '.gitignore': '*.o\n/b\n/c\n' });
    work.put({ 'a.o': 'ignored now', b: null, c: null });
    work.put({ 'b/x': 'ignored now', c: 'ignored now' });
    const answer = await work.restore(initial);
    const reasons = Object.fromEntries(answer.skipped.map(({ path, reason }) => [path, reason]));
    expect(Object.keys(reasons).sort()).toEqual(['a.o', 'b', 'c/d']);
    expect(work.disk()).toEqual({
      'a.o': 'file ignored now',
      'b/x': 'file ignored now',
      c: 'file ignored now',
    });
  });

  it('59: names the file it cannot write and does the rest', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0', 'locked/x': '0', z: '0' });
    work.put({ a: '1', 'locked/x': '1', z: '1' });
    const lock = (flag: string): boolean =>
      spawnSync('chattr', [flag, work.at('locked/x')]).status === 0;
    // Where files cannot be made immutable the system refuses nothing to the tests' user either.
    const isLocked = lock('+i');
    try {
      const { restored, skipped } = await work.restore(initial);
      expect(restored).toEqual(isLocked ? ['a', 'z'] : ['a', 'locked/x', 'z']);
      const reason = expect.stringMatching(/^EPERM: /u) as unknown;
      expect(skipped).toEqual(isLocked ? [{ path: 'locked/x', reason }] : []);
      expect(work.read('locked/x')).toBe(isLocked ? '1' : '0');
    } finally {
      if (isLocked) lock('-i');
    }
    const { restored } = await work.restore(initial);
    expect(restored).toEqual(isLocked ? ['locked/x'] : []);
    expect(work.disk()).toEqual({ a: 'file 0', 'locked/x': 'file 0', z: 'file 0' });
  });

  it('61: undo, redo, undo over a restore give the same bytes each time', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0', 'd/b': '0' });
    const old = work.disk();
    work.put({ a: '1\r\n', 'd/b': null, c: Buffer.from([0, 255, 10]) });
    symlinkSync('a', work.at('link'));
    chmodSync(work.at('a'), 0o755);
    mkdirSync(work.at('d/empty'), { recursive: true });
    const young = work.disk();
    await work.restore(initial);
    expect(work.disk()).toEqual(old);
    for (let round = 0; round < 3; round++) {
      const undone = await work.call<Restored>('undo');
      expect(undone.safety_checkpoint).toBeNull();
      expect(work.disk()).toEqual(young);
      await work.call('redo');
      expect(work.disk()).toEqual(old);
    }
    const { data } = await work.refusal('redo');
    expect(data['code']).toBe('CHECKPOINT_NOT_FOUND');
    expect(work.disk()).toEqual(old);
  });

  it('61: undo walks back over messages, checkpoints, restores and resets, and redo forth', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    const states = ['0'];
    const step = async (content: string, act: () => Promise<unknown>): Promise<void> => {
      work.put({ a: content });
      await act();
      states.push(work.read('a'));
    };
    await step('1', () => work.call('user_message', { content: 'one' }));
    await step('2', () => work.save());
    await step('3', () => work.call('user_message', { content: 'three' }));
    await work.restore(initial);
    states.push('0');
    await step('4', () => work.save());
    await work.call('reset');
    states.push('0');
    expect(states).toEqual(['0', '1', '2', '3', '0', '4', '0']);
    for (const state of states.slice(0, -1).toReversed()) {
      await work.call('undo');
      expect(work.read('a')).toBe(state);
    }
    expect((await work.refusal('undo')).data['code']).toBe('CHECKPOINT_NOT_FOUND');
    for (const state of states.slice(1)) {
      await work.call('redo');
      expect(work.read('a')).toBe(state);
    }
    // New work in the middle: it is saved, and what was ahead is ahead no more.
    await work.call('undo');
    await work.call('undo');
    expect(work.read('a')).toBe('0');
    work.put({ a: 'new' });
    const { safety_checkpoint: safety } = await work.call<Restored>('undo');
    expect(await work.content(safety ?? '', 'a')).toEqual(Buffer.from('new'));
    expect(work.read('a')).toBe('0');
    await work.call('redo');
    expect(work.read('a')).toBe('new');
    expect((await work.refusal('redo')).data['code']).toBe('CHECKPOINT_NOT_FOUND');
  });

  it('tells of a file that gives way to an empty folder, and of one that does not', async () => {
    const work = shared();
    await work.fresh({ keep: '1' });
    mkdirSync(work.at('a'));
    const { commit_id: one } = await work.save('a folder');
    rmSync(work.at('a'), { recursive: true });
    work.put({ a: 'precious' });
    await work.save('a file');
    const dry = await work.restore(one, { dry_run: true });
    const done = await work.restore(one);
    expect([dry.deleted, done.deleted, done.skipped]).toEqual([['a'], ['a'], []]);
    expect(work.disk()).toEqual({ 'a/': 'empty folder', keep: 'file 1' });
    const { events } = await work.call<{ events: { files: string[] }[] }>('history', { file: 'a' });
    expect(events.length).toBeGreaterThan(0);
    await work.call('undo');
    expect(work.disk()).toEqual({ a: 'file precious', keep: 'file 1' });
  });

  it('says that an ignored file has the place of an empty folder', async () => {
    const work = shared();
    await work.fresh({ '.gitignore': 'logs\n' });
    mkdirSync(work.at('log'));
    const { commit_id: one } = await work.save('an empty folder');
    rmSync(work.at('log'), { recursive: true });
    work.put({ '.gitignore': 'log\n', log: 'ignored' });
    await work.save('a file that is ignored');
    const { skipped } = await work.restore(one);
    expect(skipped).toEqual([{ path: 'log', reason: 'in_the_way' }]);
    expect(work.read('log')).toBe('ignored');
  });

  it('refuses a path that is neither there nor in the checkpoint', async () => {
    const work = shared();
    await work.fresh({ a: '1', 'd/b': '1' });
    mkdirSync(work.at('empty'));
    const { commit_id: one } = await work.save();
    rmSync(work.at('empty'), { recursive: true });
    work.put({ a: '2', 'd/b': null, new: '1' });
    const before = await work.log();
    for (const paths of [['nope.txt'], ['a', 'd/c'], ['a/b'], ['x'.repeat(300)]]) {
      const { data } = await work.refusal('restore', { checkpoint_id: one, paths });
      expect(data).toMatchObject({ code: 'INVALID_PARAMS', paths: [paths.at(-1)] });
    }
    expect(await work.log()).toEqual(before);
    const done = await work.restore(one, { paths: ['a', 'd', 'new', 'empty'] });
    expect([done.restored, done.deleted]).toEqual([['a', 'd/b'], ['new']]);
    expect(work.disk()).toEqual({ a: 'file 1', 'd/b': 'file 1', 'empty/': 'empty folder' });
    // The same once more: there is nothing to do, and nothing wrong with it.
    expect((await work.restore(one, { paths: ['a', 'd', 'empty'] })).restored).toEqual([]);
  });

  it('of some paths says nothing of others', async () => {
    const work = shared();
    const { initial_checkpoint: one } = await work.fresh({ a: '1', '.gitignore': 'ign*\n' });
    work.put({ a: '2', '.gitignore': '\n', 'ign.txt': 'i' });
    await work.save('no longer ignored');
    for (const dry_run of [true, false]) {
      const told = await work.restore(one, { paths: ['a'], dry_run });
      expect([told.restored, told.skipped]).toEqual([['a'], []]);
    }
  });

  it('changes the mode of no other name of a file', async () => {
    const work = shared();
    const outside = mkdtempSync(join(tmpdir(), 'smithyd-outside-'));
    try {
      const tool = join(outside, 'tool');
      const { initial_checkpoint: one } = await work.fresh({ tool: '#!/bin/sh\n' });
      writeFileSync(tool, '#!/bin/sh\n');
      chmodSync(tool, 0o755);
      rmSync(work.at('tool'));
      linkSync(tool, work.at('tool'));
      expect((await work.restore(one)).restored).toEqual(['tool']);
      expect(work.disk()).toEqual({ tool: 'file #!/bin/sh\n' });
      expect(lstatSync(tool).mode & 0o777).toBe(0o755);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('61: undo sees empty directories', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    mkdirSync(work.at('empty'));
    await work.save();
    await work.call('undo');
    expect(work.disk()).toEqual({ a: 'file 0' });
    await work.call('redo');
    expect(work.disk()).toEqual({ a: 'file 0', 'empty/': 'empty folder' });
  });

  it('66: a thousand mixed files come back as they were', async () => {
    const work = shared();
    const before: Record<string, string> = {};
    for (let i = 0; i < 1000; i++) before[`d${i % 37}/e${i % 5}/f${i}`] = `content ${i}`;
    const { initial_checkpoint: initial } = await work.fresh(before);
    const paths = Object.keys(before);
    paths.forEach((path, i) => {
      if (i % 3 === 0) work.put({ [path]: null });
      else if (i % 3 === 1) work.put({ [path]: `changed ${i}` });
      if (i % 4 === 0) work.put({ [`n${i % 11}/g${i}`]: 'new' });
    });
    const changed = work.disk();
    const answer = await work.restore(initial);
    expect([answer.restored.length, answer.deleted.length, answer.skipped]).toEqual([667, 250, []]);
    expect(answer.restored).toEqual([...answer.restored].sort());
    const wanted = Object.entries(before).map(([path, text]) => [path, `file ${text}`] as const);
    expect(work.disk()).toEqual(Object.fromEntries(wanted));
    expect(await work.treeId(answer.new_checkpoint)).toBe(gitView(work.root));
    await work.call('undo');
    expect(work.disk()).toEqual(changed);
  });

  it('68: approve moves main, reset goes back to it, restore reaches any checkpoint', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const { approved_commit: approved } = await work.call<{ approved_commit: string }>('approve');
    work.put({ a: '2' });
    const { commit_id: second } = await work.save();
    work.put({ a: '3' });
    const reset = await work.call<{ reset_to: string; pre_reset_checkpoint: string }>('reset');
    expect(reset.reset_to).toBe(approved);
    expect(work.read('a')).toBe('1');
    await work.restore(second);
    expect(work.read('a')).toBe('2');
    await work.restore(reset.pre_reset_checkpoint);
    expect(work.read('a')).toBe('3');
    await work.restore(approved);
    expect(work.read('a')).toBe('1');
    await work.restore(initial);
    expect(work.read('a')).toBe('0');
    expect(await work.fsck()).toBe('');
  });

  it('a dry run tells the same and touches nothing', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0', b: '0', 'd/c': '0' });
    work.put({ a: '1' });
    await work.save();
    work.put({ b: null, n: '1', 'd/c': '1' });
    const before = work.disk();
    const count = (await work.log()).length;
    const dry = await work.restore(initial, { dry_run: true });
    expect([dry.restored, dry.deleted, dry.skipped]).toEqual([['a', 'b', 'd/c'], ['n'], []]);
    expect(dry).toMatchObject({ safety_checkpoint: null, dry_run: true });
    const { stdout } = await work.project.cli(['restore', initial, '--dry-run']);
    expect(stdout).toMatch(
      /^Nothing was done; a restore to \w{8} would do this:\n {2}restored {2}a\n/u,
    );
    expect(work.disk()).toEqual(before);
    expect(await work.log()).toHaveLength(count);
    const limited = await work.restore(initial, { dry_run: true, paths: ['d', 'n'] });
    expect([limited.restored, limited.deleted]).toEqual([['d/c'], ['n']]);
    const done = await work.restore(initial);
    expect(done).not.toHaveProperty('dry_run');
    expect([done.restored, done.deleted, done.skipped]).toEqual([dry.restored, dry.deleted, []]);
    const { stdout: idle } = await work.project.cli(['restore', initial, '--dry-run']);
    expect(idle).toMatch(/^Nothing was done; a restore to \w{8} would change nothing\.\n$/u);
  });

  it('73: is no news to a subscriber but for the restore itself', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    work.put({ a: '1', b: '1' });
    await work.save();
    const listener = await work.project.socket();
    await listener.call('subscribe');
    await work.restore(initial);
    await listener.event('restore');
    await work.save('a later event');
    await listener.call('status');
    const types = listener.received.flatMap(({ event }) => (event === undefined ? [] : [event]));
    expect(types.map(({ type }) => type)).not.toContain('unknown_change');
    listener.destroy();
  });

  it('checkpoints of another dialog are not this dialog\u2019s', async () => {
    const work = shared();
    const first = await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const second = await work.call<Opened>('create_dialog');
    expect(second.initial_checkpoint).not.toBe(first.initial_checkpoint);
    const params = { checkpoint_id: first.initial_checkpoint };
    expect((await work.refusal('restore', params)).data['code']).toBe('CHECKPOINT_NOT_FOUND');
    await work.restore(first.initial_checkpoint, { dialog_id: first.dialog_id });
    expect(work.read('a')).toBe('0');
  });
});

describe('a store that is not its root\u2019s own', () => {
  /** A project with a checkpoint, copied with everything in it. */
  async function copied(filter: (path: string) => boolean = () => true) {
    const work = await Work.start(newProject());
    await work.fresh({ a: '0' });
    const { commit_id: commit } = await work.save('kept');
    await work.project.cli(['stop']);
    const project = newProject((folder) => join(folder, 'copy'));
    cpSync(work.root, project.root, { recursive: true, filter });
    return { work, commit, project };
  }

  it('53: a copied state folder is refused, and nothing in it changes', async () => {
    const { work, commit, project } = await copied();
    writeFileSync(join(project.root, 'a'), 'in the copy');
    const ledger = readFileSync(project.path('ledger/events.jsonl'), 'utf8');
    for (const command of [
      ['start'],
      ['status'],
      ['restore', commit],
      ['undo'],
      ['message', 'x'],
    ]) {
      const { code, stderr } = await project.cli(command);
      expect(code).toBe(77);
      expect(stderr).toContain(`belongs to ${work.root}`);
      expect(stderr).toContain('smithyd start --rebind');
    }
    const answer = await project.cli(['--json', 'status']);
    expect(JSON.parse(answer.stderr)).toMatchObject({
      error: { code: 'FORBIDDEN', bound_to: work.root, is_copy: true },
    });
    expect(readFileSync(project.path('ledger/events.jsonl'), 'utf8')).toBe(ledger);
    expect(readFileSync(join(project.root, 'a'), 'utf8')).toBe('in the copy');
    expect((await work.project.cli(['status'])).code).toBe(0);
  });

  it('53: while the daemon of the original runs, its copy does not talk to it', async () => {
    const { work, project } = await copied();
    await work.project.startDaemon();
    cpSync(work.project.path('run'), project.path('run'), {
      recursive: true,
      force: true,
      // What is in use comes and goes while it is copied.
      filter: (path) => !path.endsWith('.sock') && !path.endsWith('/settle'),
    });
    const { code, stderr } = await project.cli(['checkpoint', '-m', 'x']);
    expect([code, stderr]).toEqual([77, expect.stringContaining('belongs to')]);
  });

  it('52: a moved project is refused, and goes on where it was when that is asked for', async () => {
    const { work, commit, project } = await copied();
    rmSync(work.root, { recursive: true });
    const { code, stderr } = await project.cli(['log']);
    expect([code, stderr]).toEqual([77, expect.stringContaining('moved')]);
    await project.json(['start', '--rebind']);
    const moved = new Work(project, await project.socket());
    expect((await moved.log())[0]?.commit_id).toBe(commit);
    await project.cli(['stop']);
    // Asked for once, it stays so.
    expect((await project.cli(['log'])).code).toBe(0);
  });

  it('53: a copy made a project of its own has the history and leaves the first alone', async () => {
    const { work, commit, project } = await copied((path) => !path.endsWith('/run'));
    await project.json(['start', '--rebind']);
    const copy = new Work(project, await project.socket());
    copy.put({ a: 'in the copy' });
    await copy.restore(commit);
    expect(copy.read('a')).toBe('0');
    expect(work.read('a')).toBe('0');
    copy.put({ a: 'again' });
    await copy.save('only here');
    const first = await Work.start(work.project);
    expect((await first.log()).map(({ message }) => message)).not.toContain('only here');
  });
});
