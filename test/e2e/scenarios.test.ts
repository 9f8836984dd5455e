import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import {
  git,
  gitView,
  sharedWork,
  Work,
  type Opened,
  type Restored,
  type Saved,
  type SentMessage,
} from '../support/work.js';

const newProject = projectsPerTest();

describe('saving', () => {
  const shared = sharedWork();

  it('11: takes a tool that ran before the message into the state before it, and no other', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    const send = (content: string): Promise<SentMessage> => work.call('user_message', { content });
    // No pause in between: the tool has just ended, the daemon may not have heard of it yet.
    work.put({ a: '1', 'out/of/tool': '1' });
    const first = await send('one');
    work.put({ a: '2', 'out/of/tool': null });
    const second = await send('two');
    expect(await work.content(first.checkpoint, 'a')).toEqual(Buffer.from('1'));
    expect(Object.keys(await work.tree(first.checkpoint))).toEqual(['a', 'out/of/tool']);
    expect(Object.keys(await work.tree(second.checkpoint))).toEqual(['a']);
  });

  it('19: sees a rename that changes only the case as one file, there and back', async () => {
    const work = shared();
    await work.fresh({ 'Read.me': 'text', 'dir/A': '1' });
    const before = work.disk();
    const { commit_id: kept } = await work.save('upper');
    renameSync(work.at('Read.me'), work.at('read.me'));
    renameSync(work.at('dir/A'), work.at('dir/a'));
    const { commit_id: renamed } = await work.save('lower');
    expect(Object.keys(await work.tree(renamed))).toEqual(['dir/a', 'read.me']);
    expect(await work.treeId(renamed)).toBe(gitView(work.root));
    await work.restore(kept);
    expect(work.disk()).toEqual(before);
    await work.call('undo');
    expect(Object.keys(work.disk()).sort()).toEqual(['dir/a', 'read.me']);
  });
});

describe('files that are tracked by LFS', () => {
  const POINTER = [
    'version https://git-lfs.github.com/spec/v1',
    `oid sha256:${'a'.repeat(64)}`,
    'size 12345\n',
  ].join('\n');

  it.each([
    ['with', true],
    ['without', false],
  ])(
    '32: are kept to the byte %s LFS installed, and nothing of it is run',
    async (_, isInstalled) => {
      const project = newProject((folder) => join(folder, 'project'));
      mkdirSync(project.root);
      const marker = join(project.folder, 'lfs-was-run');
      const bin = join(project.folder, 'bin');
      mkdirSync(bin);
      if (isInstalled) {
        // What the real one would do to the bytes, and that it was asked at all.
        writeFileSync(join(bin, 'git-lfs'), `#!/bin/sh\necho "$@" >> '${marker}'\necho smudged\n`);
        chmodSync(join(bin, 'git-lfs'), 0o755);
      }
      git(project.root, ['init', '-q']);
      for (const way of ['clean', 'smudge'])
        git(project.root, ['config', `filter.lfs.${way}`, `git-lfs ${way} -- %f`]);
      git(project.root, ['config', 'filter.lfs.process', 'git-lfs filter-process']);
      git(project.root, ['config', 'filter.lfs.required', 'true']);
      const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
      const work = await Work.start(project, { env: { PATH } });
      const large = Buffer.from(Array.from({ length: 4096 }, (_unused, at) => at % 256));
      await work.fresh({
        '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
        'pointer.bin': POINTER,
        'large.bin': large,
      });
      const before = work.disk();
      const { commit_id: commit } = await work.save('with LFS');
      expect(await work.content(commit, 'large.bin')).toEqual(large);
      work.put({ 'large.bin': 'changed', 'pointer.bin': null });
      await work.save('changed');
      expect((await work.restore(commit)).skipped).toEqual([]);
      expect(work.disk()).toEqual(before);
      expect(existsSync(marker)).toBe(false);
    },
  );
});

describe('many small files', () => {
  it('39: over the ceiling of the store are refused by its name and stay as they are', async () => {
    const work = await Work.start(newProject());
    const { initial_checkpoint: first } = await work.fresh({ a: '0' });
    await work.call('update_config', { store: { limitBytes: 200_000 } });
    for (let number = 0; number < 300; number++) {
      work.put({ [`many/${number}`]: `${number} `.repeat(500) });
    }
    const before = work.disk();
    for (const [method, params] of [
      ['create_checkpoint', {}],
      ['restore', { checkpoint_id: first }],
      ['approve', {}],
      ['reset', {}],
    ] as const) {
      const { data } = await work.refusal(method, params);
      expect(data).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'store.limitBytes' });
      expect(work.disk()).toEqual(before);
    }
    await work.call('update_config', { store: { limitBytes: 5_000_000_000 } });
    const { changed } = await work.save('with room');
    expect(changed).toEqual({ added: 300, modified: 0, deleted: 0 });
    expect(await work.fsck()).toBe('');
  });
});

