/* global fetch */
/** Names, links and trees made to be misread, and a folder that changes its kind under the writer. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { git } from './honeypot.mjs';
import { CANARY } from './stage.mjs';

const SWAPPER = fileURLToPath(new URL('../files/swapper.mjs', import.meta.url));

/** What stands where a folder of the checkpoint was. */
const LINKS = {
  absolute: (stage) => stage.outside,
  relative: (stage, place) => relative(dirname(place), stage.outside),
  'dot-dot': (stage) => `${stage.root}/src/../../outside`,
  dangling: (stage) => join(stage.outside, 'nothing'),
  loop: (_, place) => place,
};
const DEPTHS = ['a', 'a/b', 'a/b/c', 'a/b/c/file'];

/** Escape sequences, bidi and tag characters, line ends, and names that look like options. */
const NAMES = [
  '--output=evil',
  '-rf',
  'clear\u001b[2J\u001b]0;evil\u0007',
  'line\nbreak',
  'carriage\rreturn',
  'bidi\u202etxt.exe',
  'zero\u200bwidth',
  'c1\u009b31m',
  ':(exclude)x',
  '@{upstream}',
  '$(touch marker)',
  '`id`',
  '"quoted\\',
];
/** What a terminal obeys or a reader cannot see; line ends and tabs are the program's own. */
const STEERING = /[^\P{Cc}\n\t]|[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Entries that git refuses to check out, or folds into `.git` somewhere. */
const TREES = [
  ['..', 'escaped'],
  ['.git', 'config'],
  ['.GIT', 'config'],
  ['.git ', 'config'],
  ['git~1', 'config'],
  ['.g\u200cit', 'config'],
  ['.agentsmithy', 'config.json'],
];

export const CASES = [
  {
    id: 'T9',
    what: 'links to a private key and to its folder: the target is never read, by no verb',
    async run(stage) {
      symlinkSync(join(stage.outside, 'key'), stage.at('key'));
      symlinkSync(stage.outside, stage.at('folder'));
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      for (const path of ['folder/key', 'folder/sub/deep']) {
        for (const [method, params] of [
          ['start_edit', { files: [path] }],
          ['validate_files', { files: [path] }],
          ['create_file_checkpoint', { files: [path] }],
          ['blame', { path }],
          ['show', { at: initial, path }],
          ['diff', { from: initial, paths: [path] }],
        ]) {
          const answer = JSON.stringify(await client.call(method, params));
          assert.ok(!answer.includes(CANARY), `${method} of ${path}: ${answer}`);
        }
      }
      await client.must('create_checkpoint', { message: 'linked' });
      const { content } = await client.must('show', { at: initial, path: 'key' });
      assert.equal(content, join(stage.outside, 'key'));
    },
  },
  {
    id: 'T10',
    what: `a parent that became a link before a restore: ${Object.keys(LINKS).length} kinds of link at ${DEPTHS.length} depths`,
    async run(stage) {
      stage.put({ 'a/b/c/file': 'mine\n', 'a/key': 'mine\n', 'a/b/sub/deep': 'mine\n' });
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      for (const [kind, target] of Object.entries(LINKS)) {
        for (const depth of DEPTHS) {
          rmSync(stage.at('a'), { recursive: true, force: true });
          const place = stage.at(depth);
          mkdirSync(dirname(place), { recursive: true });
          symlinkSync(target(stage, place), place);
          await client.must('create_checkpoint', { message: `${kind} at ${depth}` });
          await client.must('restore', { checkpoint_id: initial });
          assert.ok(lstatSync(stage.at('a/b/c')).isDirectory(), `${kind} at ${depth}`);
          assert.equal(readFileSync(stage.at('a/b/c/file'), 'utf8'), 'mine\n');
        }
      }
    },
  },
  {
    id: 'T11',
    what: 'a folder swapped for a link by another process while restores write below it',
    slow: true,
    needs: () => (process.platform === 'linux' ? undefined : 'needs descriptor links'),
    async run(stage, { seconds }) {
      const files = (round) =>
        Object.fromEntries(
          Array.from({ length: 200 }, (_, n) => [`up/d/${n % 2 ? 'sub/' : ''}f${n}`, `${round}\n`]),
        );
      stage.put(files(1));
      const client = await stage.start();
      const { initial_checkpoint: one } = await client.must('create_dialog');
      stage.put(files(2));
      const { commit_id: two } = await client.must('create_checkpoint');
      const swapper = spawn(process.execPath, [SWAPPER, stage.at('up/d'), stage.outside], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const gone = once(swapper, 'close');
      stage.after(() => swapper.kill('SIGKILL'));
      const lines = createInterface(swapper.stdout)[Symbol.asyncIterator]();
      await lines.next();
      const end = performance.now() + seconds * 1000;
      for (let round = 0; performance.now() < end; round += 1) {
        await client.call('restore', { checkpoint_id: round % 2 === 0 ? one : two });
      }
      swapper.stdin.end();
      const { value: swaps } = await lines.next();
      await gone;
      assert.ok(Number(swaps) > 10, `only ${swaps} swaps`);
    },
  },
  {
    id: 'T12',
    what: 'trees with entries named dot-dot, .git and its other spellings, planted in the store and restored',
    async run(stage) {
      const client = await stage.start();
      const { dialog_id: id } = await client.must('create_dialog');
      stage.put({ 'src/app.ts': 'two\n' });
      const { session } = await client.must('create_checkpoint');
      await stage.stop();
      const hidden = stage.state(`dialogs/${id}/checkpoints/.git`);
      const planted = plant(hidden, session);
      await stage.start();
      for (const commit of planted) {
        await stage.client.call('restore', { checkpoint_id: commit });
        await stage.client.call('show', { at: commit, path: '../escaped' });
        await stage.client.call('diff', { from: commit });
      }
      assert.ok(!existsSync(join(stage.base, 'escaped')));
      for (const [folder] of TREES.slice(2, 6)) assert.ok(!existsSync(stage.at(folder)), folder);
      assert.ok(!readFileSync(stage.state('run/daemon.json'), 'utf8').includes('evil'));
      assert.ok(!existsSync(stage.state('config.json')));
    },
  },
  {
    id: 'T13',
    what: `${NAMES.length} file names with escape sequences, line ends, bidi marks and leading dashes, shown by every command and to a model`,
    async run(stage) {
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      stage.put(Object.fromEntries(NAMES.map((name) => [name, 'text\n'])));
      const { unknownChanges } = await client.must('detect_unknown_modifications');
      assert.deepEqual(unknownChanges.map(({ filePath }) => filePath).sort(), [...NAMES].sort());
      for (const words of [
        ['unknown'],
        ['checkpoint', '-m', NAMES.join(' ')],
        ['log'],
        ['diff', initial, '--stat'],
        ['diff', initial, '--side-by-side'],
        ['history'],
        ['changes', '--include', 'files'],
        ['restore', initial, '--dry-run'],
        ['message', NAMES.join(' ')],
        ['sessions'],
        ['status'],
        ['doctor'],
      ]) {
        const { stdout, stderr } = await stage.cli(words);
        assert.doesNotMatch(stdout + stderr, STEERING, words.join(' '));
      }
      const calls = ['get_session', 'detect_unknown_modifications', 'history'].map((name, id) => ({
        jsonrpc: '2.0',
        id: id + 1,
        method: 'tools/call',
        params: { name, arguments: {} },
      }));
      const texts = await askAsModel(stage, calls);
      for (const text of texts) assert.doesNotMatch(text, STEERING);
      await client.must('restore', { checkpoint_id: initial });
      for (const name of NAMES) assert.ok(!existsSync(stage.at(name)), name);
    },
  },
];

/** What a model reads of each answer. */
async function askAsModel(stage, calls) {
  const hello = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'model', version: '1' },
    },
  };
  const url = `${stage.info().http.url}/mcp`;
  const texts = [];
  for (const call of [hello, ...calls]) {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stage.token()}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      },
      body: JSON.stringify(call),
    });
    const text = await response.text();
    if (call === hello) continue;
    const body = JSON.parse(/\{.*\}/su.exec(text)?.[0] ?? '{}');
    assert.ok(body.result?.content?.length > 0, text);
    texts.push(...body.result.content.map((part) => part.text));
  }
  return texts;
}

/** Commits on the branch of a session, as somebody with the right to write there could make them. */
function plant(hidden, session) {
  const at = ['--git-dir', hidden];
  const store = (args, input) => {
    const { stdout, stderr, status } = spawnSync('git', [...at, ...args], {
      input,
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    });
    assert.equal(status, 0, stderr.toString());
    return stdout.toString().trim();
  };
  const blob = store(['hash-object', '-w', '--stdin'], 'evil\n');
  const tree = (mode, name, id) =>
    store(
      ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'],
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
    );
  return TREES.map(([folder, file]) => {
    const top = tree('40000', folder, tree('100644', file, blob));
    const parent = store(['rev-parse', `refs/heads/${session}`]);
    const commit = git(hidden, [...at, 'commit-tree', top, '-p', parent, '-m', 'evil']).trim();
    store(['update-ref', `refs/heads/${session}`, commit]);
    return commit;
  });
}
