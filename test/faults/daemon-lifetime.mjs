/** F37 to F48: the daemon is not there, is there twice, stands still, or loses its place. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { startDaemon } from '../support/sweep-daemon.mjs';
import { clockFile, faked } from './clocks.mjs';
import * as means from './means.mjs';

async function unknownPaths(stage) {
  const { unknownChanges } = await stage.call('detect_unknown_modifications');
  return unknownChanges.map(({ filePath }) => filePath).sort();
}

function doubted(stage, reason) {
  return stage.until(`the ${reason} is noticed`, () =>
    stage.daemon.events.some((event) => event.type === 'watch_desynced' && event.reason === reason),
  );
}

/** Changes that a daemon can only find by looking at everything are found after `during`. */
async function findsChangesAfter(stage, during) {
  const paths = Array.from({ length: 300 }, (_, n) => `many/f${n}`);
  await during(() => stage.put(Object.fromEntries(paths.map((path) => [path, `${path}\n`]))));
  const { changed } = await stage.save('all of them');
  assert.equal(changed.added, paths.length);
}

export const daemonLifetime = [
  {
    id: 'F37',
    what: 'files change while no daemon runs',
    how: 'SIGKILL, then edits, then a start',
    fast: true,
    async run(stage) {
      await stage.begin();
      await stage.daemon.kill();
      stage.put({ 'a.txt': 'nobody saw this\n', 'late.txt': 'nor this\n', 'src/b.js': null });
      await stage.start({});
      assert.deepEqual(await unknownPaths(stage), ['a.txt', 'late.txt', 'src/b.js']);
      await stage.save('with what nobody saw');
    },
  },
  {
    id: 'F38',
    what: 'a second daemon on the same root',
    how: 'start --foreground while one runs',
    fast: true,
    async run(stage) {
      await stage.begin();
      const { code, stderr } = stage.command(['start', '--foreground']);
      assert.notEqual(code, 0);
      assert(stderr.includes(String(stage.daemon.pid)), `it does not name the first: ${stderr}`);
      assert.equal((await stage.status()).pid, stage.daemon.pid);
    },
  },
  {
    id: 'F39',
    what: 'a daemon on a folder inside the root',
    how: 'a second daemon, on a folder of the project',
    async run(stage) {
      await stage.begin();
      stage.put({ 'inner/own.txt': 'not yours\n' });
      const { cli, env } = stage;
      const inner = await startDaemon({ root: stage.at('inner'), cli, env });
      stage.onHeal(() => inner.stop());
      stage.untracked.add('inner');
      await stage.save('without the inner one');
      const { stdout } = stage.command(['status', '--why', 'inner/own.txt']);
      assert.match(stdout, /project of its own/u);
    },
  },
  {
    id: 'F40',
    what: 'a socket that a dead daemon left',
    how: 'SIGKILL, then a start',
    async run(stage) {
      await stage.begin();
      await stage.daemon.kill();
      assert(existsSync(stage.path('run/smithyd.sock')));
      await stage.start({});
      assert.equal((await stage.status()).pid, stage.daemon.pid);
    },
  },
  {
    id: 'F41',
    what: "a dead daemon's number given to another process",
    how: 'daemon.json with the number of this process',
    async run(stage) {
      await stage.begin();
      await stage.daemon.kill();
      const stale = { ...stage.daemonFile(), pid: process.pid };
      writeFileSync(stage.path('run/daemon.json'), JSON.stringify(stale));
      await stage.start({});
      assert.notEqual((await stage.status()).pid, process.pid);
    },
  },
  {
    id: 'F42',
    what: 'something else where the socket should be',
    how: 'a plain file at its path',
    fast: true,
    async run(stage) {
      await stage.begin();
      await stage.daemon.stop();
      writeFileSync(stage.path('run/smithyd.sock'), 'precious');
      const said = await stage.noStart();
      assert.match(said, /not a socket/u);
      assert.equal(readFileSync(stage.path('run/smithyd.sock'), 'utf8'), 'precious');
      rmSync(stage.path('run/smithyd.sock'));
    },
  },
  {
    id: 'F43',
    what: 'the socket is deleted while the daemon runs',
    how: 'unlink',
    fast: true,
    async run(stage) {
      await stage.begin();
      unlinkSync(stage.path('run/smithyd.sock'));
      await stage.until('it is back', () => existsSync(stage.path('run/smithyd.sock')));
      await stage.until('it answers', () => stage.command(['status']).code === 0);
      assert.equal(stage.daemonFile().pid, stage.daemon.pid);
    },
  },
  {
    id: 'F44',
    what: 'the state folder goes away while the daemon runs',
    how: 'renamed away, and back later',
    fast: true,
    async run(stage) {
      await stage.begin();
      stage.beside.add('taken');
      renameSync(stage.path(), join(stage.folder, 'taken'));
      await stage.until('the daemon is gone', () => stage.isGone());
      assert(!existsSync(stage.path()), 'a fresh store was made in silence');
      renameSync(join(stage.folder, 'taken'), stage.path());
    },
  },
  {
    id: 'F45',
    what: 'the state folder is on another disk, which is full',
    how: 'a tmpfs mounted on it',
    needs: means.tmpfs,
    async run(stage) {
      mkdirSync(stage.path());
      const options = 'size=64m,mode=700';
      assert(means.ran('mount', '-t', 'tmpfs', '-o', options, 'none', stage.path()));
      stage.onEnd(() => stage.until('it is free', () => means.ran('umount', stage.path())));
      stage.complaints.add('disk space');
      await stage.begin();
      const { bavail, bsize } = statfsSync(stage.path());
      const filler = stage.path('filler');
      writeFileSync(filler, Buffer.alloc(bavail * bsize - 40 * 1024));
      stage.onHeal(() => rmSync(filler));
      stage.put({ 'a.txt': 'refused\n' });
      const { code } = await stage.refusal('create_checkpoint', { message: 'refused' });
      assert.equal(code, 'STORAGE_FULL');
    },
  },
  {
    id: 'F46',
    what: 'the machine sleeps and wakes',
    how: 'the wall clock an hour ahead of the monotonic one',
    needs: means.faketime,
    async run(stage) {
      await stage.begin(undefined, { env: faked(stage, '+0') });
      await findsChangesAfter(stage, async (change) => {
        await stage.call('subscribe', { types: ['watch_desynced'] });
        clockFile(stage, '+3600');
        change();
        await doubted(stage, 'sleep');
      });
    },
  },
  {
    id: 'F47',
    what: 'the daemon stands still for a while',
    how: 'SIGSTOP for 21 seconds',
    async run(stage) {
      await stage.begin();
      await findsChangesAfter(stage, async (change) => {
        await stage.call('subscribe', { types: ['watch_desynced'] });
        process.kill(stage.daemon.pid, 'SIGSTOP');
        change();
        // Its heart beats every 15 s, and five more are taken for a stall.
        const woken = Date.now() + 21_000;
        await stage.until('it stood still long enough', () => Date.now() > woken);
        process.kill(stage.daemon.pid, 'SIGCONT');
        await doubted(stage, 'stall');
      });
    },
  },
  {
    id: 'F48',
    what: 'a client of another version',
    how: 'a method and a parameter that this daemon does not know',
    fast: true,
    async run(stage) {
      await stage.begin();
      const { protocol } = await stage.status();
      assert.equal(protocol, stage.daemonFile().protocol, 'the version cannot be compared');
      const method = await stage.refusal('method_of_the_future', {});
      assert.equal(method.code, 'METHOD_NOT_FOUND');
      const parameter = await stage.refusal('create_checkpoint', { of_the_future: true });
      assert.equal(parameter.code, 'INVALID_PARAMS');
      assert.match(parameter.message, /of_the_future/u);
      assert.equal(readdirSync(stage.path('dialogs')).length, 2);
    },
  },
];
