/** Content made to stall or fill the daemon, and settings that come with a repository. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';

const GIB = 2 ** 30;

export const CASES = [
  {
    id: 'T15',
    what: 'an ignore file that hides an edit, and its removal that exposes ignored files to a restore',
    async run(stage) {
      stage.put({ '.gitignore': 'local/\n', 'local/work': 'mine\n' });
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      stage.put({ '.gitignore': '', 'made.txt': 'x\n' });
      await client.must('create_checkpoint');
      await client.must('restore', { checkpoint_id: initial });
      assert.equal(readFileSync(stage.at('local/work'), 'utf8'), 'mine\n');
      stage.put({ 'src/app.ts': 'changed\n', '.gitignore': 'src/\nlocal/\n' });
      const { commit_id: hidden } = await client.must('create_checkpoint');
      await client.must('restore', { checkpoint_id: hidden });
      assert.equal(readFileSync(stage.at('src/app.ts'), 'utf8'), 'changed\n');
    },
  },
  {
    id: 'T16',
    what: 'ignore patterns, noise rules and path patterns that explode',
    async run(stage) {
      const stars = `${'*a'.repeat(60)}b`;
      const deep = `${'**/a'.repeat(40)}/b`;
      const lines = Array.from({ length: 500 }, (_, n) => `${stars}${n}\n${deep}${n}\n[[:alpha:]`);
      stage.put({
        '.gitignore': `${lines.join('\n')}\n${'x'.repeat(100_000)}\n`,
        [`deep/${'a/'.repeat(30)}${'a'.repeat(200)}`]: 'x\n',
      });
      const client = await stage.start();
      await client.must('create_dialog');
      await client.call('configure_noise', {
        rules: [{ category: 'console', pattern: '(a+)+$' }],
        patterns: ['(a+)+$'],
      });
      await client.call('push_telemetry', {
        console: [{ level: 'error', message: `${'a'.repeat(5000)}!` }],
      });
      await client.call('update_config', { exclude: Array(200).fill(stars) });
      stage.put({ [`${'a'.repeat(200)}`]: 'y\n' });
      await client.must('create_checkpoint');
      await client.must('get_changes_since');
    },
  },
  {
    id: 'T17',
    what: 'a sparse file of 5 GiB and one that is just over the limit: named as left out, never read',
    async run(stage) {
      writeFileSync(stage.at('huge'), '');
      truncateSync(stage.at('huge'), 5 * GIB);
      writeFileSync(stage.at('over'), '');
      const client = await stage.start();
      const { maxFileBytes } = await client.must('get_config');
      truncateSync(stage.at('over'), maxFileBytes + 1);
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      const { skipped } = await client.must('create_checkpoint', { message: 'all' });
      assert.deepEqual(skipped.map(({ path }) => path).sort(), ['huge', 'over']);
      const { store } = await client.must('status');
      assert.ok(store.bytes < 10_000_000, `${store.bytes} bytes are kept`);
      const { code } = await client.call('start_edit', { files: ['huge'] });
      assert.equal(code, 'LIMIT_EXCEEDED');
      await client.must('restore', { checkpoint_id: initial });
      rmSync(stage.at('huge'));
    },
  },
  {
    id: 'T18',
    what: 'FIFOs, a socket and devices in the tree, as ignore files, as excludes file and as included settings of git',
    needs: () =>
      spawnSync('mkfifo', ['--version']).status === 0 ? undefined : 'there is no mkfifo',
    async run(stage) {
      const fifo = (path) => assert.equal(spawnSync('mkfifo', [path]).status, 0);
      stage.put({ 'sub/file': 'x\n' });
      for (const path of ['pipe', 'sub/.gitignore', '.gitattributes.fifo']) fifo(stage.at(path));
      fifo(stage.at('.git/pipe'));
      rmSync(stage.at('.git/info/exclude'), { force: true });
      fifo(stage.at('.git/info/exclude'));
      const config = readFileSync(stage.at('.git/config'), 'utf8');
      const more = `[core]\n\texcludesFile = ${stage.at('.git/pipe')}\n`;
      writeFileSync(stage.at('.git/config'), `${config}${more}`);
      const isRoot = process.getuid?.() === 0;
      if (isRoot) spawnSync('mknod', [stage.at('zero'), 'c', '1', '5']);
      const server = createServer().listen(stage.at('socket'));
      await once(server, 'listening');
      stage.after(() => server.close());
      stage.accept();
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      const { skipped } = await client.must('create_checkpoint', { message: 'all' });
      const named = skipped.map(({ path }) => path);
      for (const path of ['pipe', 'socket']) assert.ok(named.includes(path), `${path}: ${named}`);
      const { code } = await client.call('start_edit', { files: ['pipe'] });
      assert.equal(code, 'PATH_UNSUPPORTED');
      await client.must('restore', { checkpoint_id: initial });
    },
  },
  {
    id: 'T18',
    what: 'a FIFO that git itself would wait for: included by the settings of the repository',
    slow: true,
    needs: () =>
      spawnSync('mkfifo', ['--version']).status === 0 ? undefined : 'there is no mkfifo',
    async run(stage) {
      assert.equal(spawnSync('mkfifo', [stage.at('.git/pipe')]).status, 0);
      const config = readFileSync(stage.at('.git/config'), 'utf8');
      writeFileSync(stage.at('.git/config'), `${config}[include]\n\tpath = pipe\n`);
      stage.accept();
      const client = await stage.start();
      await client.must('create_dialog');
      await client.must('create_checkpoint', { message: 'all' });
    },
  },
  {
    id: 'T19',
    what: 'settings that came with the repository: commands, an open address, prototype keys, secrets to be kept',
    async run(stage) {
      stage.put({
        '.agentsmithy/config.json': JSON.stringify({
          hooks: { checkpoint: stage.at('git') },
          command: stage.at('git'),
          editor: stage.at('git'),
          git: { path: stage.at('git') },
          http: { host: '0.0.0.0', address: '0.0.0.0', token: 'guessed', enabled: true },
          include: ['.git/**', '.agentsmithy/**', '../outside/**', '/etc/passwd'],
          constructor: { prototype: { polluted: true } },
          edits: { ttlMs: -1 },
        }),
      });
      chmodSync(stage.state(), 0o755);
      const client = await stage.start();
      const { warnings } = await client.must('status');
      assert.ok(
        warnings.some((text) => text.includes('config.json')),
        warnings.join('\n'),
      );
      const config = await client.must('get_config');
      for (const key of ['hooks', 'command', 'editor', 'git']) assert.ok(!(key in config), key);
      assert.ok(!('host' in config.http) && config.edits.ttlMs > 0);
      assert.equal(new URL(stage.info().http.url).hostname, '127.0.0.1');
      assert.notEqual(stage.token(), 'guessed');
      const { commit_id: commit } = await client.must('create_checkpoint', { message: 'x' });
      const { code } = await client.call('show', { at: commit, path: '.git/config' });
      assert.equal(code, 'PATH_PROTECTED');
    },
  },
];
