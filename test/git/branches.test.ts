import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CommitId, Path } from '../../src/core/model.js';
import { layoutOf } from '../../src/git/layout.js';
import { holdBranch } from '../../src/git/refs.js';
import { createSpareFiles } from '../../src/git/spare-files.js';
import { AT, DIALOG, file, git, gone, hashOf, onTop, openStore, type Opened } from './helpers.js';

/** An approved session, an active one and an abandoned one. */
async function story({ store }: Opened) {
  const initial = await store.commit(
    onTop(null, [file('a', 'one\n'), file('b', 'two\n')], { branch: 'main' }),
  );
  await store.setBranches(DIALOG, [{ name: 'session_1', to: initial, expected: null }]);
  const work = await store.commit(
    onTop(initial, [file('a', 'changed\n')], { message: 'first work' }),
  );
  const approved = await store.commit(
    onTop(initial, [], {
      branch: 'main',
      parents: [initial, work],
      base: work,
      message: 'Approve session_1',
    }),
  );
  await store.setBranches(DIALOG, [{ name: 'session_2', to: approved, expected: null }]);
  const more = await store.commit(
    onTop(approved, [file('c', 'three\n')], {
      branch: 'session_2',
      message: 'second work',
      at: AT + 5000,
    }),
  );
  return { initial, work, approved, more };
}

