/** F73 to F96: files and names that are not like others. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { stateOf } from './aftermath.mjs';
import * as means from './means.mjs';

const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

/** Makes, saves, destroys, restores, compares. */
async function roundTrip(stage, make, destroy) {
  await stage.begin();
  await make();
  const saved = await stage.save('odd');
  const before = stage.disk();
  await destroy();
  await stage.restore(saved.commit_id);
  assert.deepEqual(stage.disk(), before, 'it did not come back as it was');
  return { ...saved, tree: stateOf(stage, stage.dialog, saved.commit_id) };
}

/** What is left out by name stays where it is. */
async function leftOut(stage, path, make) {
  await stage.begin();
  await make();
  stage.untracked.add(path);
  const saved = await stage.save('without it');
  const named = saved.skipped.find((one) => one.path === path);
  assert(named !== undefined, `it is not named: ${JSON.stringify(saved.skipped)}`);
  await stage.restore(stage.first);
  assert(lstatSync(stage.at(path)), 'it is gone');
  return named.reason;
}

const names = (list) => Object.fromEntries(list.map((name, n) => [name, `${n} ${name}\n`]));

function keeps(list) {
  return (stage) =>
    roundTrip(
      stage,
      () => stage.put(names(list)),
      () => stage.put(Object.fromEntries(list.map((name) => [name, null]))),
    ).then(({ changed }) => assert.equal(changed.added, list.length));
}

/** The daemon is nobody's, so that modes count; everything is root's again in the end. */
async function asNobody(stage, run) {
  stage.put({ 'a.txt': 'one\n', 'shut/inside.txt': 'in\n', 'shut.txt': 'shut\n' });
  const own = (user) => execFileSync('chown', ['-R', `${user}:${user}`, stage.root]);
  own(NOBODY);
  await stage.start({ under: AS_NOBODY, env: { HOME: '/nonexistent' } });
  await stage.open();
  await run();
  await stage.daemon.stop();
  own(0);
}

function putAsNobody(stage, files) {
  stage.put(files);
  for (const path of Object.keys(files)) chownSync(stage.at(path), NOBODY, NOBODY);
}

