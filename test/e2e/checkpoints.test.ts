import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../support/daemon-project.js';
import {
  git,
  gitView,
  sharedWork,
  type Opened,
  type SentMessage,
  type Work,
} from '../support/work.js';
import { until } from '../support/until.js';

const ID = /^[0-9a-f]{40}$/u;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;
const NONE = { added: 0, modified: 0, deleted: 0 };

describe('what the calls answer', () => {
  const shared = sharedWork();

  it('create_dialog opens a dialog with a first checkpoint', async () => {
    const work = shared();
    work.put({ 'a.txt': 'one\n' });
    const dialog = await work.call<Opened>('create_dialog', { title: 'First' });
    expect(dialog).toEqual({
      dialog_id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/u),
      title: 'First',
      initial_checkpoint: expect.stringMatching(ID),
      active_session: 'session_1',
    });
    expect(await work.call('list_checkpoints')).toEqual({
      dialog_id: dialog.dialog_id,
      initial_checkpoint: dialog.initial_checkpoint,
      checkpoints: [
        {
          commit_id: dialog.initial_checkpoint,
          message: 'Initial checkpoint: First',
          kind: 'initial',
          session: 'main',
          created_at: expect.stringMatching(ISO),
          changed: { added: 1, modified: 0, deleted: 0 },
        },
      ],
    });
  });

  it('create_checkpoint tells what changed and list_checkpoints shows it, newest first', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '1', b: '1' });
    work.put({ a: '2', b: null, c: '1' });
    const saved = await work.save('by hand');
    expect(saved).toEqual({
      commit_id: expect.stringMatching(ID),
      message: 'by hand',
      session: 'session_1',
      changed: { added: 1, modified: 1, deleted: 1 },
      skipped: [],
      duration_ms: expect.any(Number),
    });
    const [newest, oldest, ...rest] = await work.log();
    expect(newest).toEqual({
      commit_id: saved.commit_id,
      message: 'by hand',
      kind: 'manual',
      session: 'session_1',
      created_at: expect.stringMatching(ISO),
      changed: { added: 1, modified: 1, deleted: 1 },
    });
    expect([oldest?.commit_id, rest]).toEqual([initial, []]);
  });

  it('every kind is kept, and an unknown one is refused', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    for (const kind of ['manual', 'pre_commit', 'session_start']) {
      work.put({ a: kind });
      await work.call('create_checkpoint', { kind });
    }
    const kinds = (await work.log()).map(({ kind }) => kind);
    expect(kinds).toEqual(['session_start', 'pre_commit', 'manual', 'initial']);
    const { data } = await work.refusal('create_checkpoint', { kind: 'initial' });
    expect(data['code']).toBe('INVALID_PARAMS');
  });

  it('user_message saves first, counts up and names the checkpoint by its first 50 characters', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    const long = `${'ab cd '.repeat(20)}end`;
    const first = await work.call<SentMessage>('user_message', { content: long });
    expect(first).toEqual({
      checkpoint: expect.stringMatching(ID),
      session: 'session_1',
      message_index: 0,
    });
    const exact = '\u{1f600}'.repeat(50);
    const second = await work.call<SentMessage>('user_message', { content: exact });
    const third = await work.call<SentMessage>('user_message', { content: 'two\nlines' });
    expect([second.message_index, third.message_index]).toEqual([1, 2]);
    expect(new Set([first, second, third].map(({ checkpoint }) => checkpoint)).size).toBe(3);
    expect((await work.log()).map(({ message, kind }) => [message, kind])).toEqual([
      ['Before user message: two lines', 'message'],
      [`Before user message: ${exact}`, 'message'],
      [`Before user message: ${long.slice(0, 50)}...`, 'message'],
      ['Initial checkpoint: a test', 'initial'],
    ]);
  });

  it('a message sent twice with one message_id is one message', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    const params = { content: 'hello', message_id: 'm-1' };
    const first = await work.call<SentMessage>('user_message', params);
    work.put({ a: '1' });
    expect(await work.call('user_message', params)).toEqual(first);
    const [again, other] = await Promise.all([
      work.call<SentMessage>('user_message', { ...params, message_id: 'm-2' }),
      work.call<SentMessage>('user_message', { ...params, message_id: 'm-2' }),
    ]);
    expect(again).toEqual(other);
    expect(again.message_index).toBe(1);
    expect(await work.log()).toHaveLength(3);
  });

  it('a message holds what was on disk before it, without a change too', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    const { checkpoint } = await work.call<SentMessage>('user_message', { content: 'nothing new' });
    expect(checkpoint).not.toBe(initial);
    expect(await work.treeId(checkpoint)).toBe(await work.treeId(initial));
  });

  it('pages through all checkpoints of all sessions without losing or repeating one', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    for (const content of ['1', '2', '3']) {
      work.put({ a: content });
      await work.save(content);
    }
    await work.call('approve');
    for (const content of ['4', '5']) {
      work.put({ a: content });
      await work.save(content);
    }
    const all = (await work.log()).map(({ commit_id: id }) => id);
    expect(all).toHaveLength(7);
    const paged: string[] = [];
    for (let before: string | undefined; paged.length < 20;) {
      const page = await work.log({ limit: 2, ...(before === undefined ? {} : { before }) });
      if (page.length === 0) break;
      paged.push(...page.map(({ commit_id: id }) => id));
      before = page.at(-1)?.commit_id;
    }
    expect(paged).toEqual(all);
    const names = (await work.log({ session: 'session_2' })).map(({ message }) => message);
    expect(names.slice(0, 2)).toEqual(['5', '4']);
    const { data } = await work.refusal('list_checkpoints', { session: 'session_9' });
    expect(data['code']).toBe('SESSION_NOT_FOUND');
  });

  it('a dialog is made by the first call that needs one', async () => {
    const work = shared();
    const { dialog_id: id } = await work.fresh();
    await work.call('delete_dialog', { dialog_id: id });
    const { dialogs } = await work.call<{ dialogs: { id: string }[] }>('list_dialogs');
    for (const dialog of dialogs) await work.call('delete_dialog', { dialog_id: dialog.id });
    expect(await work.call('list_dialogs')).toEqual({ dialogs: [], current_dialog_id: null });
    work.put({ a: '1' });
    const { commit_id: commit } = await work.save();
    expect(await work.content(commit, 'a')).toEqual(Buffer.from('1'));
  });

  it('every command of S3-51 works inside checkpoints/, and git finds nothing wrong', async () => {
    const work = shared();
    const { dialog_id: id } = await work.fresh({ 'src/a.txt': 'one\n' });
    work.put({ 'src/a.txt': 'two\n' });
    await work.save('in session 1');
    await work.call('approve', { message: 'Good' });
    work.put({ 'src/a.txt': 'three\n' });
    await work.save('in session 2');
    const inside = (...args: string[]): string => git(work.checkpoints(id), args);
    expect(inside('branch', '-a').replaceAll(/[* ]/gu, '')).toBe('main\nsession_1\nsession_2\n');
    // Within one second the order of both parents is git's own affair.
    const subjects = inside('log', 'main', '--oneline').replaceAll(/^\w+ /gmu, '').trim();
    expect(subjects.split('\n').sort()).toEqual([
      'Good',
      'Initial checkpoint: a test',
      'in session 1',
    ]);
    expect(inside('log', 'session_2', '--oneline')).toMatch(/^\w+ in session 2\n/u);
    expect(inside('log', 'main..session_2', '--oneline')).toMatch(/^\w+ in session 2\n$/u);
    expect(inside('diff', 'main', 'session_2')).toContain('-two\n+three\n');
    expect(inside('log', '--merges', 'main', '--oneline')).toMatch(/^\w+ Good\n$/u);
    expect(inside('log', '--all', '--graph', '--oneline')).toContain('in session 2');
    expect(await work.fsck()).toBe('');
  });
});

