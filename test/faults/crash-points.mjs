/** F1 to F21: the daemon is killed, or the power cut, between two steps of a call. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { newDisk } from '../support/power-cut.mjs';
import { repackTrap } from '../support/kill-points.mjs';
import * as means from './means.mjs';

const MOST_PACKS = 200;

const lock = (stage, branch = 'session_1') =>
  stage.path('dialogs', stage.dialog, `checkpoints/.git/refs/heads/${branch}.lock`);
const ledger = (stage) => stage.path('ledger/events.jsonl');
const lines = (stage) => readFileSync(ledger(stage), 'utf8').split('\n').length - 1;

/** Kills on the way of a checkpoint; `at` says the fault and the path it is at. */
async function killCheckpoint(stage, at) {
  await stage.begin();
  const before = lines(stage);
  stage.put({ 'a.txt': 'never answered\n' });
  const { fault, ...where } = at(stage);
  await stage.killed(fault, where, () => stage.call('create_checkpoint', { message: 'cut off' }));
  const after = lines(stage);
  await stage.start({});
  const { checkpoints } = await stage.call('list_checkpoints', { dialog_id: stage.dialog });
  const isThere = checkpoints.some(({ message }) => message === 'cut off');
  return { added: after - before, isThere, warnings: await stage.warnings() };
}

/** Files of the store that are being filled and have no name of their own yet. */
function unfinished(stage) {
  const spare = stage.path('store/spare');
  return [...readdirSync(spare)].filter((name) => statSync(join(spare, name)).size > 0);
}

const indexes = (stage) =>
  [...readdirSync(stage.path('store/objects/pack'))].filter((name) => name.endsWith('.idx'));

/** Held up at each call of one kind, and killed as soon as `isDue`; the checkpoint never was. */
async function killHeldUp(stage, call, isDue) {
  await stage.begin();
  stage.put({ 'a.txt': 'never answered\n' });
  const before = indexes(stage).length;
  const told = lines(stage);
  const tracing = await stage.inject(`${call}:delay_enter=300000`);
  const acting = stage.call('create_checkpoint', { message: 'cut off' }).catch((error) => error);
  await stage.until('it is due', () => isDue(before));
  await stage.daemon.kill();
  await acting;
  await tracing.stop();
  assert(isDue(before), 'it went on before the kill');
  assert.equal(lines(stage), told, 'a line tells of it');
  await stage.start({});
  assert.deepEqual(unfinished(stage), []);
  const { checkpoints } = await stage.call('list_checkpoints', { dialog_id: stage.dialog });
  assert(!checkpoints.some(({ message }) => message === 'cut off'));
}

/** A restore of many files, killed; what the next start makes of it is exact and told. */
async function killRestore(stage, { fault, path, method = 'restore' }) {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`d/f${n}`, `old ${n}\n`]));
  await stage.begin({ ...files, 'a.txt': 'one\n' });
  for (const name of Object.keys(files)) stage.put({ [name]: `new ${name}\n` });
  await stage.save('many');
  const before = stage.disk();
  const { state } = stage.acknowledged.get(stage.first);
  const params = method === 'reset' ? {} : { checkpoint_id: stage.first };
  const where = path === undefined ? {} : { path: path(stage) };
  await stage.killed(fault, where, () => stage.call(method, params));
  const half = stage.disk();
  for (const [name, value] of Object.entries(half)) {
    if (name.includes('.smithyd-')) continue;
    assert([before[name], state[name]].includes(value), `${name} is neither old nor new`);
  }
  await stage.start({});
  await stage.call('list_dialogs');
  assert.match(await stage.warnings(), /cut off has been finished/u);
  assert.deepEqual(stage.disk(), state, 'it was not finished exactly');
  await stage.call('undo');
  assert.deepEqual(stage.disk(), before, 'it cannot be taken back exactly');
}

async function killApprove(stage, fault, path) {
  await stage.begin();
  const { closed } = await approvals(stage);
  await stage.killed(fault, { path: path(stage) }, () => stage.call('approve', { message: 'x' }));
  await stage.start({});
  const after = await approvals(stage);
  const isDone = after.closed > closed;
  assert.equal(after.sessions, isDone ? 2 : 1, 'half an approval');
  const { approved_commit: id } = await stage.call('approve', { message: 'again' });
  stage.acknowledge(id, stage.disk());
}