export const oddFiles = [
  {
    id: 'F73',
    what: 'a file over the cap',
    how: '2 MiB with maxFileBytes of 1 MiB',
    fast: true,
    async run(stage) {
      const reason = await leftOut(stage, 'huge.bin', async () => {
        await stage.call('update_config', { maxFileBytes: 1024 * 1024 });
        stage.put({ 'huge.bin': Buffer.alloc(2 * 1024 * 1024, 'h') });
      });
      assert.match(reason, /large/u);
    },
  },
  {
    id: 'F74',
    what: 'a sparse file of 5 GB',
    how: 'truncate',
    async run(stage) {
      await leftOut(stage, 'sparse.img', () => {
        writeFileSync(stage.at('sparse.img'), '');
        truncateSync(stage.at('sparse.img'), 5e9);
      });
      assert(statSync(stage.at('sparse.img')).blocks < 100, 'it takes space now');
      rmSync(stage.at('sparse.img'));
    },
  },
  { id: 'F75', what: 'empty files', how: 'two of them', fast: true, run: emptyFiles },
  {
    id: 'F76',
    what: 'an empty folder',
    how: 'made, removed, restored',
    async run(stage) {
      await roundTrip(
        stage,
        () => mkdirSync(stage.at('hollow/inner'), { recursive: true }),
        () => rmSync(stage.at('hollow'), { recursive: true }),
      );
      assert(existsSync(stage.at('hollow/inner')), 'it is not kept');
    },
  },
  {
    id: 'F77',
    what: 'a FIFO',
    how: 'mkfifo; nobody ever writes to it',
    fast: true,
    async run(stage) {
      await leftOut(stage, 'pipe', () => execFileSync('mkfifo', [stage.at('pipe')]));
    },
  },
  {
    id: 'F78',
    what: 'a socket and a device',
    how: 'a listening socket, mknod',
    needs: means.root,
    async run(stage) {
      execFileSync('mknod', [stage.at('null'), 'c', '1', '3']);
      stage.untracked.add('null');
      const server = createServer().listen(stage.at('s.sock'));
      await once(server, 'listening');
      stage.onEnd(() => server.close());
      await leftOut(stage, 's.sock', () => undefined);
    },
  },
  {
    id: 'F79',
    what: 'links that lead to each other and upwards',
    how: 'a loop, and a link to the root',
    async run(stage) {
      const links = { 'x/one': 'two', 'x/two': 'one', 'x/up': '..' };
      const { changed } = await makeLinks(stage, links);
      assert.equal(changed.added, 3, 'a link was followed');
    },
  },
  {
    id: 'F80',
    what: 'a link to nothing',
    how: 'a dangling link',
    run: (stage) => makeLinks(stage, { 'x/dangling': 'no/such/thing' }),
  },
  {
    id: 'F81',
    what: 'a link out of the project',
    how: 'to a folder beside it',
    fast: true,
    async run(stage) {
      const { tree } = await makeLinks(stage, { 'x/out': stage.outside });
      assert.match(tree['x/out'], /^120000 /u);
      assert(!Object.keys(tree).some((path) => path.includes('canary')), 'it was followed');
    },
  },
  {
    id: 'F82',
    what: 'a name that is no UTF-8',
    how: 'a byte of Latin-1',
    async run(stage) {
      await stage.begin();
      const path = Buffer.from(`${stage.root}/caf\xe9.txt`, 'latin1');
      writeFileSync(path, 'bytes\n');
      stage.untracked.add('caf\xe9.txt');
      // Left out by name, as documented: no path of the wire could name it.
      const { skipped } = await stage.save('without it');
      assert.equal(skipped.length, 1);
      await stage.restore(stage.first);
      assert.equal(readFileSync(path, 'utf8'), 'bytes\n');
    },
  },
  {
    id: 'F83',
    what: 'names with newlines, quotes, backslashes, dashes, spaces and dots',
    how: 'nine such files',
    fast: true,
    run: keeps([
      ...['new\nline', 'tab\there', `qu"ot'e`, 'back\\slash', '-rf', '--help', 'end ', 'end.', ' '],
    ]),
  },
  {
    id: 'F84',
    what: "names that look like git's own folder",
    how: '.GIT, git~1 and .git with an unseen sign',
    async run(stage) {
      await stage.begin();
      const odd = ['.GIT/config', 'git~1', 'git~1x/ok', '.git\u200c/config', 'sub/.Git/hooks/x'];
      stage.put(names(odd));
      const { commit_id: id } = await stage.call('create_checkpoint', { message: 'odd' });
      const tree = stateOf(stage, stage.dialog, id);
      const kept = Object.keys(tree).map((path) => Buffer.from(path, 'latin1').toString());
      const refused = kept.filter((path) => /(^|\/)(\.git[^/]*|git~1)(\/|$)/iu.test(path));
      assert.deepEqual(refused, [], 'a name that is git on another system was stored');
      for (const path of odd) assert(existsSync(stage.at(path)), 'it was touched');
      for (const path of ['.GIT', 'git~1', '.git\u200c', 'sub', 'git~1x'])
        stage.put({ [path]: null });
    },
  },
  {
    id: 'F85',
    what: 'names that differ only in case',
    how: 'three of them',
    run: keeps(['Case', 'case', 'CASE']),
  },
  {
    id: 'F86',
    what: 'one name in two forms of Unicode',
    how: 'composed and decomposed',
    async run(stage) {
      await stage.begin();
      const both = ['caf\u00e9', 'cafe\u0301'];
      stage.put(names(both));
      const { changed } = await stage.save('both');
      assert.equal(changed.added, 2);
    },
  },
  {
    id: 'F87',
    what: 'a name of 255 bytes',
    how: 'written, deleted, restored',
    fast: true,
    run: keeps(['n'.repeat(255), `d/${'m'.repeat(255)}`]),
  },
  {
    id: 'F88',
    what: 'a path longer than the system takes',
    how: '30 folders of 200 bytes with a file at the end',
    async run(stage) {
      await stage.begin();
      deepFolders(stage, 30, 'l'.repeat(200));
      await leaveDeep(stage);
    },
  },
  {
    id: 'F89',
    what: 'folders 10,000 deep',
    how: 'made from inside',
    async run(stage) {
      await stage.begin();
      deepFolders(stage, 10_000, 'd');
      await leaveDeep(stage);
    },
  },
  {
    id: 'F90',
    what: 'files become folders, folders links, links files',
    how: 'every change of kind, and back',
    async run(stage) {
      await roundTrip(
        stage,
        () => {
          stage.put({ 'k/file': 'f\n', 'k/folder/x': 'x\n', 'k/dir/y': 'y\n' });
          symlinkSync('file', stage.at('k/link'));
        },
        () => {
          stage.put({ 'k/file': null, 'k/folder': null, 'k/link': null, 'k/dir': null });
          stage.put({ 'k/file/now a folder': '1\n', 'k/folder': 'now a file\n' });
          stage.put({ 'k/link/now a folder': '2\n' });
          symlinkSync('..', stage.at('k/dir'));
        },
      );
    },
  },
  {
    id: 'F91',
    what: 'two names of one file',
    how: 'a hard link',
    async run(stage) {
      await roundTrip(
        stage,
        () => {
          stage.put({ 'first.txt': 'shared\n' });
          linkSync(stage.at('first.txt'), stage.at('second.txt'));
        },
        () => stage.put({ 'first.txt': 'changed\n' }),
      );
    },
  },
  {
    id: 'F92',
    what: 'a file that may not be read',
    how: 'mode 000, a daemon of another user',
    needs: means.setpriv,
    async run(stage) {
      await asNobody(stage, async () => {
        chmodSync(stage.at('shut.txt'), 0);
        putAsNobody(stage, { 'a.txt': 'two\n' });
        await stage.call('rescan');
        const { commit_id: id, skipped } = await stage.call('create_checkpoint', { message: 'x' });
        assert(skipped.some(({ path }) => path === 'shut.txt') || kept(stage, id, 'shut.txt'));
        const { content } = await stage.call('show', { at: id, path: 'a.txt' });
        assert.equal(content, 'two\n');
        chmodSync(stage.at('shut.txt'), 0o644);
      });
    },
  },
  {
    id: 'F93',
    what: 'a folder that may not be read',
    how: 'mode 000, a daemon of another user',
    needs: means.setpriv,
    async run(stage) {
      await asNobody(stage, async () => {
        chmodSync(stage.at('shut'), 0);
        putAsNobody(stage, { 'a.txt': 'two\n' });
        await stage.call('rescan');
        const { commit_id: id } = await stage.call('create_checkpoint', { message: 'x' });
        assert(kept(stage, id, 'shut/inside.txt'), 'it is called deleted');
        chmodSync(stage.at('shut'), 0o755);
      });
    },
  },
  {
    id: 'F94',
    what: 'a file that cannot be replaced',
    how: 'chattr +i during a restore',
    needs: means.chattr,
    async run(stage) {
      await stage.begin();
      execFileSync('chattr', ['+i', stage.at('a.txt')]);
      stage.onHeal(() => spawnSync('chattr', ['-i', stage.at('a.txt')]));
      const { skipped, deleted } = await stage.call('restore', { checkpoint_id: stage.first });
      assert.deepEqual(
        skipped.map(({ path }) => path),
        ['a.txt'],
      );
      assert.deepEqual(deleted, ['src/new.txt'], 'the rest was not done');
    },
  },
  {
    id: 'F95',
    what: 'executable, setuid and extended attributes',
    how: 'chmod 4755',
    async run(stage) {
      const { tree } = await roundTrip(
        stage,
        () => {
          stage.put({ 'run.sh': '#!/bin/sh\n' });
          chmodSync(stage.at('run.sh'), 0o4755);
        },
        () => stage.put({ 'run.sh': null }),
      );
      assert.match(tree['run.sh'], /^100755 /u);
      // Only the executable bit is kept, as documented.
      assert.equal(statSync(stage.at('run.sh')).mode & 0o7000, 0);
    },
  },
  {
    id: 'F96',
    what: 'repositories inside the project',
    how: 'one without a commit, one with',
    async run(stage) {
      const git = (at, ...args) =>
        execFileSync('git', [
          '-C',
          stage.at(at),
          '-c',
          'user.name=a',
          '-c',
          'user.email=a@b',
          ...args,
        ]);
      await roundTrip(
        stage,
        () => {
          stage.put({ 'bare/f': '1\n', 'with/f': '2\n' });
          for (const at of ['bare', 'with']) git(at, 'init', '-q');
          git('with', 'add', '-A');
          git('with', 'commit', '-qm', 'inner');
        },
        () => stage.put({ 'bare/f': 'x', 'with/f': 'x' }),
      );
      assert(existsSync(stage.at('with/.git/HEAD')), 'their own .git was touched');
      for (const at of ['bare/.git', 'with/.git']) rmSync(stage.at(at), { recursive: true });
    },
  },
];