describe('capture', () => {
  const shared = sharedWork();

  it('1: nothing changed: the same tip, zeros, no new checkpoint, unless it is named', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ a: '0' });
    const again = await work.save();
    expect([again.commit_id, again.changed]).toEqual([initial, NONE]);
    work.put({ a: '1' });
    const saved = await work.save();
    work.put({ a: '2' });
    work.put({ a: '1' });
    const same = await work.save();
    expect([same.commit_id, same.changed]).toEqual([saved.commit_id, NONE]);
    expect(await work.log()).toHaveLength(2);
    const named = await work.save('a name');
    expect(named.commit_id).not.toBe(saved.commit_id);
    expect(named.changed).toEqual(NONE);
    expect(await work.treeId(named.commit_id)).toBe(await work.treeId(saved.commit_id));
  });

  it('1: nothing changed: an event still says that it was checked, and no line is written', async () => {
    const work = shared();
    const { dialog_id: id, initial_checkpoint: initial } = await work.fresh({ a: '0' });
    const listener = await work.project.socket();
    const { result } = await listener.call('subscribe', { types: ['checkpoint'] });
    const { ledger } = await work.call<{ ledger: object }>('status');
    await work.save();
    expect(await listener.event('checkpoint')).toMatchObject({
      what: 'checked',
      dialog_id: id,
      commit_id: initial,
      session: 'session_1',
      changed: NONE,
    });
    expect(await work.call('status')).toMatchObject({ ledger });
    await work.save('named');
    const heard = await until('the second event has come', () => {
      const events = listener.received.flatMap(({ event }) => (event === undefined ? [] : [event]));
      return events.length === 2 && events;
    });
    expect(heard.map(({ what }) => what)).toEqual(['checked', undefined]);
    expect(heard[0]?.['cursor']).not.toBe(result?.['cursor']);
    listener.destroy();
  });

  it('2: modify, add and delete in one step are one checkpoint that lists all three', async () => {
    const work = shared();
    await work.fresh({ 'd/m': '0', 'd/gone': '0', same: '0' });
    work.put({ 'd/m': '1', 'd/gone': null, 'new/x': '1' });
    const { commit_id: commit, changed } = await work.save();
    expect(changed).toEqual({ added: 1, modified: 1, deleted: 1 });
    expect(Object.keys(await work.tree(commit))).toEqual(['d/m', 'new/x', 'same']);
    expect(await work.treeId(commit)).toBe(gitView(work.root));
  });

  it('is of what there is now, whatever was noticed and made ready before', async () => {
    const work = shared();
    await work.fresh({ 'd/a': '0', 'd/b': '0', c: '0' });
    const listener = await work.project.socket();
    await listener.call('subscribe', { types: ['unknown_change'] });
    const toldOf = (path: string) =>
      until(`somebody is told of ${path}`, () =>
        listener.received.some(({ event }) =>
          (event?.['changes'] as { path: string }[] | undefined)?.some((one) => one.path === path),
        ),
      );
    const steps: Readonly<Record<string, string | null>>[] = [
      { 'd/a': 'first', 'd/b': null },
      { 'd/a': 'second', 'new/x': '1' },
      { 'd/a': '0', 'd/b': '0', 'new/x': null },
      { 'd/a': 'first', c: null },
    ];
    for (const [number, step] of steps.entries()) {
      work.put({ ...step, [`told${number}`]: 'x' });
      await toldOf(`told${number}`);
      if (number % 2 === 0) work.put({ 'd/a': `after that ${number}` });
      const { commit_id: commit } = await work.save();
      expect(await work.treeId(commit)).toBe(gitView(work.root));
    }
    expect(await work.fsck()).toBe('');
    listener.destroy();
  });

  it('4: an empty directory gives a valid checkpoint of the empty tree', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh();
    expect(await work.treeId(initial)).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
    expect(await work.fsck()).toBe('');
  });

  it('8: of a hundred rapid writes the last one is saved', async () => {
    const work = shared();
    await work.fresh({ a: '' });
    for (let i = 0; i < 100; i++) writeFileSync(work.at('a'), `write ${i}`);
    const { commit_id: commit, changed } = await work.save();
    expect(changed).toEqual({ added: 0, modified: 1, deleted: 0 });
    expect((await work.content(commit, 'a')).toString()).toBe('write 99');
    expect(await work.log()).toHaveLength(2);
  });

  it('9: a save by temporary file and rename is one modification of the real path', async () => {
    const work = shared();
    await work.fresh({ 'a.txt': 'old' });
    writeFileSync(work.at('a.txt~new'), 'new');
    renameSync(work.at('a.txt~new'), work.at('a.txt'));
    const { commit_id: commit, changed } = await work.save();
    expect(changed).toEqual({ added: 0, modified: 1, deleted: 0 });
    expect(Object.keys(await work.tree(commit))).toEqual(['a.txt']);
    expect((await work.content(commit, 'a.txt')).toString()).toBe('new');
  });

  it('10: a file under constant rewriting is saved whole or as it was, and stops no other', async () => {
    const work = shared();
    const block = 64 * 1024;
    await work.fresh({ busy: 'a'.repeat(block), calm: '0' });
    // Each write replaces the whole content by one of another letter, in place and in one call.
    const program = `
      const { openSync, writeSync } = require('node:fs');
      const fd = openSync(process.argv[1], 'r+');
      for (let i = 0; ; i++) writeSync(fd, String.fromCharCode(97 + (i % 26)).repeat(${block}), 0);
    `;
    const words = ['-e', program, work.at('busy')];
    const writer = spawn(process.execPath, words, { stdio: 'ignore' });
    try {
      await until('the writer writes', () => !readFileSync(work.at('busy')).includes('aaaa'));
      for (let i = 0; i < 10; i++) {
        work.put({ calm: String(i) });
        const { commit_id: commit } = await work.save(`${i}`);
        const content = await work.content(commit, 'busy');
        expect([content.length, new Set(content).size]).toEqual([block, 1]);
        expect((await work.content(commit, 'calm')).toString()).toBe(String(i));
      }
    } finally {
      writer.kill('SIGKILL');
    }
  });

  it('12: two processes ask at once: both are answered, one after the other, nothing lost', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const other = await work.project.socket();
    const names = Array.from({ length: 10 }, (_, i) => `ask ${i}`);
    const answers = await Promise.all(
      names.map((message, i) =>
        (i % 2 === 0 ? work.socket : other).call('create_checkpoint', { message }),
      ),
    );
    const ids = answers.map(({ result }) => result?.['commit_id']);
    expect(new Set(ids).size).toBe(10);
    const listed = await work.log();
    expect(listed.map(({ commit_id: id }) => id)).toEqual(expect.arrayContaining(ids));
    const id = await work.current();
    const parents = git(work.checkpoints(id), ['rev-list', '--first-parent', 'session_1']);
    expect(parents.trim().split('\n')).toHaveLength(11);
  });
});

