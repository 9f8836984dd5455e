/* global fetch */
/** Other users of the machine, and what they or a cloned folder may have put where our files go. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CLI, filesBelow } from './stage.mjs';

const NOBODY = 65_534;
const SETPRIV = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

/** Why this machine cannot play two users. */
function needsNobody() {
  if (process.getuid?.() !== 0) return 'only root can become another user';
  const [program, ...args] = [...SETPRIV, process.execPath, '-e', '0'];
  const { status } = spawnSync(program, args, { cwd: '/', stdio: 'ignore' });
  return status === 0 ? undefined : 'setpriv cannot start node as nobody';
}

const onLinux = () => (process.platform === 'linux' ? undefined : 'needs /proc');

/** Every file and folder of the state in whose place a link could lie before the first start. */
const PLACES = [
  '.',
  'run',
  'run/lock',
  'run/daemon.log',
  'run/daemon.json',
  'run/.daemon.json.new',
  'run/token',
  'run/.token.new',
  'run/smithyd.sock',
  'run/settle',
  'run/calls',
  'config.json',
  'root.json',
  '.root.json.new',
  '.gitignore',
  'known.bin',
  'known.bin.new',
  'edited.json',
  'intent.json',
  'cursors.json',
  'ledger',
  'ledger/events.jsonl',
  'ledger/bookmarks.json',
  'ledger/diffs',
  'ledger/blocks',
  'ledger/derived.jsonl',
  'ledger/index.bin',
  'ledger/segments.bin',
  'ledger/quarantine',
  'store',
  'store/objects',
  'store/objects/pack',
  'store/engine',
  'store/kept',
  'store/kept/.git',
  'store/kept/.git/refs',
  'store/kept/.git/refs/heads',
  'dialogs',
  'dialogs/index.json',
];

/** A start may be refused, and so may anything after it. */
async function workADay(stage) {
  try {
    const client = await stage.start();
    await client.call('user_message', { content: 'hello' });
    stage.put({ 'src/app.ts': `${Math.random()}\n` });
    await client.call('create_checkpoint');
    await client.call('snapshot_save');
    await client.call('history');
  } catch {
    return;
  }
  await stage.stop();
}