describe('a project that was moved', () => {
  it('52: keeps its history and restores into the place where it is now', async () => {
    const project = newProject((folder) => join(folder, 'before'));
    mkdirSync(project.root);
    const work = await Work.start(project);
    await work.fresh({ a: '0', 'dir/b': '0' });
    const { commit_id: commit } = await work.save('before the move');
    const before = work.disk();
    work.put({ a: '1', 'dir/b': null });
    await project.cli(['stop']);

    const moved = newProject((folder) => join(folder, 'after'));
    renameSync(project.root, moved.root);
    // Somebody else's folder where it was: nothing may be written there.
    mkdirSync(project.root);
    writeFileSync(join(project.root, 'a'), 'not ours');
    const refused = await moved.cli(['start']);
    expect({ code: refused.code, hint: refused.stderr.includes('--rebind') }).toEqual({
      code: 77,
      hint: true,
    });
    await moved.json(['start', '--rebind']);
    const there = await Work.start(moved);
    expect((await there.log()).map(({ commit_id: id }) => id)).toContain(commit);
    const { restored } = await there.restore(commit);
    expect(restored).toEqual(['a', 'dir/b']);
    expect(there.disk()).toEqual(before);
    expect(work.disk()).toEqual({ a: 'file not ours' });
    expect((await there.project.status()).root).toBe(moved.root);
  });
});

describe('a restore', () => {
  const shared = sharedWork();

  it('57: that keeps what is external leaves and names a file edited by hand; an exact one takes it', async () => {
    const work = shared();
    await work.fresh({ agent: '0', human: '0' });
    const { commit_id: commit } = await work.save('before both');
    work.put({ agent: 'by the agent', human: 'by the human' });
    const careful = await work.restore(commit, { mode: 'keep_external' });
    expect(careful.kept).toContain('human');
    expect(work.read('human')).toBe('by the human');
    const forced = await work.restore(commit, { mode: 'exact' });
    expect(forced.restored).toEqual(['agent', 'human']);
    expect(work.read('human')).toBe('0');
    // Taken, but not lost.
    const saved = await work.content(forced.safety_checkpoint ?? '', 'human');
    expect(saved.toString()).toBe('by the human');
  });

  it('63: of the files of one dialog leaves those of the other', async () => {
    const work = shared();
    const { dialog_id: one } = await work.fresh({ 'one/f': '0', 'two/f': '0' });
    const first = await work.call<Saved>('create_checkpoint', { dialog_id: one, message: '1' });
    const { dialog_id: two } = await work.call<Opened>('create_dialog', { title: 'other' });
    work.put({ 'one/f': 'by one', 'two/f': 'by two' });
    await work.call('create_checkpoint', { dialog_id: one });
    const second = await work.call<Saved>('create_checkpoint', { dialog_id: two, message: '2' });
    await work.restore(first.commit_id, { dialog_id: one, paths: ['one'] });
    expect([work.read('one/f'), work.read('two/f')]).toEqual(['0', 'by two']);
    // The other dialog still has its own view, and can take it back.
    await work.restore(second.commit_id, { dialog_id: two });
    expect([work.read('one/f'), work.read('two/f')]).toEqual(['by one', 'by two']);
    expect(
      (await work.refusal('restore', { checkpoint_id: first.commit_id, dialog_id: two })).data,
    ).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
  });

  it('65: over several steps that changed one file brings the earliest content', async () => {
    const work = shared();
    await work.fresh({ f: 'earliest', g: '0' });
    const steps: SentMessage[] = [];
    for (const content of ['second', 'third', 'fourth']) {
      steps.push(await work.call('user_message', { content }));
      work.put({ f: content, [`of ${content}`]: content });
    }
    const { restored, deleted } = await work.restore(steps[0]?.checkpoint ?? '');
    expect(work.disk()).toEqual({ f: 'file earliest', g: 'file 0' });
    expect([restored, [...deleted].sort()]).toEqual([
      ['f'],
      ['of fourth', 'of second', 'of third'],
    ]);
  });

  it('67: and other calls at the same moment wait for each other: none sees half of it', async () => {
    const work = shared();
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`f${n}`, '0']));
    const { initial_checkpoint: first } = await work.fresh(files);
    const before = work.disk();
    for (const path of Object.keys(files)) work.put({ [path]: '1' });
    const changed = work.disk();
    const kept = await work.save('all changed');
    const [restored, ...saves] = await Promise.all([
      work.restore(first),
      ...Array.from({ length: 5 }, (_, number) => work.save(`meanwhile ${number}`)),
    ]);
    expect(restored.restored).toHaveLength(200);
    expect(work.disk()).toEqual(before);
    // Whichever came first: every one of them is the state before the restore or the one after it.
    const whole = [await work.treeId(first), await work.treeId(kept.commit_id)];
    for (const { commit_id: id } of saves) expect(whole).toContain(await work.treeId(id));
    await work.restore(kept.commit_id);
    expect(work.disk()).toEqual(changed);
  });

  it('70: keeps the text of a user in a file that the agent created', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    const { checkpoint } = await work.call<SentMessage>('user_message', { content: 'make it' });
    work.put({ made: 'by the agent' });
    await work.save('made');
    work.put({ made: 'by the agent, then by the user' });
    const careful = await work.restore(checkpoint, { mode: 'keep_external' });
    expect(careful.deleted).toEqual([]);
    expect(careful.kept).toContain('made');
    expect(work.read('made')).toBe('by the agent, then by the user');
    const exact = await work.restore(checkpoint);
    expect(exact.deleted).toEqual(['made']);
    const back = await work.call<Restored>('undo');
    expect(back.restored).toEqual(['made']);
    expect(work.read('made')).toBe('by the agent, then by the user');
  });
});