describe('names and types', () => {
  const shared = sharedWork();

  /** Saves, changes everything, restores: the disk must be what it was. */
  async function roundTrip(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
    const work = shared();
    await work.fresh(files);
    const before = work.disk();
    const { commit_id: commit } = await work.save('kept');
    expect(Object.keys(await work.tree(commit)).sort()).toEqual(Object.keys(files).sort());
    expect(await work.treeId(commit)).toBe(gitView(work.root));
    for (const path of Object.keys(files)) work.put({ [path]: null });
    work.put({ other: 'x' });
    await work.save('gone');
    const { skipped } = await work.restore(commit);
    expect(skipped).toEqual([]);
    expect(work.disk()).toEqual(before);
  }

  it('13: spaces, dashes, leading dashes and quotes', () =>
    roundTrip({
      'with space': '1',
      ' leading and trailing ': '2',
      '-rf': '3',
      '--': '4',
      'quo"te': '5',
      "apo'strophe": '6',
      'back\\slash': '7',
      '-d/--x': '8',
      '$HOME `x` ;&|': '9',
    }));

  it('14: accents in both forms and emoji', async () => {
    await roundTrip({
      'caf\u00e9': 'NFC',
      'cafe\u0301': 'NFD',
      '\u65e5\u672c\u8a9e/\u{1f600}.txt': 'smile',
      '\u202eright to left': 'x',
    });
  });

  it('15: glob characters and colons are letters like others', () =>
    roundTrip({
      ':(glob)dir/x': '1',
      ':/top': '2',
      '*': '3',
      '[a]/b?c': '4',
      '!bang': '5',
      '#hash': '6',
      '{a,b}': '7',
    }));

  it('16: newlines, tabs and control characters', () =>
    roundTrip({ 'new\nline': '1', 'tab\there': '2', 'bell\u0007': '3', 'cr\r': '4' }));

  it('17: a name that is not UTF-8 is skipped by name, and stays on disk', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    const odd = Buffer.concat([Buffer.from(`${work.root}/odd-`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(odd, 'kept');
    work.put({ a: '1' });
    const { commit_id: commit, skipped } = await work.save();
    expect(skipped).toEqual([{ path: expect.stringContaining('odd-'), reason: 'not_utf8' }]);
    expect(Object.keys(await work.tree(commit))).toEqual(['a']);
    work.put({ a: '2' });
    await work.restore(commit);
    expect([work.read('a'), readFileSync(odd, 'utf8')]).toEqual(['1', 'kept']);
    rmSync(odd);
  });

  it('18: very long names and paths', () =>
    roundTrip({
      [`${'d'.repeat(200)}/${'e'.repeat(200)}/${'f'.repeat(200)}`]: 'deep',
      ['n'.repeat(255)]: 'longest name',
    }));

  it('20: paths that differ only in case are both kept', () =>
    roundTrip({ 'Read.me': '1', 'read.me': '2', 'Dir/x': '3', 'dir/x': '4' }));

  it('21: links to a file, to a directory, to nothing and to each other are links', async () => {
    const work = shared();
    await work.fresh({ 'd/file': '1' });
    const links = { 'to-file': 'd/file', 'to-dir': 'd', dangling: 'no/where', a: 'b', b: 'a' };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, work.at(name));
    const before = work.disk();
    const { commit_id: commit } = await work.save();
    const tree = await work.tree(commit);
    expect(Object.keys(tree)).toEqual(['a', 'b', 'd/file', 'dangling', 'to-dir', 'to-file']);
    expect(Object.values(tree).filter((entry) => entry.startsWith('120000 '))).toHaveLength(5);
    expect(await work.treeId(commit)).toBe(gitView(work.root));
    for (const name of Object.keys(links)) rmSync(work.at(name));
    work.put({ 'to-file': 'now a file' });
    await work.restore(commit);
    expect(work.disk()).toEqual(before);
  });

  it('22: a link out of the root is stored as a link and never followed', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    const outside = `${work.project.folder}-outside`;
    mkdirSync(outside);
    try {
      writeFileSync(`${outside}/secret`, 'theirs');
      symlinkSync(outside, work.at('out'));
      const { commit_id: commit } = await work.save();
      expect(Object.keys(await work.tree(commit))).toEqual(['a', 'out']);
      rmSync(work.at('out'));
      work.put({ 'out/secret': 'ours' });
      const { commit_id: folder } = await work.save();
      await work.restore(commit);
      expect(work.disk()).toEqual({ a: 'file 0', out: `link ${outside}` });
      await work.restore(folder);
      expect(work.disk()).toEqual({ a: 'file 0', 'out/secret': 'file ours' });
      expect(readFileSync(`${outside}/secret`, 'utf8')).toBe('theirs');
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it('24: a file that becomes a directory and back', async () => {
    const work = shared();
    const { initial_checkpoint: file } = await work.fresh({ x: 'file', 'y/z': 'folder' });
    work.put({ x: null, y: null });
    work.put({ 'x/deep/er': 'folder', y: 'file' });
    const { commit_id: folder } = await work.save();
    expect(await work.treeId(folder)).toBe(gitView(work.root));
    await work.restore(file);
    expect(work.disk()).toEqual({ x: 'file file', 'y/z': 'file folder' });
    await work.restore(folder);
    expect(work.disk()).toEqual({ 'x/deep/er': 'file folder', y: 'file file' });
  });

  it('25: FIFOs and sockets are skipped by name and never touched', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    expect(spawnSync('mkfifo', [work.at('pipe')]).status).toBe(0);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(work.at('sock'), resolve));
    try {
      const { commit_id: commit, skipped } = await work.save('with special files');
      expect([...skipped].sort((x, y) => (x.path < y.path ? -1 : 1))).toEqual([
        { path: 'pipe', reason: 'special' },
        { path: 'sock', reason: 'special' },
      ]);
      expect(Object.keys(await work.tree(commit))).toEqual(['a']);
      work.put({ a: '1' });
      await work.restore(commit);
      expect(work.disk()).toEqual({ a: 'file 0', pipe: 'special', sock: 'special' });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('26: the executable bit counts, other permission bits do not', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ run: '#!/bin/sh\n', plain: 'x' });
    chmodSync(work.at('plain'), 0o600);
    expect((await work.save()).commit_id).toBe(initial);
    chmodSync(work.at('run'), 0o755);
    const { commit_id: commit, changed } = await work.save();
    expect(changed).toEqual({ added: 0, modified: 1, deleted: 0 });
    expect((await work.tree(commit))['run']).toMatch(/^100755 /u);
    await work.restore(initial);
    expect(work.disk()['run']).toMatch(/^file /u);
    await work.restore(commit);
    expect(work.disk()['run']).toMatch(/^program /u);
  });

  it('27: empty directories are recorded and restored', async () => {
    const work = shared();
    const { initial_checkpoint: none } = await work.fresh({ a: '0' });
    mkdirSync(work.at('empty/inner'), { recursive: true });
    const { commit_id: some } = await work.save();
    expect(some).not.toBe(none);
    expect(await work.treeId(some)).toBe(await work.treeId(none));
    rmSync(work.at('empty'), { recursive: true });
    const { commit_id: removed } = await work.save();
    expect(removed).not.toBe(some);
    await work.restore(some);
    expect(work.disk()).toEqual({ a: 'file 0', 'empty/inner/': 'empty folder' });
    await work.restore(none);
    expect(work.disk()).toEqual({ a: 'file 0' });
  });

  it('27: empty directories beyond ten thousand are left out by name, and a restore leaves them', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0' });
    for (let number = 0; number < 10_003; number++) {
      mkdirSync(work.at(`many/${String(number).padStart(5, '0')}`), { recursive: true });
    }
    const { skipped } = await work.save('many');
    const left = ['many/10000', 'many/10001', 'many/10002'];
    expect(skipped).toEqual(left.map((path) => ({ path, reason: 'too_many' })));
    await work.restore(first);
    expect(readdirSync(work.at('many')).map((name) => `many/${name}`)).toEqual(left);
  }, 240_000);

  it('28: hidden files of the project are kept, private ones are not', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({
      '.editorconfig': 'root = true\n',
      '.github/workflows/ci.yml': 'on: push\n',
      '.gitignore': '*.log\n',
      '.cache/x': 'x',
      '.hidden': 'x',
      visible: 'x',
    });
    expect(Object.keys(await work.tree(initial))).toEqual([
      '.editorconfig',
      '.github/workflows/ci.yml',
      '.gitignore',
      'visible',
    ]);
  });

  it('29: binary files are kept to the byte', () =>
    roundTrip({
      'all.bin': Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7) % 256)),
      'zeros.bin': Buffer.alloc(300_000),
    }));

  it('30: empty files, missing final newlines, CRLF, mixed endings and BOM', () =>
    roundTrip({
      empty: '',
      'no-newline': 'x',
      crlf: 'a\r\nb\r\n',
      mixed: 'a\r\nb\nc\r',
      bom: '\ufefftext\n',
    }));

  it('31: attributes that convert have no effect on what is kept', () =>
    roundTrip({
      '.gitattributes':
        '* text=auto eol=crlf ident\n*.x filter=upper working-tree-encoding=UTF-16\n',
      'a.txt': 'one\ntwo\r\n$Id$\n',
      'b.x': 'not UTF-16\n',
    }));
});

