import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { CommitId, Path } from '../../src/core/model.js';
import type { FileChange } from '../../src/core/store.js';
import {
  AT,
  DIALOG,
  file,
  git,
  gone,
  hashOf,
  onTop,
  openStore,
  OTHER,
  temporaryFolder,
} from './helpers.js';

const ODD_NAMES = [
  'plain.txt',
  'with space',
  ' leading and trailing ',
  'new\nline',
  '"quoted"',
  'mid"quote',
  'back\\slash',
  '-dash',
  '--also-dash',
  'tab\there',
  'ünïcödé/日本/🙂',
  'e\u0301 decomposed',
  ':(glob)*',
  '.gitignore',
  '.hidden/.deep/file',
  'a/b/c/d/e/f/g',
  'a.b/x',
  'a-b/x',
  'a/x',
  'n'.repeat(255),
];

describe('a commit', () => {
  it('has the tree that git itself makes of the same files', async () => {
    const { store, checkpoints } = await openStore();
    const project = temporaryFolder();
    const changes: FileChange[] = [];
    for (const [number, name] of ODD_NAMES.entries()) {
      const content = Buffer.from(
        number % 2 === 0 ? `content ${number}\r\n` : [0, 255, 13, 10, number],
      );
      const isProgram = number % 3 === 0;
      mkdirSync(dirname(join(project, name)), { recursive: true });
      writeFileSync(join(project, name), content);
      if (isProgram) chmodSync(join(project, name), 0o755);
      changes.push(file(name, content, isProgram ? '100755' : '100644'));
    }
    writeFileSync(join(project, 'empty'), '');
    symlinkSync('../outside\nodd', join(project, 'link'));
    mkdirSync(join(project, 'bare/folder'), { recursive: true });
    changes.push(file('empty', ''), file('link', '../outside\nodd', '120000'));
    git(project, 'init', '-q');
    git(project, 'add', '-A', '-f');
    const folders = ['bare/folder', 'naïve\nfolder'] as Path[];
    const id = await store.commit(onTop(null, changes, { emptyFolders: folders }));
    const commit = await store.readCommit(id);
    expect(commit.tree).toBe(git(project, 'write-tree').trim());
    expect(commit.emptyFolders).toEqual(folders);
    expect(git(checkpoints, 'rev-parse', 'session_1').trim()).toBe(id);
    const tree = await store.tree(id);
    expect([...tree.keys()].sort()).toEqual([...ODD_NAMES, 'empty', 'link'].sort());
    expect(tree.get('link' as Path)).toEqual({ mode: '120000', hash: hashOf('../outside\nodd') });
    for (const [path, entry] of tree) expect(await store.fileAt(id, path)).toEqual(entry);
  });

  it('starts from its base: adds, changes and removes only what it names', async () => {
    const { store } = await openStore();
    const first = await store.commit(
      onTop(null, [file('a', '1'), file('d/b', '2'), file('d/c', '3')]),
    );
    const second = await store.commit(onTop(first, [file('d/c', '4'), gone('a'), file('e', '5')]));
    const entries = [...(await store.tree(second))].map(([path, { hash }]) => [path, hash]);
    expect(entries).toEqual([
      ['d/b', hashOf('2')],
      ['d/c', hashOf('4')],
      ['e', hashOf('5')],
    ]);
    const third = await store.commit(onTop(second, [gone('d/b'), gone('d/c')]));
    expect([...(await store.tree(third)).keys()]).toEqual(['e']);
  });

  it('lets a file stand where a folder was, and the other way round', async () => {
    const { store } = await openStore();
    const first = await store.commit(onTop(null, [file('x/y', '1'), file('z', '2')]));
    const second = await store.commit(
      onTop(first, [file('x', 'file'), gone('x/y'), file('z/deep', 'folder'), gone('z')]),
    );
    expect([...(await store.tree(second)).keys()]).toEqual(['x', 'z/deep']);
    const at = (path: string) => store.fileAt(second, path as Path);
    expect(await at('z/deep')).toEqual({ mode: '100644', hash: hashOf('folder') });
    for (const none of ['z', 'x/y', 'z/none', 'none/deep']) expect(await at(none)).toBeNull();
  });

  it('can take any tree and any parents, as an approval and a restore need', async () => {
    const { store } = await openStore();
    const first = await store.commit(onTop(null, [file('a', '1')]));
    await store.setBranches(DIALOG, [{ name: 'main', to: first, expected: null }]);
    const work = await store.commit(onTop(first, [file('a', '2'), file('b', '2')]));
    const approval = await store.commit(
      onTop(first, [], { branch: 'main', parents: [first, work], base: work, message: 'Approve' }),
    );
    const [merged, worked] = [await store.readCommit(approval), await store.readCommit(work)];
    expect(merged.parents).toEqual([first, work]);
    expect(merged.tree).toBe(worked.tree);
    const back = await store.commit(
      onTop(work, [], { base: first, message: `Restored to ${first}` }),
    );
    expect((await store.readCommit(back)).tree).toBe((await store.readCommit(first)).tree);
    const anew = await store.commit(onTop(back, [file('only', 'x')], { base: null }));
    expect([...(await store.tree(anew)).keys()]).toEqual(['only']);
    const emptied = await store.commit(onTop(anew, [gone('only')]));
    expect((await store.tree(emptied)).size).toBe(0);
  });

  it('keeps message and trailers apart, whatever the message looks like', async () => {
    const { store, checkpoints } = await openStore();
    const message = 'Before user message: x\n\nSession: forged\nKind: forged';
    const trailers = { Session: 'session_1', Kind: 'message', 'Event-Id': 'evt-000007' };
    const id = await store.commit(onTop(null, [file('a', '1')], { message, trailers }));
    expect(await store.readCommit(id)).toMatchObject({
      id,
      parents: [],
      at: AT,
      message,
      trailers: { 'Dialog-Id': DIALOG, ...trailers },
      emptyFolders: [],
    });
    const kinds = git(checkpoints, 'log', '--format=%(trailers:key=Kind,valueonly)', 'session_1');
    expect(kinds.trim()).toBe('message');
  });

  it('remembers thousands of empty folders', async () => {
    const { store } = await openStore();
    const folders = Array.from({ length: 3000 }, (_, number) => `deep/folder-${number}/ü` as Path);
    const id = await store.commit(onTop(null, [file('a', '1')], { emptyFolders: folders }));
    expect((await store.readCommit(id)).emptyFolders).toEqual(folders);
  });

  it('of very many files goes before and after small ones, every pack flushed', async () => {
    const flushed: string[] = [];
    const flush = (path: string): Promise<void> => {
      flushed.push(path);
      return Promise.resolve();
    };
    const { store, checkpoints, state } = await openStore({ flush });
    const many = (version: number): FileChange[] =>
      Array.from({ length: 1_200 }, (_, number) =>
        file(`d/${number}`, `${number} of ${version}\n`.repeat(20)),
      );
    let tip: CommitId | null = null;
    for (let version = 0; version < 2; version++) {
      tip = await store.commit(onTop(tip, [file('a', `before ${version}`)]));
      tip = await store.commit(onTop(tip, many(version)));
      tip = await store.commit(onTop(tip, [file('a', `after ${version}`)]));
    }
    expect(git(checkpoints, 'show', 'session_1:a')).toBe('after 1');
    expect(git(checkpoints, 'show', 'session_1:d/1199')).toBe('1199 of 1\n'.repeat(20));
    expect(git(checkpoints, 'rev-list', '--count', 'session_1').trim()).toBe('6');
    const folder = join(state, 'store', 'objects', 'pack');
    const packs = readdirSync(folder).filter((name) => name.endsWith('.pack'));
    expect(packs.filter((name) => !flushed.includes(join(folder, name)))).toEqual([]);
  });

  it('streams a large file', async () => {
    const { store, checkpoints } = await openStore();
    const chunk = Buffer.alloc(1024 * 1024, 'large ');
    const chunks = Array.from({ length: 20 }, (_, number) =>
      Buffer.concat([chunk, Buffer.from([number])]),
    );
    const whole = Buffer.concat(chunks);
    const content = () => ({ size: whole.length, chunks: Readable.from(chunks) });
    const large = { path: 'large' as Path, mode: '100644', hash: hashOf(whole), content } as const;
    const id = await store.commit(onTop(null, [large, file('small', 'x')]));
    const stream = await store.streamBlob(hashOf(whole));
    expect(stream.size).toBe(whole.length);
    const parts: Uint8Array[] = [];
    for await (const part of stream.chunks) parts.push(part);
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
    expect((await store.readBlob(hashOf(whole))).equals(whole)).toBe(true);
    expect(git(checkpoints, 'rev-parse', `${id}:large`).trim()).toBe(hashOf(whole));
  });
});