describe('a restore that keeps the work of others', () => {
  const shared = sharedWork();

  /** One announced edit of a dialog. */
  async function edited(
    work: Work,
    dialog: string,
    files: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    const named = { files: Object.keys(files), dialog_id: dialog };
    const { edit_id: edit } = await work.call<{ edit_id: string }>('start_edit', named);
    work.put(files);
    await work.call('finalize_edit', { edit_id: edit });
  }

  it('57: takes back what the agent did and leaves what a human wrote', async () => {
    const work = shared();
    const { dialog_id: dialog, initial_checkpoint: first } = await work.fresh({
      agent: '0',
      human: '0',
    });
    await edited(work, dialog, { agent: 'by the agent' });
    work.put({ human: 'by the human' });
    const { restored, kept } = await work.restore(first, { mode: 'keep_external' });
    expect({ restored, kept }).toEqual({ restored: ['agent'], kept: ['human'] });
    expect([work.read('agent'), work.read('human')]).toEqual(['0', 'by the human']);
  });

  it('63: leaves the files of another dialog', async () => {
    const work = shared();
    const { dialog_id: one, initial_checkpoint: first } = await work.fresh({ a: '0', b: '0' });
    const { dialog_id: two } = await work.call<Opened>('create_dialog', { title: 'other' });
    await edited(work, one, { a: 'by one' });
    await edited(work, two, { b: 'by two' });
    const answer = await work.restore(first, { dialog_id: one, mode: 'keep_external' });
    expect({ restored: answer.restored, kept: answer.kept }).toEqual({
      restored: ['a'],
      kept: ['b'],
    });
    expect([work.read('a'), work.read('b')]).toEqual(['0', 'by two']);
  });

  it('64: reports a file that two dialogs changed at the same place and leaves it', async () => {
    const work = shared();
    const { dialog_id: one, initial_checkpoint: first } = await work.fresh({ f: 'line\n' });
    const { dialog_id: two } = await work.call<Opened>('create_dialog', { title: 'other' });
    await edited(work, one, { f: 'line of one\n' });
    await edited(work, two, { f: 'line of one, then of two\n' });
    const { skipped } = await work.restore(first, { dialog_id: one, mode: 'keep_external' });
    expect(skipped).toEqual([{ path: 'f', reason: 'conflict' }]);
    expect(work.read('f')).toBe('line of one, then of two\n');
  });

  it('67: is refused while the file is being edited, and works after it', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ f: '0', g: '0' });
    const { edit_id: edit } = await work.call<{ edit_id: string }>('start_edit', { files: ['f'] });
    work.put({ f: 'half an edit' });
    for (const [method, params] of [
      ['restore', { checkpoint_id: first }],
      ['reset', {}],
    ] as const) {
      const { data } = await work.refusal(method, params);
      expect(data).toMatchObject({ code: 'RESTORE_BLOCKED' });
      expect(work.read('f')).toBe('half an edit');
    }
    await work.call('finalize_edit', { edit_id: edit });
    await work.restore(first);
    expect(work.read('f')).toBe('0');
  });

  it('70: keeps a file that the agent created and the user then edited', async () => {
    const work = shared();
    const { dialog_id: dialog, initial_checkpoint: first } = await work.fresh({ a: '0' });
    await edited(work, dialog, { made: 'by the agent\n', other: 'by the agent\n' });
    work.put({ made: 'by the agent\nand by the user\n' });
    const { deleted } = await work.restore(first, { mode: 'keep_external' });
    expect(deleted).toEqual(['other']);
    expect(work.read('made')).toContain('and by the user');
  });
});