describe('what is left out', () => {
  const shared = sharedWork();

  it('33: root, nested and negated ignore rules are honoured', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({
      '.gitignore': '*.log\n/only-root\nout/\n!keep.log\n',
      'a.log': 'x',
      'keep.log': 'x',
      'only-root': 'x',
      'sub/only-root': 'x',
      'sub/.gitignore': '!*.log\nlocal\n',
      'sub/b.log': 'x',
      'sub/local': 'x',
      'out/x': 'x',
      'sub/out/x': 'x',
    });
    expect(Object.keys(await work.tree(initial))).toEqual([
      '.gitignore',
      'keep.log',
      'sub/.gitignore',
      'sub/b.log',
      'sub/only-root',
    ]);
    expect(await work.treeId(initial)).toBe(gitView(work.root));
  });

  it('34: a file that becomes ignored is no longer saved, stays on disk and in history', async () => {
    const work = shared();
    const { initial_checkpoint: before } = await work.fresh({ 'a.txt': '0', 'data.bin': 'kept' });
    work.put({ '.gitignore': 'data.bin\n' });
    const { commit_id: after } = await work.save();
    expect(Object.keys(await work.tree(after))).toEqual(['.gitignore', 'a.txt']);
    expect(await work.treeId(after)).toBe(gitView(work.root));
    work.put({ 'data.bin': 'changed while ignored' });
    expect((await work.save()).commit_id).toBe(after);
    expect((await work.content(before, 'data.bin')).toString()).toBe('kept');
    await work.restore(after);
    expect(work.read('data.bin')).toBe('changed while ignored');
  });

  it('37: a file inside an ignored directory that `include` names is captured and restored', async () => {
    const work = shared();
    await work.fresh({ '.gitignore': 'out/\n', 'out/kept/a': '0', 'out/other': 'x', b: 'b' });
    await work.call('update_config', { include: ['out/kept/a'] });
    try {
      const { commit_id: commit } = await work.save();
      expect(Object.keys(await work.tree(commit))).toEqual(['.gitignore', 'b', 'out/kept/a']);
      work.put({ 'out/kept/a': '1', 'out/other': 'y' });
      const { changed } = await work.save();
      expect(changed).toEqual({ ...NONE, modified: 1 });
      await work.restore(commit);
      expect([work.read('out/kept/a'), work.read('out/other')]).toEqual(['0', 'y']);
    } finally {
      await work.call('update_config', { include: [] });
    }
  });

  it('37: the user\u2019s index has no say: an ignored file stays out though git tracks it', async () => {
    const work = shared();
    const files = { '.gitignore': 'out/\n', 'out/forced': '0', b: 'b' };
    const { initial_checkpoint: initial } = await work.fresh(files);
    git(work.root, ['init', '-q']);
    git(work.root, ['add', '-f', 'out/forced', 'b']);
    const index = readFileSync(work.at('.git/index'));
    work.put({ 'out/forced': '1', b: 'c' });
    const { commit_id: commit } = await work.save();
    expect(Object.keys(await work.tree(commit))).toEqual(['.gitignore', 'b']);
    await work.restore(initial);
    expect([work.read('out/forced'), work.read('b')]).toEqual(['1', 'b']);
    expect(readFileSync(work.at('.git/index')).equals(index)).toBe(true);
  });

  it('42: secrets stay out unless they are named', async () => {
    const work = shared();
    const files = { '.env': 'KEY=1', 'server.pem': 'key', a: '0' };
    const { initial_checkpoint: initial } = await work.fresh(files);
    expect(Object.keys(await work.tree(initial))).toEqual(['a']);
    await work.call('update_config', { include: ['server.pem'] });
    try {
      const { commit_id: named } = await work.save();
      expect(Object.keys(await work.tree(named))).toEqual(['a', 'server.pem']);
    } finally {
      await work.call('update_config', { include: [] });
    }
  });

  it('38: a file over the cap is named as skipped and not touched by a restore', async () => {
    const work = shared();
    await work.call('update_config', { maxFileBytes: 1000 });
    try {
      const { initial_checkpoint: initial } = await work.fresh({ a: '0', big: 'b'.repeat(1001) });
      expect(Object.keys(await work.tree(initial))).toEqual(['a']);
      work.put({ a: '1' });
      const saved = await work.save();
      expect(saved.skipped).toEqual([{ path: 'big', reason: 'too_large' }]);
      await work.restore(initial);
      expect(work.disk()).toEqual({ a: 'file 0', big: `file ${'b'.repeat(1001)}` });
    } finally {
      await work.call('update_config', { maxFileBytes: 52_428_800 });
    }
  });

  it('40: a file that crosses the cap is neither deleted nor overwritten by a restore', async () => {
    const work = shared();
    await work.call('update_config', { maxFileBytes: 1000 });
    const [small, big] = ['small', 'b'.repeat(1001)];
    try {
      const { initial_checkpoint: grew } = await work.fresh({ grows: small, shrinks: big });
      work.put({ grows: big, shrinks: small });
      const { commit_id: later } = await work.save('later');
      expect(Object.keys(await work.tree(later))).toContain('shrinks');
      await work.restore(grew);
      expect([work.read('grows'), work.read('shrinks')]).toEqual([big, small]);
      await work.restore(later);
      expect([work.read('grows'), work.read('shrinks')]).toEqual([big, small]);
    } finally {
      await work.call('update_config', { maxFileBytes: 52_428_800 });
    }
  });

  it('41: an ignored directory is never walked', async () => {
    const work = shared();
    await work.fresh({ '.gitignore': 'ignored/\n', a: '0' });
    const inotify = (): number => {
      const pid = work.project.daemonFile()?.pid ?? 0;
      const folders = readdirSync(`/proc/${pid}/fdinfo`);
      return folders
        .map((fd) => readIfThere(`/proc/${pid}/fdinfo/${fd}`))
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('inotify ')).length;
    };
    await work.save();
    const watches = inotify();
    // Folders, a FIFO that would block a reader, and a link that would lead a walker in circles.
    for (let i = 0; i < 200; i++)
      work.put({ [`ignored/d${i}/x`]: 'x', [`node_modules/m${i}/x`]: 'x' });
    expect(spawnSync('mkfifo', [work.at('ignored/pipe')]).status).toBe(0);
    symlinkSync('..', work.at('ignored/loop'));
    work.put({ a: '1' });
    const { commit_id: commit, skipped } = await work.save();
    await work.call('rescan');
    expect(Object.keys(await work.tree(commit))).toEqual(['.gitignore', 'a']);
    expect(skipped).toEqual([]);
    expect(inotify()).toBe(watches);
    const { watcher } = await work.call<{ watcher: { dirs: number; files: number } }>('status');
    expect([watcher.files, watcher.dirs]).toEqual([2, 1]);
  });
});

