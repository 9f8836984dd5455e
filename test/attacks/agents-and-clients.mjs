/* global fetch */
/** An agent that was talked into something, and programs that speak to the daemon with bad intent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

/** People's decisions about the agent's work, and what could end or blind the daemon. */
const NOT_FOR_MODELS = [
  'approve',
  'reset',
  'delete_dialog',
  'update_config',
  'shutdown',
  'reset_known_state',
];

const OUTSIDE = [
  '..',
  '../x',
  '../../etc/passwd',
  'a/../../x',
  'a/b/../../../x',
  './../x',
  '/',
  '/etc/passwd',
  '//etc/passwd',
  '/proc/self/environ',
  '',
  '.',
  './',
  'a\0b',
  '\0',
  '../outside/key',
  'src/../../outside/key',
  './/..//x',
];
const PROTECTED = [
  '.git',
  '.git/config',
  '.git/hooks/pre-commit',
  './.git/config',
  'src/../.git/config',
  '.GIT/config',
  '.Git/x',
  '.git./x',
  '.git /x',
  '.git. . /x',
  'GIT~1/x',
  'git~1/config',
  '.g\u200cit/config',
  '.\u200dgit/x',
  '.gi\ufefft/x',
  '.agentsmithy',
  '.agentsmithy/run/token',
  '.AgentSmithy/run/token',
  '.agentsmithy./config.json',
  'sub/.git/HEAD',
  'deep/er/.git/index',
  '//.git/config',
  '.git//config',
];

/** The same said otherwise; before an absolute path a dot would make it one of the project. */
function spellings(path) {
  const plain = [path, `${path}/`, `${path}/.`];
  return path === '' || path.startsWith('/') ? plain : [...plain, `./${path}`, `.//./${path}`];
}

/** What may never be taken for a path of the project. */
const HOSTILE_PATHS = [...new Set([...OUTSIDE, ...PROTECTED].flatMap(spellings))];
/** Harmless names of files that only look like more elsewhere: never decoded, never split. */
const LITERAL = [
  '%2e%2e/x',
  '..%2fx',
  'C:\\Windows\\x',
  '..\\..\\x',
  'C:x',
  '\\\\server\\share',
  '~/x',
  '~root/.ssh',
  '$HOME/x',
  'file:///etc/passwd',
  '%00',
  'con',
  'nul.txt',
  '..;/x',
  '....//x',
  '.%2e/x',
];

const VERBS = (path, at) => [
  ['start_edit', { files: [path], detached: true }],
  ['show', { at, path }],
  ['blame', { path }],
  ['restore', { checkpoint_id: at, paths: [path] }],
  ['diff', { from: at, paths: [path] }],
  ['validate_files', { files: [path] }],
  ['create_file_checkpoint', { files: [path] }],
  ['detect_unknown_modifications', { files: [path] }],
  ['handle_unknown_changes', { files: [path], strategy: 'reject' }],
];

const FOREIGN = 'gho_foreign-bearer-of-another-service';