export const CASES = [
  {
    id: 'T23',
    what: 'two roots whose paths are equal for the first 107 bytes, and beyond what a socket can be called',
    async run(stage) {
      const roots = ['one', 'two'].map((name) => join(stage.base, 'd'.repeat(150), `x-${name}`));
      const sockets = [];
      for (const root of roots) {
        mkdirSync(root, { recursive: true });
        const words = [process.execPath, CLI, '--root', root];
        stage.after(() => stage.run([...words, 'stop']));
        const { code, stdout, stderr } = await stage.run([...words, '--json', 'start']);
        assert.equal(code, 0, stderr);
        const { socket } = JSON.parse(stdout);
        assert.ok(Buffer.byteLength(socket) <= 107 && existsSync(socket), socket);
        sockets.push(socket);
        const status = await stage.run([...words, '--json', 'status']);
        assert.equal(JSON.parse(status.stdout).root, root);
      }
      assert.notEqual(sockets[0], sockets[1]);
    },
  },
  {
    id: 'T24',
    what: 'a socket in the abstract namespace, which has no owner: the daemon listens on none',
    needs: onLinux,
    async run(stage) {
      await stage.start();
      const { pid, socket } = stage.info();
      const own = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        try {
          return [/^socket:\[(\d+)\]$/u.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]];
        } catch {
          return [];
        }
      });
      const lines = readFileSync('/proc/net/unix', 'utf8').trim().split('\n').slice(1);
      const names = lines
        .map((line) => line.split(/\s+/u))
        .filter((words) => own.includes(words[6]) && words[7] !== undefined)
        .map((words) => words[7]);
      assert.ok(names.includes(socket), `not found among ${names}`);
      assert.deepEqual(
        names.filter((name) => name.startsWith('@')),
        [],
      );
    },
  },
  {
    id: 'T25',
    what: 'another user walks the state folder after a day of work, its folders opened by mistake',
    needs: needsNobody,
    async run(stage) {
      const client = await stage.start();
      const { initial_checkpoint: initial } = await client.must('create_dialog');
      stage.put({ 'src/app.ts': 'two\n' });
      await client.must('user_message', { content: 'secret words' });
      await client.must('restore', { checkpoint_id: initial });
      await client.must('snapshot_save');
      await client.must('approve');
      const closed = await stage.run([...SETPRIV, 'ls', stage.state()]);
      assert.notEqual(closed.code, 0);
      chmodSync(stage.state(), 0o755);
      const look = `find '${stage.state()}' -mindepth 1 -maxdepth 1 -readable 2>/dev/null`;
      const { stdout } = await stage.run([...SETPRIV, 'sh', '-c', look]);
      assert.deepEqual(
        stdout.split('\n').filter((line) => line !== ''),
        [],
      );
    },
  },
  {
    id: 'T26',
    what: 'the token looked for in command lines, environments, log, events, answers and errors',
    needs: onLinux,
    async run(stage) {
      const client = await stage.start();
      const token = stage.token();
      await client.must('subscribe');
      await client.must('create_dialog');
      const url = stage.info().http.url;
      const seen = [];
      for (const path of ['/healthz', '/metrics', '/api/dialogs', '/nothing', '/rpc/status']) {
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${url}${path}`, { headers });
        seen.push(await response.text(), JSON.stringify([...response.headers]));
      }
      for (const method of ['status', 'get_config', 'get_metrics', 'doctor', 'nothing']) {
        seen.push(JSON.stringify(await client.call(method)));
      }
      const { stdout, stderr } = await stage.cli(['--json', 'status']);
      seen.push(stdout, stderr, JSON.stringify(client.events));
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/u.test(name))) {
        for (const file of ['cmdline', 'environ']) {
          try {
            seen.push(readFileSync(`/proc/${pid}/${file}`, 'utf8'));
          } catch {
            // Gone, or not ours to read.
          }
        }
      }
      for (const path of filesBelow(stage.state())) {
        if (path !== stage.state('run/token') && path !== stage.state('run/smithyd.sock')) {
          seen.push(readFileSync(path, 'latin1'));
        }
      }
      assert.ok(token.length > 20);
      assert.deepEqual(
        seen.filter((text) => text.includes(token)),
        [],
      );
    },
  },
  ...['a file', 'a folder', 'nothing'].map((target) => ({
    id: 'T27',
    what: `links to ${target} outside, in ${PLACES.length} places of a state folder that came with the project`,
    slow: true,
    async run(stage) {
      const escaped = [];
      for (const place of PLACES) {
        rmSync(stage.state(), { recursive: true, force: true });
        const link = place === '.' ? join(stage.root, '.agentsmithy') : stage.state(place);
        mkdirSync(dirname(link), { recursive: true, mode: 0o755 });
        const to = { 'a file': 'key', 'a folder': 'sub', nothing: 'new' }[target];
        symlinkSync(join(stage.outside, to), link);
        await workADay(stage);
        if (!stage.isUntouched()) {
          escaped.push(place);
          stage.mend();
        }
      }
      assert.deepEqual(escaped, [], 'these led the daemon outside');
      rmSync(join(stage.root, '.agentsmithy'), { recursive: true, force: true });
    },
  })),
  {
    id: 'T28',
    what: 'a daemon of root on a tree that belongs to somebody else',
    needs: needsNobody,
    async run(stage) {
      chownSync(stage.root, NOBODY, NOBODY);
      stage.endsWithoutDaemon = true;
      const { code, stderr } = await stage.cli(['--json', 'start']);
      assert.notEqual(code, 0);
      assert.match(stderr, /FORBIDDEN|INVALID/u);
      assert.ok(!existsSync(stage.state('run')));
    },
  },
  {
    id: 'T29',
    what: 'another member of the group edits a file while an agent edits its own',
    needs: needsNobody,
    async run(stage) {
      stage.put({ 'shared.txt': 'ours\n', 'own.txt': 'ours\n' });
      chmodSync(stage.at('shared.txt'), 0o666);
      const client = await stage.start();
      await client.must('create_dialog');
      const { edit_id: edit } = await client.must('start_edit', {
        files: ['own.txt'],
        agent: { name: 'robot' },
      });
      const line = `echo theirs > '${stage.at('shared.txt')}'`;
      assert.equal((await stage.run([...SETPRIV, 'sh', '-c', line])).code, 0);
      writeFileSync(stage.at('own.txt'), 'edited\n');
      await client.must('finalize_edit', { edit_id: edit });
      const { affectedFiles } = await client.must('detect_unknown_modifications');
      assert.deepEqual(affectedFiles, ['shared.txt']);
      await client.must('create_checkpoint', { message: 'x' });
      const { lines } = await client.must('blame', { path: 'shared.txt' });
      assert.deepEqual([...new Set(lines.map(({ by }) => by))], ['unknown']);
    },
  },
];