describe('left out by the settings of git and of the user', () => {
  const shared = sharedWork({ env: { XDG_CONFIG_HOME: undefined } }, (project) => {
    git(project.root, ['init', '-q']);
    writeFileSync(join(project.root, '.git/info/exclude'), '*.private\n');
  });

  it('33: .git/info/exclude is honoured, and changes of it too', async () => {
    const work = shared();
    work.put({ 'a.private': 'x', 'b.other': 'x' });
    const { initial_checkpoint: first } = await work.call<Opened>('create_dialog');
    expect(Object.keys(await work.tree(first))).toEqual(['b.other']);
    writeFileSync(work.at('.git/info/exclude'), '*.other\n');
    await work.call('rescan');
    const { commit_id: second } = await work.save();
    expect(Object.keys(await work.tree(second))).toEqual(['a.private']);
  });
});

describe('left out by the global excludes of the user', () => {
  const home = temporaryFolder();
  const shared = sharedWork({ env: { HOME: home } }, () => {
    mkdirSync(join(home, '.config/git'), { recursive: true });
    writeFileSync(join(home, '.config/git/ignore'), '*.global\n');
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it('33: they are honoured without a repository', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ 'a.global': 'x', b: 'x' });
    expect(Object.keys(await work.tree(first))).toEqual(['b']);
  });
});

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Everything of the user's repository that a checkpoint must not change. */
function userState(root: string): Record<string, string> {
  const files = readdirSync(join(root, '.git'), { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const bytes = readFileSync(path).toString('latin1');
        return [path.slice(root.length + 1), `${statSync(path).mtimeMs} ${bytes}`];
      }),
  );
}