async function emptyFiles(stage) {
  const empty = { 'empty.txt': '', 'src/empty.js': '' };
  await roundTrip(
    stage,
    () => stage.put(empty),
    () => stage.put({ 'empty.txt': 'full\n', 'src/empty.js': null }),
  );
}

function makeLinks(stage, links) {
  return roundTrip(
    stage,
    () => {
      mkdirSync(stage.at('x'));
      for (const [path, target] of Object.entries(links)) symlinkSync(target, stage.at(path));
    },
    () => stage.put({ x: null }),
  );
}

/** Deeper than any path can say: each folder is made from inside the one before. */
function deepFolders(stage, depth, name) {
  const script = `import os\nos.chdir(${JSON.stringify(stage.root)})\nfor n in ['deep'] + ['${name}'] * ${depth}:\n os.mkdir(n); os.chdir(n)\nopen('end', 'w').write('end')\n`;
  execFileSync('python3', ['-c', script]);
  stage.untracked.add('deep');
}

async function leaveDeep(stage) {
  stage.put({ 'a.txt': 'beside the deep\n' });
  const before = stage.disk();
  const { commit_id: id } = await stage.call('create_checkpoint', { message: 'deep' });
  const tree = stateOf(stage, stage.dialog, id);
  for (const path of Object.keys(before)) assert.equal(tree[path], before[path], path);
  await stage.call('restore', { checkpoint_id: stage.first });
  assert(existsSync(stage.at('deep')), 'it was taken away');
  execFileSync('rm', ['-rf', stage.at('deep')]);
}

function kept(stage, id, path) {
  return (
    spawnSync('git', ['-c', 'safe.directory=*', 'cat-file', '-e', `${id}:${path}`], {
      cwd: stage.path('dialogs', stage.dialog, 'checkpoints'),
      env: {
        ...stage.env,
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
      },
    }).status === 0
  );
}
