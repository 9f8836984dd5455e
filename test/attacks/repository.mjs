/** What a cloned repository can bring along: settings, hooks, filters, programs and other repositories. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attach, canTrace } from '../support/strace.mjs';
import { callEverything } from './every-method.mjs';
import { git } from './honeypot.mjs';
import { CLI, digestOf } from './stage.mjs';

const put = (stage) => (files) => stage.put(files);

/** Shows that the trap is one: a careless `git status` springs it. */
function springOnce(stage) {
  stage.honeypot.control();
  assert.ok(existsSync(stage.honeypot.marker), 'the honeypot does not work');
  rmSync(stage.honeypot.marker);
  stage.accept();
}

const everyVerb = async (stage) => {
  await stage.start();
  mkdirSync(join(stage.base, 'archives'));
  await callEverything({
    client: stage.client,
    put: put(stage),
    archive: join(stage.base, 'archives'),
  });
};

/** Programs that were started, by the log of strace. */
function startedIn(log) {
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('execve(') && !line.includes(' = -1 '))
    .map((line) => /execve\("([^"]+)"/u.exec(line)?.[1]);
}

export const CASES = [
  {
    id: 'T1',
    what: 'a monitor command and every other command-capable setting, global and local; every verb called',
    async run(stage) {
      springOnce(stage);
      await everyVerb(stage);
    },
  },
  {
    id: 'T1',
    what: 'the same under strace: no program but git is started by any verb',
    needs: () => (canTrace() ? undefined : 'strace may not look into processes here'),
    async run(stage) {
      await stage.start();
      const log = join(stage.base, 'strace.log');
      const args = ['-e', 'trace=execve', '-e', 'signal=none', '-o', log];
      const trace = await attach(stage.info().pid, args, { follow: true });
      stage.after(() => trace.stop());
      mkdirSync(join(stage.base, 'archives'));
      await callEverything({
        client: stage.client,
        put: put(stage),
        archive: join(stage.base, 'archives'),
      });
      const started = startedIn(log);
      assert.ok(started.length > 5, `strace saw ${started.length} programs only`);
      const others = started.filter(
        (path) => !/^\/usr\/(?:local\/)?(?:bin|lib\/git-core)\/git$/u.test(path),
      );
      assert.deepEqual(others, []);
    },
  },
  {
    id: 'T2',
    what: 'hooks by hooks path, template and in the repository itself, while checkpoints are saved, restored and approved',
    async run(stage) {
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      stage.put({ 'src/app.ts': '2\n' });
      await client.must('create_checkpoint');
      await client.must('approve');
      await client.must('restore', { checkpoint_id: initial });
      const { dialog_id: id } = await client.must('create_dialog');
      assert.ok(!existsSync(stage.state(`dialogs/${id}/checkpoints/.git/hooks`)));
    },
  },
  {
    id: 'T3',
    what: 'clean, smudge and process filters, textconv, external diff and merge drivers picked by attributes',
    async run(stage) {
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      const before = readFileSync(stage.at('readme.txt'));
      stage.put({ 'readme.txt': 'other\r\n', 'src/app.ts': 'x\n' });
      await client.must('create_checkpoint');
      const { text } = await client.must('diff', { from: initial });
      assert.match(text, /readme\.txt/u);
      await client.must('restore', { checkpoint_id: initial, mode: 'keep_external' });
      await client.must('restore', { checkpoint_id: initial });
      assert.deepEqual(readFileSync(stage.at('readme.txt')), before);
    },
  },
  {
    id: 'T4',
    what: 'a filter whose relative command lies in the tree',
    async run(stage) {
      stage.put({ '.gitattributes': '* filter=inside\n' });
      await everyVerb(stage);
    },
  },
  {
    id: 'T5',
    what: 'a bare repository hidden in a folder, and the root pointed at it',
    slow: true,
    async run(stage) {
      const bare = stage.at('docs/hidden');
      cpSync(stage.at('.git'), bare, { recursive: true });
      writeFileSync(
        join(bare, 'config'),
        `${readFileSync(join(bare, 'config'))}\n[core]\n\tbare = false\n\tworktree = ..\n`,
      );
      const own = digestOf(bare);
      await everyVerb(stage);
      const inside = await stage.run([
        process.execPath,
        CLI,
        '--root',
        bare,
        'checkpoint',
        '-m',
        'x',
      ]);
      stage.after(() => stage.run([process.execPath, CLI, '--root', bare, 'stop']));
      assert.equal(inside.code, 0, inside.stderr);
      rmSync(join(bare, 'x'), { force: true });
      assert.notEqual(own, '');
    },
  },
  {
    id: 'T6',
    what: 'a .git file that points at the hidden store, in a folder and in the root',
    async run(stage) {
      const client = await stage.start();
      const { dialog_id: id, initial_checkpoint: initial } = await client.must('create_dialog');
      const hidden = stage.state(`dialogs/${id}/checkpoints/.git`);
      stage.put({ 'sub/.git': `gitdir: ${hidden}\n`, 'sub/code.ts': 'a\n' });
      const config = readFileSync(join(hidden, 'config'));
      const { commit_id: saved } = await client.must('create_checkpoint');
      await client.must('restore', { checkpoint_id: initial });
      await client.must('restore', { checkpoint_id: saved });
      assert.equal(readFileSync(stage.at('sub/code.ts'), 'utf8'), 'a\n');
      assert.equal(readFileSync(stage.at('sub/.git'), 'utf8'), `gitdir: ${hidden}\n`);
      assert.deepEqual(readFileSync(join(hidden, 'config')), config);
      assert.equal(git(hidden, ['--git-dir', hidden, 'fsck', '--strict', '--no-dangling']), '');
    },
  },
  {
    id: 'T7',
    what: 'programs named git and node in the tree, before all others on the search path',
    async run(stage) {
      const PATH = `.::bin:${stage.root}:${stage.at('tools/..')}:${process.env.PATH}`;
      const { code, stderr } = await stage.cli(['checkpoint', '-m', 'x'], {
        env: { PATH },
        cwd: stage.root,
      });
      assert.equal(code, 0, stderr);
    },
  },
  {
    id: 'T8',
    what: 'nested repositories with and without commits, a worktree pointer and a submodule that hide edits',
    async run(stage) {
      for (const name of ['empty', 'full', 'module']) {
        mkdirSync(stage.at(name));
        git(stage.at(name), ['init', '-q']);
        stage.put({ [`${name}/code.ts`]: 'one\n' });
      }
      git(stage.at('full'), ['add', '-A']);
      git(stage.at('full'), ['commit', '-q', '-m', 'x']);
      stage.put({
        '.gitmodules':
          '[submodule "module"]\n\tpath = module\n\turl = ext::evil\n\tupdate = !evil\n',
        'tree/.git': 'gitdir: ../full/.git/worktrees/tree\n',
        'tree/code.ts': 'one\n',
      });
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      const files = ['empty', 'full', 'module', 'tree'].map((name) => `${name}/code.ts`);
      for (const file of files) stage.put({ [file]: 'two\n' });
      const { changed } = await client.must('create_checkpoint');
      assert.equal(changed.modified, files.length);
      await client.must('restore', { checkpoint_id: initial });
      for (const file of files) assert.equal(readFileSync(stage.at(file), 'utf8'), 'one\n');
    },
  },
  {
    id: 'T20',
    what: 'attributes of large files whose filter would fetch from a server named in the tree',
    slow: true,
    needs: () => (canTrace() ? undefined : 'strace may not look into processes here'),
    async run(stage) {
      await stage.start();
      const log = join(stage.base, 'network.log');
      const args = ['-e', 'trace=connect', '-e', 'signal=none', '-o', log];
      const trace = await attach(stage.info().pid, args, { follow: true });
      stage.after(() => trace.stop());
      mkdirSync(join(stage.base, 'archives'));
      await callEverything({
        client: stage.client,
        put: put(stage),
        archive: join(stage.base, 'archives'),
      });
      const calls = readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => /AF_INET6?/u.test(line));
      assert.deepEqual(calls, []);
    },
  },
];