describe('inside a repository of the user', () => {
  const shared = sharedWork();

  /** A repository with one commit, made anew. */
  function repository(work: Work, ...more: string[]): void {
    git(work.root, ['init', '-q', '-b', 'trunk', ...more]);
    git(work.root, ['add', '-A']);
    git(work.root, ['commit', '-q', '-m', 'first']);
  }

  it('5: without any commit yet', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    git(work.root, ['init', '-q']);
    const before = userState(work.root);
    work.put({ a: '1' });
    const { commit_id: commit } = await work.save();
    expect(await work.treeId(commit)).toBe(gitView(work.root));
    expect(userState(work.root)).toEqual(before);
  });

  it('with a damaged object: the files themselves are read', async () => {
    const work = shared();
    await work.fresh();
    work.put({ a: 'whole\n', b: randomBytes(20_000) });
    repository(work);
    const id = git(work.root, ['rev-parse', ':b']).trim();
    const object = work.at(`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`);
    chmodSync(object, 0o600);
    // Its head still says what it is.
    truncateSync(object, 10_000);
    const { initial_checkpoint: commit } = await work.call<Opened>('create_dialog', { title: 'x' });
    expect(Object.keys(await work.tree(commit))).toEqual(['a', 'b']);
    expect(await work.content(commit, 'b')).toEqual(readFileSync(work.at('b')));
  });

  it('6: `git init` midway: capture goes on, nothing of it is captured', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    work.put({ a: '1' });
    await work.save();
    repository(work);
    expect((await work.save()).changed).toEqual(NONE);
    work.put({ a: '2' });
    const { commit_id: commit, changed } = await work.save();
    expect(changed).toEqual({ added: 0, modified: 1, deleted: 0 });
    expect(Object.keys(await work.tree(commit))).toEqual(['a']);
    expect(await work.log()).toHaveLength(3);
  });

  it('43: nested repositories are content, their .git is not entered', async () => {
    const work = shared();
    await work.fresh({ a: '0', 'bare-of-commits/x': '0', 'with-commits/y': '0' });
    repository(work);
    git(work.at('bare-of-commits'), ['init', '-q']);
    git(work.at('with-commits'), ['init', '-q']);
    git(work.at('with-commits'), ['add', '-A']);
    git(work.at('with-commits'), ['commit', '-q', '-m', 'inner']);
    const before = [userState(work.at('with-commits')), userState(work.at('bare-of-commits'))];
    work.put({ 'with-commits/y': '1', 'bare-of-commits/x': '1' });
    const { commit_id: commit } = await work.save();
    expect(Object.keys(await work.tree(commit))).toEqual([
      'a',
      'bare-of-commits/x',
      'with-commits/y',
    ]);
    work.put({ 'with-commits/y': '2' });
    await work.restore(commit);
    expect(work.read('with-commits/y')).toBe('1');
    const after = [userState(work.at('with-commits')), userState(work.at('bare-of-commits'))];
    expect(after).toEqual(before);
  });

  it('44: submodules, clean, dirty or not there, are content', async () => {
    const work = shared();
    await work.fresh({ a: '0', 'lib/x': '0' });
    git(work.at('lib'), ['init', '-q']);
    git(work.at('lib'), ['add', '-A']);
    git(work.at('lib'), ['commit', '-q', '-m', 'inner']);
    writeFileSync(
      work.at('.gitmodules'),
      '[submodule "lib"]\n\tpath = lib\n\turl = ./lib\n[submodule "none"]\n\tpath = none\n\turl = ./none\n',
    );
    repository(work);
    const { commit_id: clean } = await work.save('clean');
    work.put({ 'lib/x': 'dirty' });
    const { commit_id: dirty } = await work.save('dirty');
    expect(Object.keys(await work.tree(clean))).toEqual(['.gitmodules', 'a', 'lib/x']);
    expect((await work.content(dirty, 'lib/x')).toString()).toBe('dirty');
    expect(git(work.root, ['ls-files', '--stage', 'lib'])).toMatch(/^160000 /u);
  });

  it('46: index versions and flags change nothing', async () => {
    const work = shared();
    await work.fresh({ a: '0', b: '0', 'd/c': '0', 'e/f': '0' });
    repository(work);
    git(work.root, ['update-index', '--index-version', '4']);
    git(work.root, ['update-index', '--split-index']);
    git(work.root, ['update-index', '--assume-unchanged', 'a']);
    git(work.root, ['update-index', '--skip-worktree', 'b']);
    work.put({ a: '1', b: '1', 'd/c': '1' });
    const { commit_id: flagged, changed } = await work.save();
    expect(changed).toEqual({ added: 0, modified: 3, deleted: 0 });
    expect(await work.treeId(flagged)).toBe(gitView(work.root));
    git(work.root, ['update-index', '--no-assume-unchanged', 'a']);
    git(work.root, ['update-index', '--no-skip-worktree', 'b']);
    git(work.root, ['checkout', '-q', '--', '.']);
    git(work.root, ['sparse-checkout', 'set', '--cone', 'd']);
    const { commit_id: sparse } = await work.save();
    expect(Object.keys(await work.tree(sparse))).toEqual(['a', 'b', 'd/c']);
    expect(await work.treeId(sparse)).toBe(gitView(work.root));
  });

  it('47: in the middle of a merge with conflicts, of a rebase, on a detached HEAD', async () => {
    const work = shared();
    await work.fresh({ a: 'base\n' });
    repository(work);
    git(work.root, ['checkout', '-q', '-b', 'side']);
    work.put({ a: 'side\n' });
    git(work.root, ['commit', '-q', '-a', '-m', 'side']);
    git(work.root, ['checkout', '-q', 'trunk']);
    work.put({ a: 'trunk\n' });
    git(work.root, ['commit', '-q', '-a', '-m', 'trunk']);
    for (const operation of ['merge', 'rebase']) {
      expect(() => git(work.root, [operation, 'side'])).toThrow('ended with 1');
      const before = userState(work.root);
      const { commit_id: commit } = await work.save(operation);
      expect((await work.content(commit, 'a')).toString()).toContain('<<<<<<<');
      work.put({ a: 'being resolved\n' });
      await work.restore(commit);
      expect(work.read('a')).toContain('<<<<<<<');
      expect(userState(work.root)).toEqual(before);
      git(work.root, [operation, '--abort']);
    }
    git(work.root, ['checkout', '-q', '--detach', 'side']);
    const before = userState(work.root);
    const { commit_id: detached } = await work.save('detached');
    expect((await work.content(detached, 'a')).toString()).toBe('side\n');
    expect(userState(work.root)).toEqual(before);
  });

  it('48: staged work stays staged: HEAD, refs, index, config and objects are byte-identical', async () => {
    const work = shared();
    await work.fresh({ a: '0', b: '0' });
    repository(work);
    work.put({ a: 'staged', c: 'staged' });
    git(work.root, ['add', '-A']);
    work.put({ a: 'staged and changed' });
    const before = userState(work.root);
    const { commit_id: commit } = await work.save();
    work.put({ a: 'later', b: null });
    await work.call('user_message', { content: 'hello' });
    await work.restore(commit);
    await work.call('undo');
    await work.call('approve');
    await work.call('reset');
    expect(userState(work.root)).toEqual(before);
    expect(git(work.root, ['status', '--porcelain'])).not.toContain('agentsmithy');
  });

  it('49: commits, branches and resets of the user: a restore changes files only', async () => {
    const work = shared();
    await work.fresh({ a: '0', b: '0' });
    repository(work);
    work.put({ a: '1' });
    const { commit_id: commit } = await work.save();
    git(work.root, ['commit', '-q', '-a', '-m', 'second']);
    git(work.root, ['checkout', '-q', '-b', 'other', 'HEAD~']);
    work.put({ b: null, c: 'new' });
    git(work.root, ['add', '-A']);
    git(work.root, ['commit', '-q', '-m', 'third']);
    const before = userState(work.root);
    await work.restore(commit);
    expect(work.disk()).toEqual({ a: 'file 1', b: 'file 0' });
    expect(userState(work.root)).toEqual(before);
    await work.call('undo');
    expect(work.disk()).toEqual({ a: 'file 0', c: 'file new' });
    expect(userState(work.root)).toEqual(before);
  });

  it('50: `git gc --prune=now` of the user takes nothing from us', async () => {
    const work = shared();
    await work.fresh({ a: 'seeded from the objects of the user', b: '0' });
    repository(work);
    const { initial_checkpoint: initial } = await work.call<Opened>('create_dialog');
    work.put({ a: 'replaced', b: 'replaced' });
    git(work.root, ['add', '-A']);
    git(work.root, ['commit', '-q', '--amend', '-m', 'other']);
    git(work.root, ['reflog', 'expire', '--expire=now', '--all']);
    git(work.root, ['gc', '-q', '--prune=now']);
    await work.restore(initial);
    expect(work.disk()).toEqual({ a: 'file seeded from the objects of the user', b: 'file 0' });
    expect(await work.fsck()).toBe('');
  });
});