async function approvals(stage) {
  const { sessions } = await stage.call('list_sessions', { dialog_id: stage.dialog, all: true });
  const closed = sessions.filter(({ status }) => status === 'merged').length;
  return { closed, sessions: sessions.length };
}

/** Words before a command that is killed as it touches the path. */
function killedAt(path, calls) {
  const how = ['-e', `trace=${calls}`, '-e', `inject=${calls}:signal=KILL`];
  return ['strace', '-f', '-o', '/dev/null', '-P', path, ...how];
}

/** As a program without sessions left it; answers what will be moved. */
function oldDialog(stage) {
  const id = '01HZZZZZZZZZZZZZZZZZZZZZ01';
  const folder = stage.path('dialogs', id, 'checkpoints');
  mkdirSync(stage.path(), { mode: 0o700 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const who = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.org'];
  const git = (args, input = '') =>
    execFileSync('git', [...who, ...args], { cwd: folder, env: stage.env, input })
      .toString()
      .trim();
  git(['init', '-q', '-b', 'master']);
  stage.dialog = id;
  for (const text of ['one\n', 'two\n']) {
    const blob = git(['hash-object', '-w', '--stdin'], text);
    git(['update-index', '--add', '--cacheinfo', `100644,${blob},a.txt`]);
    git(['commit', '-q', '-m', `Before user message: ${text.trim()}`]);
    stage.acknowledge(git(['rev-parse', 'HEAD']), { 'a.txt': `100644 ${blob}` });
  }
  const index = { dialogs: [{ id, title: 'from before' }], current_dialog_id: id };
  writeFileSync(stage.path('dialogs/index.json'), JSON.stringify(index));
  stage.put({ 'a.txt': 'two\n' });
  return stage.path('dialogs', id);
}

/** The project lies on an ext4 image of its own. */
function onDisk(stage) {
  const disk = newDisk();
  stage.moveTo(join(disk.mount, 'project'));
  stage.onEnd(() => disk.remove());
  return disk;
}

export const crashPoints = [
  {
    id: 'F1',
    what: 'kill before anything was hashed',
    how: 'SIGKILL at the rename of the barrier',
    needs: means.strace,
    fast: true,
    async run(stage) {
      const at = () => ({ fault: 'rename:signal=KILL:when=1' });
      const { added, isThere } = await killCheckpoint(stage, at);
      assert.deepEqual({ added, isThere }, { added: 0, isThere: false });
    },
  },
  {
    id: 'F2',
    what: 'kill while a file is hashed',
    how: 'SIGKILL at a read of the file',
    needs: means.strace,
    async run(stage) {
      await stage.begin();
      const where = { path: stage.at('late.txt') };
      await stage.killed('read,pread64:signal=KILL', where, () => {
        stage.put({ 'late.txt': 'late\n'.repeat(1000) });
        return stage.call('create_checkpoint', { message: 'cut off' });
      });
      await stage.start({});
      await stage.save('again');
    },
  },
  {
    id: 'F3',
    what: 'kill while objects are written',
    how: 'every write held up, SIGKILL as the pack is begun',
    needs: means.strace,
    fast: true,
    run: (stage) => killHeldUp(stage, 'write', () => unfinished(stage).length > 0),
  },
  {
    id: 'F4',
    what: 'kill after objects and tree, before they have a name',
    how: 'every rename held up, SIGKILL as the pack is there under its first name',
    needs: means.strace,
    run: (stage) => killHeldUp(stage, 'rename', () => unfinished(stage).length > 0),
  },
  {
    id: 'F5',
    what: 'kill after the commit, before the branch',
    how: 'every flush held up, SIGKILL as the pack has its name',
    needs: means.strace,
    fast: true,
    run: (stage) => killHeldUp(stage, 'fsync', (before) => indexes(stage).length > before),
  },
  {
    id: 'F6',
    what: 'kill while the branch moves',
    how: 'SIGKILL at the rename of its lock',
    needs: means.strace,
    fast: true,
    async run(stage) {
      const at = () => ({ fault: 'rename:signal=KILL', path: lock(stage) });
      const { isThere } = await killCheckpoint(stage, at);
      assert.equal(isThere, false);
      assert(!existsSync(lock(stage)), 'a lock was left');
    },
  },
  {
    id: 'F7',
    what: 'kill after the branch, before the ledger line',
    how: 'SIGKILL at the write of the line',
    needs: means.strace,
    fast: true,
    async run(stage) {
      const at = () => ({ fault: 'pwrite64:signal=KILL', path: ledger(stage) });
      const { isThere, warnings } = await killCheckpoint(stage, at);
      assert.equal(isThere, true, 'a commit was not adopted');
      assert.match(warnings, /kept/u);
      assert.match(readFileSync(ledger(stage), 'utf8'), /"recovered":true/u);
    },
  },
  {
    id: 'F8',
    what: 'kill while a line is appended',
    how: 'SIGKILL, and the last line cut in half',
    fast: true,
    async run(stage) {
      await stage.begin();
      await stage.daemon.kill();
      const whole = readFileSync(ledger(stage));
      const last = whole.lastIndexOf('\n', whole.length - 2) + 1;
      appendFileSync(ledger(stage), whole.subarray(last, last + 40));
      await stage.start({});
      await stage.call('list_dialogs');
      assert(existsSync(stage.path('ledger/quarantine')), 'nothing was put into quarantine');
      assert.match(stage.log(), /"cutBytes":40/u);
    },
  },
  {
    id: 'F9',
    what: 'kill after the ledger line, before journal and memory',
    how: 'SIGKILL at the first word in the log after it',
    needs: means.strace,
    async run(stage) {
      const at = () => ({ fault: 'write:signal=KILL', path: stage.path('run/daemon.log') });
      const { added, isThere } = await killCheckpoint(stage, at);
      assert(added > 0);
      assert.equal(isThere, true);
    },
  },
  {
    id: 'F10',
    what: 'kill after everything, before the answer; the call is made again',
    how: 'SIGKILL at a late word in the log, then the same message_id',
    needs: means.strace,
    async run(stage) {
      await stage.begin();
      stage.put({ 'a.txt': 'before the message\n' });
      const message = { content: 'once', message_id: 'same', dialog_id: stage.dialog };
      const where = { path: stage.path('run/daemon.log') };
      await stage.killed('write:signal=KILL', where, () => stage.call('user_message', message));
      await stage.start({});
      const before = stage.disk();
      const first = await stage.call('user_message', message);
      stage.acknowledge(first.checkpoint, before);
      assert.deepEqual(await stage.call('user_message', message), first);
      const { checkpoints } = await stage.call('list_checkpoints', { dialog_id: stage.dialog });
      const same = checkpoints.filter(({ message: text }) => text.endsWith(': once'));
      assert.equal(same.length, 1, 'the message was taken twice');
    },
  },
  {
    id: 'F11',
    what: 'kill in the middle of a restore',
    how: 'SIGKILL at the tenth rename',
    needs: means.strace,
    fast: true,
    run: (stage) => killRestore(stage, { fault: 'rename:signal=KILL:when=10' }),
  },
  {
    id: 'F12',
    what: 'kill in a restore, between the new content and its name',
    how: 'SIGKILL at the rename of a new content',
    needs: means.strace,
    run: (stage) => killRestore(stage, { fault: 'fchmod:signal=KILL:when=5' }),
  },
  {
    id: 'F13',
    what: 'kill in the middle of an approval',
    how: 'SIGKILL at the write of the line',
    needs: means.strace,
    run: (stage) => killApprove(stage, 'pwrite64:signal=KILL', ledger),
  },
  {
    id: 'F14',
    what: 'kill in the middle of a reset',
    how: 'SIGKILL at the tenth rename',
    needs: means.strace,
    run: (stage) => killRestore(stage, { fault: 'rename:signal=KILL:when=10', method: 'reset' }),
  },
  {
    id: 'F15',
    what: 'kill while a session is merged into main',
    how: "SIGKILL at the rename of main's lock",
    needs: means.strace,
    run: (stage) => killApprove(stage, 'rename:signal=KILL', (one) => lock(one, 'main')),
  },
  {
    id: 'F16',
    what: 'kill in the middle of a repack',
    how: 'SIGKILL of git at an unlink of an old pack, and of the daemon',
    needs: means.strace,
    async run(stage) {
      stage.beside.add('trap');
      const folder = stage.scratch('trap');
      const trap = repackTrap(folder, stage.findProgram('git'));
      const env = { PATH: `${trap.bin}${delimiter}${stage.env.PATH}` };
      await stage.begin(undefined, { env });
      trap.set('unlink:signal=KILL:when=3');
      for (let made = 0; trap.isSet(); made += 1) {
        assert(made < MOST_PACKS, 'there was no repack');
        stage.put({ 'a.txt': `small ${made}\n` });
        await stage.save(`small ${made}`);
      }
      assert(await trap.sprung(stage.daemon.ended), 'the repack was not hit');
      await stage.daemon.kill();
      await trap.over();
      stage.keepSome(12);
    },
  },
  {
    id: 'F17',
    what: 'kill while the store is made',
    how: 'SIGKILL at the first file of the store, and of a dialog',
    needs: means.strace,
    async run(stage) {
      stage.put({ 'a.txt': 'one\n' });
      const at = stage.path('store/engine/config');
      await stage.noStart({ under: killedAt(at, 'openat,rename') });
      assert(existsSync(stage.path('store')), 'the store was not begun');
      await stage.begin();
    },
  },
  {
    id: 'F18',
    what: 'kill while dialogs of an older program are taken over',
    how: 'SIGKILL at their move, and at the line that says so',
    needs: means.strace,
    async run(stage) {
      const folder = oldDialog(stage);
      const killAt = (path, call) => {
        return stage.noStart({ under: killedAt(path, call) });
      };
      await killAt(folder, 'rename');
      await killAt(ledger(stage), 'pwrite64');
      await stage.start({});
      const { dialogs } = await stage.call('list_dialogs');
      assert.deepEqual(
        dialogs.map(({ id }) => id),
        [stage.dialog],
      );
      await stage.call('use_dialog', { dialog_id: stage.dialog });
    },
  },
  {
    id: 'F19',
    what: 'power cut right after an answer',
    how: 'ext4 shut down without a flush of its log',
    needs: means.powerCut,
    async run(stage) {
      const disk = onDisk(stage);
      await stage.begin();
      const pull = await disk.plug();
      stage.put({ 'a.txt': 'just answered\n' });
      await stage.save('just answered');
      await pull();
      await stage.daemon.kill();
      await disk.plugInAgain();
    },
  },
  {
    id: 'F20',
    what: 'power cut between the flush of a file and of its folder',
    how: 'daemon stopped at the flush of the folder of branches, then ext4 shut down',
    needs: means.all(means.powerCut, means.strace),
    async run(stage) {
      const disk = onDisk(stage);
      await stage.begin();
      const heads = stage.path('dialogs', stage.dialog, 'checkpoints/.git/refs/heads');
      const tracing = await stage.inject('fsync:signal=STOP', { path: heads });
      const pull = await disk.plug();
      stage.put({ 'a.txt': 'never answered\n' });
      const acting = stage.call('create_checkpoint', { message: 'cut' }).catch((error) => error);
      await stage.until('the flush is reached', tracing.isHit);
      await pull();
      await tracing.stop();
      await stage.daemon.kill();
      assert.equal((await acting).code, 'CLOSED');
      await disk.plugInAgain();
    },
  },
  {
    id: 'F21',
    what: 'the first flush fails, a second one would succeed',
    how: 'EIO on one fsync',
    needs: means.strace,
    fast: true,
    async run(stage) {
      await stage.begin();
      const tracing = await stage.inject('fsync,fdatasync:error=EIO:when=1');
      stage.put({ 'a.txt': 'not to be trusted\n' });
      const { code } = await stage.refusal('create_checkpoint', { message: 'one' });
      assert.equal(code, 'STORAGE_IO');
      assert(tracing.isHit());
      await tracing.stop();
      // Nothing is acknowledged until a new start has looked at what is there.
      assert.equal((await stage.refusal('create_checkpoint', { message: 'two' })).code, code);
      assert.equal((await stage.call('list_checkpoints')).checkpoints.length, 2);
      await stage.daemon.stop();
    },
  },
];