export const CASES = [
  {
    id: 'T35',
    what: `a model asks over MCP for ${NOT_FOR_MODELS.join(', ')}`,
    async run(stage) {
      const client = await stage.start();
      await client.must('create_dialog');
      stage.put({ 'src/app.ts': 'by a model\n' });
      await client.must('create_checkpoint');
      const before = await client.must('list_sessions', { all: true });
      const lines = [
        {
          id: 0,
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 'm', version: '1' },
          },
        },
        { method: 'notifications/initialized' },
        { id: 1, method: 'tools/list', params: {} },
        ...NOT_FOR_MODELS.map((name, at) => ({
          id: at + 2,
          method: 'tools/call',
          params: { name, arguments: {} },
        })),
      ].map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`);
      const answers = await talk(stage, lines, NOT_FOR_MODELS.length + 2);
      const offered = answers.find(({ id }) => id === 1).result.tools.map(({ name }) => name);
      assert.ok(offered.length > 5);
      assert.deepEqual(
        offered.filter((name) => NOT_FOR_MODELS.includes(name)),
        [],
      );
      for (const { id, result, error } of answers.filter(({ id }) => id >= 2)) {
        assert.ok(error !== undefined || result?.isError === true, NOT_FOR_MODELS[id - 2]);
      }
      assert.deepEqual(await client.must('list_sessions', { all: true }), before);
    },
  },
  {
    id: 'T38',
    what: 'an agent restores over what the user wrote: it is saved first and comes back to the byte',
    async run(stage) {
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      stage.put({ 'src/app.ts': 'hours of work\n', 'new.txt': 'more of it\n' });
      const { safety_checkpoint: safety } = await client.must('restore', {
        checkpoint_id: initial,
      });
      assert.ok(!existsSync(stage.at('new.txt')));
      await client.must('restore', { checkpoint_id: safety });
      assert.equal(readFileSync(stage.at('src/app.ts'), 'utf8'), 'hours of work\n');
      assert.equal(readFileSync(stage.at('new.txt'), 'utf8'), 'more of it\n');
      const { edit_id: edit } = await client.must('start_edit', { files: ['src/app.ts'] });
      const other = await stage.connect();
      const { code } = await other.call('restore', { checkpoint_id: initial });
      assert.equal(code, 'RESTORE_BLOCKED');
      await client.must('finalize_edit', { edit_id: edit });
    },
  },
  {
    id: 'T42',
    what: 'the shell of an agent starts the daemon with variables of git, node, the loader and proxies',
    async run(stage) {
      const trap = join(stage.base, 'preload.cjs');
      const seen = join(stage.base, 'preloaded');
      stage.write(
        trap,
        `require('fs').appendFileSync(${JSON.stringify(seen)}, process.argv.join(' ') + '\\n');`,
      );
      const hostile = {
        NODE_OPTIONS: `--require ${trap}`,
        NODE_PATH: stage.root,
        GIT_DIR: stage.at('.git'),
        GIT_WORK_TREE: stage.outside,
        GIT_INDEX_FILE: stage.at('.git/index'),
        GIT_OBJECT_DIRECTORY: stage.at('.git/objects'),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: stage.outside,
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'core.fsmonitor',
        GIT_CONFIG_VALUE_0: join(stage.base, 'trap/program'),
        GIT_EXTERNAL_DIFF: join(stage.base, 'trap/program'),
        GIT_SSH_COMMAND: join(stage.base, 'trap/program'),
        GIT_EXEC_PATH: stage.root,
        GIT_TEMPLATE_DIR: join(stage.base, 'trap/template'),
        GIT_TRACE: join(stage.outside, 'trace'),
        GIT_TRACE2_EVENT: join(stage.outside, 'trace2'),
        LD_LIBRARY_PATH: stage.root,
        EDITOR: stage.at('git'),
        PAGER: stage.at('git'),
        HTTPS_PROXY: 'http://127.0.0.1:9',
        BASH_ENV: trap,
        ENV: trap,
        PATH: `.:${stage.root}:${process.env.PATH}`,
      };
      const { code, stderr } = await stage.cli(['checkpoint', '-m', 'x'], {
        env: hostile,
        cwd: stage.root,
      });
      assert.equal(code, 0, stderr);
      const { pid } = stage.info();
      const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .map((entry) => entry.split('=')[0]);
      assert.deepEqual(
        names.filter((name) => name in hostile && name !== 'PATH'),
        [],
      );
      const preloaded = readFileSync(seen, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      assert.deepEqual(
        preloaded.filter((line) => line.includes('--foreground')),
        [],
      );
    },
    needs: () => (process.platform === 'linux' ? undefined : 'needs /proc'),
  },
  {
    id: 'T44',
    what: `${HOSTILE_PATHS.length} paths out of the root or into .git, and ${LITERAL.length} that only look like it, by ${VERBS('', '').length} verbs`,
    async run(stage) {
      const client = await stage.start();
      const { initial_checkpoint: at } = await client.must('create_dialog');
      await Promise.all(
        HOSTILE_PATHS.flatMap((path) =>
          VERBS(path, at).map(async ([method, params]) => {
            const { code, result } = await client.call(method, params);
            assert.ok(
              code !== undefined,
              `${method} took ${JSON.stringify(path)}: ${JSON.stringify(result)}`,
            );
          }),
        ),
      );
      for (const path of LITERAL) {
        const { edit_id: edit } = await client.must('start_edit', { files: [path] });
        await client.must('abort_edit', { edit_id: edit });
      }
      assert.equal(readdirSync(stage.base).sort().join(), 'home,outside,project,trap');
    },
  },
  {
    id: 'T45',
    what: '200 MB without an end, an array a million deep and millions of empty objects, beside an honest client',
    async run(stage) {
      const client = await stage.start();
      const { memory_bytes: before } = await client.must('status');
      const piece = Buffer.alloc(1 << 20, 'x');
      await pour(stage, Array(200).fill(piece));
      await pour(stage, [Buffer.alloc(1_000_000, '['), '\n']);
      await pour(stage, [`[${Array(1_300_000).fill('{}').join(',')}]`, '\n']);
      await pour(stage, [
        `{"jsonrpc":"2.0","id":1,"method":"note","params":{"text":"${'y'.repeat(15 << 20)}`,
        '"}}\n',
      ]);
      await client.must('status');
      const { memory_bytes: after } = await client.must('status');
      assert.ok(after - before < 400 << 20, `grew by ${(after - before) >> 20} MiB`);
    },
  },
  {
    id: 'T47',
    what: 'a bearer of another service is refused, sent on to nobody and written down nowhere',
    async run(stage) {
      await stage.start();
      const { url } = stage.info().http;
      for (const path of ['/healthz', '/mcp', '/rpc/status']) {
        const headers = { authorization: `Bearer ${FOREIGN}`, 'content-type': 'application/json' };
        const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: '{}' });
        assert.equal(response.status, 401);
        assert.ok(!(await response.text()).includes(FOREIGN));
      }
      stage.assertSecretIsNowhere(FOREIGN);
    },
  },
  {
    id: 'T56',
    what: 'verbs used to write into .git: by an edit taken back, by a restore and through a link',
    async run(stage) {
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      for (const path of ['.git/hooks/pre-commit', '.git/config', 'sub/.git/config']) {
        for (const [method, params] of VERBS(path, initial)) {
          assert.equal(
            (await client.call(method, params)).code,
            'PATH_PROTECTED',
            `${method} ${path}`,
          );
        }
      }
      const { edit_id: edit } = await client.must('start_edit', { scope: 'project' });
      stage.put({ 'sub/.git/config': '[core]\n', 'sub/file': 'x\n' });
      await client.must('abort_edit', { edit_id: edit });
      assert.ok(existsSync(stage.at('sub/.git/config')), 'what is in .git is nobody’s to remove');
    },
  },
];

/** Sends lines to `smithyd mcp` and reads as many answers. */
async function talk(stage, lines, count) {
  const child = stage.spawnCli(['mcp']);
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stdin.write(lines.join(''));
  while (text.split('\n').length <= count) await once(child.stdout, 'data');
  child.stdin.end();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Bytes on a connection of their own, until all are taken or the daemon hangs up. */
async function pour(stage, pieces) {
  const net = connect(stage.info().socket);
  net.on('error', () => undefined);
  const closed = once(net, 'close');
  net.resume();
  await once(net, 'connect');
  for (const piece of pieces) {
    if (net.destroyed) break;
    if (!net.write(piece)) await Promise.race([once(net, 'drain'), closed]);
  }
  net.end();
  net.destroySoon();
  await closed;
}