describe('the repository of a dialog', () => {
  it('answers every command a person may type in checkpoints/', async () => {
    const opened = await openStore();
    const { approved, more, initial } = await story(opened);
    const { checkpoints } = opened;
    expect(git(checkpoints, 'branch', '-a').match(/\w+$/gmu)).toEqual([
      'main',
      'session_1',
      'session_2',
    ]);
    expect(git(checkpoints, 'log', 'main', '--oneline').trim().split('\n')).toHaveLength(3);
    expect(git(checkpoints, 'log', 'session_2', '--oneline').trim().split('\n')).toHaveLength(4);
    expect(git(checkpoints, 'log', 'main..session_2', '--oneline')).toBe(
      `${more.slice(0, 7)} second work\n`,
    );
    expect(git(checkpoints, 'diff', 'main', 'session_2')).toContain('+three');
    expect(git(checkpoints, 'log', '--merges', 'main', '--oneline')).toBe(
      `${approved.slice(0, 7)} Approve session_1\n`,
    );
    expect(git(checkpoints, 'log', '--all', '--graph', '--oneline')).toContain(initial.slice(0, 7));
    expect(git(checkpoints, 'show', 'session_2:c')).toBe('three\n');
  });

  it('moves several branches together or none', async () => {
    const opened = await openStore();
    const { store } = opened;
    const { initial, work, approved, more } = await story(opened);
    await store.setBranches(DIALOG, [
      { name: 'session_1', to: null, expected: work },
      { name: 'session_3', to: approved, expected: null },
      { name: 'main', to: more, expected: approved },
    ]);
    const after = new Map([
      ['main', more],
      ['session_2', more],
      ['session_3', approved],
    ]);
    expect(await store.branches(DIALOG)).toEqual(after);
    const wrong = [
      { name: 'session_9', to: initial, expected: null },
      { name: 'main', to: initial, expected: approved },
    ];
    await expect(store.setBranches(DIALOG, wrong)).rejects.toMatchObject({ code: 'BUSY' });
    const missing = '1'.repeat(40) as CommitId;
    await expect(
      store.setBranches(DIALOG, [
        { name: 'session_8', to: initial, expected: null },
        { name: 'session_9', to: missing, expected: null },
      ]),
    ).rejects.toMatchObject({ code: 'STORAGE_IO' });
    expect(await store.branches(DIALOG)).toEqual(after);
  });

  it.each(['g'.repeat(40), 'ab', '`'.padEnd(40, '0')])(
    'gets a branch back whose file says %s',
    async (words) => {
      const opened = await openStore();
      const { store, checkpoints } = opened;
      const { approved, more } = await story(opened);
      writeFileSync(join(checkpoints, '.git/refs/heads/main'), `${words}\n`);
      expect((await store.branches(DIALOG)).get('main')).toBeUndefined();
      await store.setBranches(DIALOG, [{ name: 'main', to: approved, expected: null }]);
      expect((await store.branches(DIALOG)).get('main')).toBe(approved);
      // And so is one that a checkpoint moves.
      writeFileSync(join(checkpoints, '.git/refs/heads/session_2'), `${words}\n`);
      await store.setBranches(DIALOG, [{ name: 'session_2', to: more, expected: null }]);
      expect(git(checkpoints, 'log', '-1', '--format=%H', 'session_2').trim()).toBe(more);
    },
  );

  it('is understood after a person has packed the refs or looked at another branch', async () => {
    const opened = await openStore();
    const { store, checkpoints } = opened;
    const { more, approved } = await story(opened);
    git(checkpoints, 'pack-refs', '--all');
    git(checkpoints, 'symbolic-ref', 'HEAD', 'refs/heads/session_2');
    expect((await store.branches(DIALOG)).get('session_2')).toBe(more);
    const next = await store.commit(onTop(more, [file('d', '4')], { branch: 'session_2' }));
    expect((await store.branches(DIALOG)).get('main')).toBe(approved);
    expect((await store.branches(DIALOG)).get('session_2')).toBe(next);
    await store.setBranches(DIALOG, [
      {
        name: 'session_1',
        to: null,
        expected: (await store.branches(DIALOG)).get('session_1') ?? null,
      },
    ]);
    expect((await store.open()).mended).toEqual([]);
    expect([...(await store.branches(DIALOG)).keys()].sort()).toEqual(['main', 'session_2']);
  });

  it('gives its history page by page', async () => {
    const opened = await openStore();
    const { store } = opened;
    const { initial, approved, more } = await story(opened);
    const ids = async (query: Parameters<typeof store.log>[1]) =>
      (await store.log(DIALOG, query)).map(({ id }) => id);
    expect(await ids({ branch: 'session_2', limit: 10 })).toEqual([more, approved, initial]);
    expect(await ids({ branch: 'session_2', limit: 1 })).toEqual([more]);
    expect(await ids({ branch: 'session_2', limit: 1, before: more })).toEqual([approved]);
    expect(await ids({ branch: 'session_2', limit: 10, without: approved })).toEqual([more]);
    expect(await ids({ branch: 'session_7', limit: 10 })).toEqual([]);
    const [newest] = await store.log(DIALOG, { branch: 'session_2', limit: 1 });
    expect(newest).toMatchObject({
      message: 'second work',
      at: AT + 5000,
      trailers: { Kind: 'manual' },
    });
  });

  it('says what changed between two commits, and finds renames', async () => {
    const { store } = await openStore();
    const text = 'a line that is long enough to be recognised\n'.repeat(20);
    const first = await store.commit(
      onTop(null, [file('old name', text), file('b', '1'), file('c', '1'), file('p', '#!')]),
    );
    const second = await store.commit(
      onTop(first, [
        gone('old name'),
        file('new\nname', `${text}more\n`),
        file('b', '2'),
        gone('c'),
        file('e', '5'),
        file('p', '#!', '100755'),
      ]),
    );
    const entry = (content: string, mode = '100644') => ({ mode, hash: hashOf(content) });
    expect(await store.compare(first, second)).toEqual([
      { path: 'b', change: 'modified', before: entry('1'), after: entry('2') },
      { path: 'c', change: 'deleted', before: entry('1'), after: null },
      { path: 'e', change: 'added', before: null, after: entry('5') },
      {
        path: 'new\nname',
        from: 'old name',
        change: 'renamed',
        before: entry(text),
        after: entry(`${text}more\n`),
      },
      { path: 'p', change: 'modified', before: entry('#!'), after: entry('#!', '100755') },
    ]);
    expect((await store.compare(null, first)).map(({ path }) => path)).toEqual([
      'b',
      'c',
      'old name',
      'p',
    ]);
    expect(await store.compare(first, first)).toEqual([]);
  });

  it('tells differences as git does without renames, files that became folders included', async () => {
    const { store, checkpoints } = await openStore();
    const first = await store.commit(
      onTop(null, [
        file('a/b/same', '0'),
        file('a/b/edited', '1'),
        file('a/file', '1'),
        file('a.txt', '1'),
        file('folder/x', '1'),
        file('folder/deep/y', '1'),
        file('moved', 'content'),
        file('link', 'target', '120000'),
        ...Array.from({ length: 90 }, (_, number) => file(`many/${number}/f`, `${number}`)),
      ]),
    );
    const second = await store.commit(
      onTop(first, [
        file('a/b/edited', '2', '100755'),
        gone('a/file'),
        file('a/file/inside', '2'),
        gone('folder/x'),
        gone('folder/deep/y'),
        file('folder', 'now a file'),
        gone('moved'),
        file('ü/"n\new" name', 'content'),
        file('link', 'elsewhere', '120000'),
        ...Array.from({ length: 90 }, (_, number) => file(`many/${number}/f`, `${number}!`)),
      ]),
    );
    const told = async (a: CommitId, b: CommitId) =>
      (await store.differences(a, b)).map(({ path, change, before, after }) => {
        const letter = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' }[change];
        const side = (one: typeof before) =>
          `${one?.mode ?? '000000'} ${one?.hash ?? '0'.repeat(40)}`;
        return `${letter} ${side(before)} ${side(after)} ${path}`;
      });
    const expected = (a: CommitId, b: CommitId) => {
      const fields = git(checkpoints, 'diff-tree', '-r', '-z', '--no-renames', a, b).split('\0');
      const lines: string[] = [];
      for (let at = 0; at + 1 < fields.length; at += 2) {
        const [before, after, was, is, letter] = (fields[at] ?? '').slice(1).split(' ');
        lines.push(
          `${letter ?? ''} ${before ?? ''} ${was ?? ''} ${after ?? ''} ${is ?? ''} ${fields[at + 1] ?? ''}`,
        );
      }
      return lines;
    };
    expect(await told(first, second)).toEqual(expect.arrayContaining(expected(first, second)));
    expect(await told(first, second)).toHaveLength(expected(first, second).length);
    expect((await told(second, first)).toSorted()).toEqual(expected(second, first).toSorted());
    expect(await told(first, first)).toEqual([]);
    const paths = (await store.differences(first, second)).map(({ path }) => path);
    expect(paths).toEqual(paths.toSorted((a, b) => (a < b ? -1 : 1)));
  });

  it('says which contents it has, and gives them back', async () => {
    const { store } = await openStore();
    const bytes = Buffer.from([0, 1, 2, 255, 10, 13]);
    await store.commit(onTop(null, [file('a', bytes), file('empty', '')]));
    expect(await store.has([hashOf(bytes), hashOf('no')])).toEqual(new Set([hashOf(bytes)]));
    expect((await store.readBlob(hashOf(bytes))).equals(bytes)).toBe(true);
    expect(await store.readBlob(hashOf(''))).toHaveLength(0);
    await expect(store.readBlob(hashOf('no'))).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    const many = await Promise.all(
      Array.from({ length: 200 }, () => store.readBlob(hashOf(bytes))),
    );
    expect(many.every((one) => one.equals(bytes))).toBe(true);
  });
});