describe('in a linked worktree', () => {
  const main = temporaryFolder();
  const shared = sharedWork({}, (project) => {
    writeFileSync(join(main, 'a'), '0');
    git(main, ['init', '-q', '-b', 'trunk']);
    git(main, ['add', '-A']);
    git(main, ['commit', '-q', '-m', 'first']);
    git(main, ['worktree', 'add', '-q', project.root]);
  });
  afterAll(() => rmSync(main, { recursive: true, force: true }));

  it('45: it has its own history and the other one is not touched', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.call<Opened>('create_dialog');
    expect(Object.keys(await work.tree(initial))).toEqual(['a']);
    const before = userState(main);
    work.put({ a: '1', b: '1' });
    await work.save();
    await work.restore(initial);
    expect(work.disk()).toEqual({ a: 'file 0' });
    expect(readFileSync(join(main, 'a'), 'utf8')).toBe('0');
    expect(userState(main)).toEqual(before);
    expect(git(work.root, ['status', '--porcelain'])).toBe('');
  });
});

describe('with a hostile environment', () => {
  const trap = temporaryFolder();
  const env = {
    HOME: trap,
    GIT_DIR: join(trap, 'elsewhere'),
    GIT_WORK_TREE: trap,
    GIT_INDEX_FILE: join(trap, 'index'),
    GIT_OBJECT_DIRECTORY: join(trap, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(trap, 'alternates'),
    GIT_NAMESPACE: 'ns',
    GIT_TEMPLATE_DIR: join(trap, 'template'),
    GIT_EXTERNAL_DIFF: 'false',
    GIT_AUTHOR_DATE: 'never',
    GIT_DEFAULT_HASH: 'sha256',
  };
  const shared = sharedWork({ env }, (project) => {
    const hooks = join(trap, 'hooks');
    mkdirSync(hooks);
    for (const name of ['pre-commit', 'reference-transaction', 'post-index-change']) {
      writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${trap}/ran\nexit 1\n`, { mode: 0o755 });
    }
    const settings = `[core]\n\thooksPath = ${hooks}\n\tautocrlf = true\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n[init]\n\ttemplateDir = ${hooks}\n\tdefaultBranch = odd\n[fetch]\n\tfsckObjects = true\n`;
    writeFileSync(join(trap, '.gitconfig'), settings);
    git(project.root, ['init', '-q']);
    writeFileSync(
      join(project.root, '.git/config'),
      `${readFileSync(join(project.root, '.git/config'), 'utf8')}${settings}`,
    );
  });
  afterAll(() => rmSync(trap, { recursive: true, force: true }));

  it('51: GIT_ variables, hooks, signing and templates have no effect', async () => {
    const work = shared();
    work.put({ a: 'one\r\n', b: '0' });
    const { initial_checkpoint: initial } = await work.call<Opened>('create_dialog');
    work.put({ a: 'two\n', b: null });
    const { commit_id: commit } = await work.save();
    await work.call('approve');
    await work.restore(initial);
    expect(work.disk()).toEqual({ a: 'file one\r\n', b: 'file 0' });
    expect((await work.content(commit, 'a')).toString()).toBe('two\n');
    expect(await work.fsck()).toBe('');
    expect(readdirSync(trap).sort()).toEqual(['.gitconfig', 'hooks']);
  });
});