describe('a commit that cannot be', () => {
  it('is refused when the branch is elsewhere, and moves nothing', async () => {
    const { store } = await openStore();
    const first = await store.commit(onTop(null, [file('a', '1')]));
    const second = await store.commit(onTop(first, [file('a', '2')]));
    await expect(store.commit(onTop(first, [file('a', '3')]))).rejects.toMatchObject({
      code: 'BUSY',
      data: { branch: 'session_1', expected: first, actual: second },
    });
    await expect(store.commit(onTop(null, [file('a', '3')]))).rejects.toMatchObject({
      code: 'BUSY',
    });
    expect((await store.branches(DIALOG)).get('session_1')).toBe(second);
  });

  it('has one winner among many writers', async () => {
    const { store } = await openStore();
    const first = await store.commit(onTop(null, [file('a', '1')]));
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, number) =>
        store.commit(onTop(first, [file('a', `${number}`)])),
      ),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it.each(['buffer', 'stream that got shorter', 'stream that got longer'])(
    'is refused when content is not what its hash says: %s',
    async (kind) => {
      const { store } = await openStore();
      const first = await store.commit(onTop(null, [file('a', '1')]));
      const size = kind.endsWith('shorter') ? 3_000_000 : 3;
      const wrong = {
        ...file('b', 'expected'),
        content: () =>
          kind === 'buffer'
            ? Buffer.from('changed')
            : { size, chunks: Readable.from([Buffer.from('changed')]) },
      };
      const request = onTop(first, [file('c', 'good'), wrong]);
      await expect(store.commit(request)).rejects.toMatchObject({
        code: 'STALE_READ',
        data: { path: 'b', expected: hashOf('expected') },
      });
      expect((await store.branches(DIALOG)).get('session_1')).toBe(first);
      const again = await store.commit(onTop(first, [file('c', 'good'), file('b', 'expected')]));
      expect([...(await store.tree(again)).keys()]).toEqual(['a', 'b', 'c']);
    },
  );

  it('is refused when its content cannot be read, and the next one is fine', async () => {
    const { store } = await openStore();
    const broken: FileChange = {
      ...file('b', 'x'),
      content: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' })),
    };
    await expect(store.commit(onTop(null, [broken]))).rejects.toThrow('gone');
    await store.commit(onTop(null, [file('b', 'x')]));
  });

  it.each([
    '.git/config',
    'sub/.GIT/hooks/x',
    '../x',
    'a//b',
    '/etc/passwd',
    'a/./b',
    '.agentsmithy/x',
    '',
  ])('is refused for the path %j, and the next one is fine', async (path) => {
    const { store } = await openStore();
    const first = await store.commit(onTop(null, [file('a', '1')]));
    await expect(
      store.commit(onTop(first, [file('ok', '1'), file(path, 'x')])),
    ).rejects.toMatchObject({
      code: 'PATH_PROTECTED',
    });
    const second = await store.commit(onTop(first, [file('b', '2')]));
    expect((await store.readCommit(second)).parents).toEqual([first]);
  });

  it('is refused when it names content the store does not have', async () => {
    const { store } = await openStore();
    const bare = { path: 'a' as Path, mode: '100644', hash: hashOf('nowhere') } as const;
    await expect(store.commit(onTop(null, [bare]))).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      data: { path: 'a' },
    });
    await store.writeBlobs([{ hash: hashOf('nowhere'), content: () => Buffer.from('nowhere') }]);
    const id = await store.commit(onTop(null, [bare]));
    expect((await store.readBlob(hashOf('nowhere'))).toString()).toBe('nowhere');
    expect([...(await store.tree(id)).keys()]).toEqual(['a']);
  });

  it('is refused beyond the limit before anything is written', async () => {
    const { store } = await openStore({ limitBytes: () => 100_000 });
    const first = await store.commit(onTop(null, [file('a', '1')]));
    const { bytes } = store.sizes();
    await expect(
      store.commit(onTop(first, [file('b', Buffer.alloc(200_000))])),
    ).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      data: { limit: 'store.limitBytes', value: 100_000 },
    });
    expect(store.sizes().bytes).toBe(bytes);
  });

  it('is refused for a dialog, a branch or an id that is none', async () => {
    const { store } = await openStore();
    await expect(store.commit(onTop(null, [], { dialog: OTHER }))).rejects.toMatchObject({
      code: 'DIALOG_NOT_FOUND',
    });
    await expect(store.commit(onTop(null, [], { dialog: '../x' }))).rejects.toMatchObject({
      code: 'DIALOG_NOT_FOUND',
    });
    await expect(store.commit(onTop(null, [], { branch: '../../x' }))).rejects.toMatchObject({
      code: 'NAME_INVALID',
    });
    await expect(store.readCommit('--help' as CommitId)).rejects.toMatchObject({
      code: 'CHECKPOINT_NOT_FOUND',
    });
  });
});