describe('a repository that something else made', () => {
  it('is left as it is', async () => {
    const { store, state } = await openStore();
    const foreign = join(state, 'dialogs', 'old', 'checkpoints');
    git(state, 'init', '-q', '-b', 'master', foreign);
    writeFileSync(join(foreign, 'x'), 'x');
    git(foreign, 'add', 'x');
    git(foreign, '-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'old');
    const config = git(foreign, 'config', '--list');
    expect(await store.open()).toMatchObject({ foreign: ['old'], mended: [] });
    expect(git(foreign, 'config', '--list')).toBe(config);
    await expect(store.deleteRepository('old')).rejects.toMatchObject({ code: 'DIALOG_NOT_FOUND' });
  });
});

describe('a path', () => {
  it('comes back from a tree as it went in', async () => {
    const { store } = await openStore();
    const id = await store.commit(onTop(null, [file('tab\tnew\nline"\\', 'x')]));
    expect([...(await store.tree(id)).keys()]).toEqual(['tab\tnew\nline"\\' as Path]);
  });
});

describe('the lock of a branch', () => {
  const OTHER_DISK = '/dev/shm';
  const isElsewhere = (): boolean =>
    statSync(OTHER_DISK, { throwIfNoEntry: false })?.dev !== undefined &&
    statSync(OTHER_DISK).dev !== statSync(tmpdir()).dev;

  it('is taken by one only, and leaves nothing behind', async () => {
    const { state, store } = await openStore();
    const initial = await store.commit(onTop(null, [file('a', 'one\n')], { branch: 'main' }));
    const spares = createSpareFiles(join(state, 'more-spares'));
    await spares.open();
    const where = { branch: 'main', expected: initial, left: new Set<string>(), spares };
    const held = await holdBranch(layoutOf(state), DIALOG, where);
    await expect(holdBranch(layoutOf(state), DIALOG, where)).rejects.toMatchObject({
      code: 'BUSY',
    });
    await expect(store.commit(onTop(initial, [], { branch: 'main' }))).rejects.toMatchObject({
      code: 'BUSY',
    });
    await held.release();
    await spares.close();
    expect(readdirSync(join(state, 'more-spares'))).toEqual([]);
    await store.commit(onTop(initial, [], { branch: 'main' }));
  });

  it('lets go of a branch that it could not read', async () => {
    const { checkpoints, store } = await openStore();
    const initial = await store.commit(onTop(null, [file('a', 'one\n')]));
    const branch = join(checkpoints, '.git/refs/heads/session_1');
    rmSync(branch);
    symlinkSync('nowhere', branch);
    await expect(store.commit(onTop(initial, []))).rejects.toMatchObject({ code: 'ELOOP' });
    rmSync(branch);
    writeFileSync(branch, `${initial}\n`);
    await store.commit(onTop(initial, []));
  });

  (isElsewhere() ? it : it.skip)(
    'needs no second name for a file (needs /dev/shm on another disk)',
    async () => {
      const { state, store } = await openStore();
      const initial = await store.commit(onTop(null, [file('a', 'one\n')], { branch: 'main' }));
      const away = mkdtempSync(join(OTHER_DISK, 'smithyd-spares-'));
      try {
        const spares = createSpareFiles(away);
        await spares.open();
        const layout = layoutOf(state);
        const where = { branch: 'main', expected: initial, left: new Set<string>(), spares };
        const held = await holdBranch(layout, DIALOG, where);
        await held.prepare(initial);
        held.move();
        expect(readFileSync(join(layout.heads(DIALOG), 'main'), 'utf8')).toBe(`${initial}\n`);
        await spares.close();
        expect(readdirSync(away)).toEqual([]);
      } finally {
        rmSync(away, { recursive: true });
      }
    },
  );
});
