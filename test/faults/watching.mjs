/** F49 to F72: changes that the system does not tell of, tells too late, or tells too often. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { clockFile, faked } from './clocks.mjs';
import * as means from './means.mjs';

const QUEUE = '/proc/sys/fs/inotify/max_queued_events';
const WATCHES = '/proc/sys/user/max_inotify_watches';
const INSTANCES = '/proc/sys/user/max_inotify_instances';

/** A daemon in a user namespace of its own, where a limit is lower than elsewhere. */
const limited = (file, value) => ({
  under: ['unshare', '-U', '-r', 'sh', '-c', `echo ${value} > ${file} && exec "$@"`, 'sh'],
});

/** With too few watches nothing is missed, and the state says why. */
async function fewWatches(stage, options) {
  const folders = Array.from({ length: 12 }, (_, n) => `d${n}/deep/f`);
  const all = (text) => Object.fromEntries(folders.map((path) => [path, text]));
  await stage.begin({ 'a.txt': 'one\n', ...all('old\n') }, options);
  const { watcher } = await stage.status();
  assert.equal(watcher.state, 'degraded');
  assert.match(JSON.stringify(watcher), /limit|watch_failed/u);
  stage.put(all('new\n'));
  const { changed } = await stage.save('all of them');
  assert.equal(changed.modified, folders.length, 'a change was missed');
  await stage.daemon.stop();
}

/** The project lies behind a mount that tells of nothing. */
function behindMount(stage) {
  const behind = stage.scratch('behind');
  const seen = stage.scratch('seen');
  execFileSync('bindfs', ['-o', 'attr_timeout=0,entry_timeout=0', behind, seen]);
  stage.onEnd(() => means.ran('umount', '-l', seen));
  mkdirSync(join(behind, 'project'));
  stage.moveTo(join(seen, 'project'));
  stage.complaints.clear();
  stage.complaints.add('watcher');
  return join(behind, 'project');
}

/** A change without an event is in the next checkpoint that was asked to look at everything. */
async function foundByScan(stage, change) {
  await stage.begin();
  await change();
  await stage.call('rescan');
  const { changed } = await stage.save('found');
  assert.equal(changed.modified, 1, 'the change was missed');
}

/** The root is gone for a while: the daemon ends, and nothing is called deleted. */
async function rootGone(stage, take, giveBack) {
  await stage.begin();
  const ledger = () => readFileSync(stage.path('ledger/events.jsonl'), 'utf8');
  const before = ledger();
  take();
  await stage.until('the daemon is gone', () => stage.isGone());
  giveBack();
  assert.equal(ledger(), before, 'something was recorded');
  await stage.start({});
  const { unknownChanges } = await stage.call('detect_unknown_modifications');
  assert.deepEqual(unknownChanges, []);
}

async function counted(stage, change, wanted) {
  await stage.begin();
  await change();
  const { changed } = await stage.save('changed');
  assert.deepEqual(changed, { added: 0, modified: 0, deleted: 0, ...wanted });
}

/** Two checkpoints with a jump of the clock between them. */
async function clockJump(stage, offset) {
  await stage.begin(undefined, { env: faked(stage, '+0') });
  clockFile(stage, offset);
  stage.put({ 'a.txt': 'after the jump\n' });
  const { edit_id: edit } = await stage.call('start_edit', { files: ['src/b.js'] });
  const { changed } = await stage.save('after');
  assert.equal(changed.modified, 1);
  const { edits } = await stage.call('list_edits');
  assert.equal(edits.length, 1, 'an open edit was ended by the clock');
  await stage.call('finalize_edit', { edit_id: edit });
  const { checkpoints } = await stage.call('list_checkpoints', { dialog_id: stage.dialog });
  assert.deepEqual(
    checkpoints.map(({ message }) => message).slice(0, 2),
    ['after', 'second'],
    'the order is that of the clock',
  );
}

function stampOf(path) {
  const { atime, mtime, size } = statSync(path);
  return { atime, mtime, size };
}

export const watching = [
  {
    id: 'F49',
    what: 'the queue of events runs over',
    how: 'SIGSTOP while more events come than it holds',
    async run(stage) {
      const files = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`q/f${n}`, '0\n']));
      await stage.begin({ 'a.txt': 'one\n', ...files });
      process.kill(stage.daemon.pid, 'SIGSTOP');
      const limit = Number(readFileSync(QUEUE, 'utf8'));
      for (let n = 0; n < limit / 2; n += 1) {
        stage.put({ [`q/passing${n}`]: 'x' });
        stage.put({ [`q/passing${n}`]: null });
      }
      // Told of after the queue was full, if at all.
      stage.put({ 'q/f150': 'late\n', 'new/late': 'late\n' });
      process.kill(stage.daemon.pid, 'SIGCONT');
      const { changed } = await stage.save('all');
      assert.deepEqual(changed, { added: 1, modified: 1, deleted: 0 });
      const { text } = await stage.call('get_metrics');
      const doubts = text
        .split('\n')
        .filter((line) => line.startsWith('smithyd_watch_desyncs_total'));
      assert.match(doubts.join('\n'), /\} [1-9]/u, 'the doubt is not told');
    },
  },
  {
    id: 'F50',
    what: 'no more watches',
    how: 'a limit of 8 in a user namespace',
    needs: means.userNamespaces,
    run: (stage) => fewWatches(stage, limited(WATCHES, 8)),
  },
  {
    id: 'F51',
    what: 'no more watching instances',
    how: 'a limit of 0 in a user namespace',
    needs: means.userNamespaces,
    run: (stage) => fewWatches(stage, limited(INSTANCES, 0)),
  },
  {
    id: 'F52',
    what: 'a file system that tells of nothing',
    how: 'bindfs',
    needs: means.bindfs,
    async run(stage) {
      const behind = behindMount(stage);
      await stage.begin();
      writeFileSync(join(behind, 'a.txt'), 'behind\n');
      const { watcher } = await stage.status();
      assert.deepEqual([watcher.state, watcher.reason], ['degraded', 'no_events']);
      await stage.save('seen all the same');
    },
  },
  {
    id: 'F53',
    what: 'changes behind a mount',
    how: 'bindfs, written on the other side',
    needs: means.bindfs,
    async run(stage) {
      const behind = behindMount(stage);
      await stage.begin();
      writeFileSync(join(behind, 'a.txt'), 'changed behind it\n');
      writeFileSync(join(behind, 'late.txt'), 'made behind it\n');
      const { changed } = await stage.save('both');
      assert.deepEqual(changed, { added: 1, modified: 1, deleted: 0 });
    },
  },
  {
    id: 'F54',
    what: 'a file is changed through a memory map',
    how: 'mmap, which tells nobody',
    fast: true,
    run: (stage) =>
      foundByScan(stage, () => {
        const script =
          "import mmap, sys\nf = open(sys.argv[1], 'r+b')\nm = mmap.mmap(f.fileno(), 0)\nm[0:1] = b'X'\nm.flush()\n";
        execFileSync('python3', ['-c', script, stage.at('a.txt')]);
      }),
  },
  {
    id: 'F55',
    what: 'a file is changed through a name outside',
    how: 'a hard link beside the project',
    run: (stage) =>
      foundByScan(stage, () => {
        const other = join(stage.scratch('other'), 'name');
        linkSync(stage.at('a.txt'), other);
        writeFileSync(other, 'written from outside\n');
      }),
  },
  {
    id: 'F56',
    what: 'a folder is moved into the tree',
    how: 'rename of a folder with 100 files',
    fast: true,
    run: (stage) =>
      counted(
        stage,
        () => {
          const from = join(stage.scratch('from'), 'moved');
          mkdirSync(from);
          for (let n = 0; n < 100; n += 1) writeFileSync(join(from, `f${n}`), `${n}\n`);
          renameSync(from, stage.at('moved'));
        },
        { added: 100 },
      ),
  },
  {
    id: 'F57',
    what: 'deep folders made in a burst',
    how: '40 levels with a file in each',
    run: (stage) =>
      counted(
        stage,
        () => {
          for (let n = 1; n <= 40; n += 1) stage.put({ [`${'x/'.repeat(n)}f`]: `${n}\n` });
        },
        { added: 40 },
      ),
  },
  {
    id: 'F58',
    what: 'a folder is renamed',
    how: 'rename with files in it',
    run: (stage) =>
      counted(stage, () => renameSync(stage.at('src'), stage.at('source')), {
        added: 3,
        deleted: 3,
      }),
  },
  {
    id: 'F59',
    what: 'the root is renamed away',
    how: 'rename, and back later',
    fast: true,
    async run(stage) {
      const away = join(stage.folder, 'away');
      const back = () => renameSync(away, stage.root);
      await rootGone(stage, () => renameSync(stage.root, away), back);
    },
  },
  {
    id: 'F60',
    what: 'the root is deleted',
    how: 'rm -r, and a copy put back',
    async run(stage) {
      const copy = join(stage.folder, 'copy');
      await stage.begin();
      await stage.daemon.stop();
      cpSync(stage.root, copy, { recursive: true, preserveTimestamps: true });
      await stage.start({});
      rmSync(stage.root, { recursive: true, maxRetries: 5 });
      await stage.until('the daemon is gone', () => stage.isGone());
      assert(!existsSync(stage.root), 'the root was made again');
      renameSync(copy, stage.root);
      await stage.start({});
      const { unknownChanges } = await stage.call('detect_unknown_modifications');
      assert.deepEqual(unknownChanges, []);
    },
  },
  {
    id: 'F61',
    what: 'another folder takes the place of the root',
    how: 'two renames',
    async run(stage) {
      const away = join(stage.folder, 'away');
      const take = () => {
        renameSync(stage.root, away);
        mkdirSync(stage.root);
        writeFileSync(stage.at('stranger'), 'not yours\n');
      };
      await rootGone(stage, take, () => {
        assert.deepEqual([...readdirSync(stage.root)], ['stranger'], 'the stranger was written to');
        rmSync(stage.root, { recursive: true });
        renameSync(away, stage.root);
      });
    },
  },
  {
    id: 'F62',
    what: 'a mount over the root',
    how: 'tmpfs mounted on it, and taken away',
    needs: means.tmpfs,
    async run(stage) {
      stage.onEnd(() => means.ran('umount', stage.root));
      const take = () => assert(means.ran('mount', '-t', 'tmpfs', 'none', stage.root));
      await rootGone(stage, take, () => {
        assert.deepEqual([...readdirSync(stage.root)], [], 'the other disk was written to');
        assert(means.ran('umount', stage.root));
      });
    },
  },
  {
    id: 'F63',
    what: 'an editor saves by a new file and a rename',
    how: 'ten such saves',
    fast: true,
    run: (stage) =>
      counted(
        stage,
        () => {
          for (let n = 0; n < 10; n += 1) {
            stage.put({ '.a.txt.new': `save ${n}\n` });
            renameSync(stage.at('.a.txt.new'), stage.at('a.txt'));
          }
        },
        { modified: 1 },
      ),
  },
  {
    id: 'F64',
    what: 'swap, backup and probe files of editors',
    how: '.swp, ~, 4913 and .#lock come and go',
    run: (stage) =>
      counted(
        stage,
        () => {
          for (const name of ['.a.txt.swp', '4913', '.#a.txt']) {
            stage.put({ [name]: 'editor\n' });
            stage.put({ [name]: null });
          }
          stage.put({ 'a.txt': 'saved\n' });
        },
        { modified: 1 },
      ),
  },
  {
    id: 'F65',
    what: 'a file written in many parts',
    how: '500 appends, then a checkpoint',
    run: (stage) =>
      counted(
        stage,
        () => {
          for (let n = 0; n < 500; n += 1) appendFileSync(stage.at('a.txt'), `${n} `.repeat(50));
        },
        { modified: 1 },
      ),
  },
  {
    id: 'F66',
    what: 'a file changes while it is hashed',
    how: 'every read of it is slow, and it is rewritten meanwhile',
    needs: means.strace,
    async run(stage) {
      await stage.begin();
      const versions = ['x', 'y', 'z'].map((sign) => Buffer.alloc(400_000, sign));
      const at = { path: stage.at('big.txt') };
      const tracing = await stage.inject('read,pread64:delay_enter=100000', at);
      stage.put({ 'big.txt': versions[0] });
      const saving = stage.call('create_checkpoint', { message: 'while it changes' });
      await stage.until('it is being read', tracing.isHit);
      stage.put({ 'big.txt': versions[1] });
      const { commit_id: id, skipped } = await saving;
      await tracing.stop();
      if (!skipped.some(({ path }) => path === 'big.txt')) {
        const answer = await stage.call('show', { at: id, path: 'big.txt' });
        assert(
          versions.some((bytes) => bytes.equals(Buffer.from(answer.content))),
          'a mixture was saved',
        );
      }
      stage.put({ 'big.txt': versions[2] });
      await stage.save('at rest');
    },
  },
  {
    id: 'F67',
    what: 'a file goes away while it is hashed',
    how: 'every read of it is slow, and it is deleted meanwhile',
    needs: means.strace,
    async run(stage) {
      await stage.begin();
      const at = { path: stage.at('gone.txt') };
      const tracing = await stage.inject('read,pread64:delay_enter=200000', at);
      stage.put({ 'gone.txt': 'soon gone\n'.repeat(1000) });
      const saving = stage.call('create_checkpoint', { message: 'while it goes' });
      await stage.until('it is being read', tracing.isHit);
      stage.put({ 'gone.txt': null });
      await saving;
      await tracing.stop();
      await stage.save('without it');
    },
  },
  {
    id: 'F68',
    what: 'an edit of the same size with the old time put back',
    how: 'utimes',
    fast: true,
    run: (stage) =>
      foundByScan(stage, () => {
        const { atime, mtime, size } = stampOf(stage.at('a.txt'));
        writeFileSync(stage.at('a.txt'), 'TWO\n');
        utimesSync(stage.at('a.txt'), atime, mtime);
        assert.equal(statSync(stage.at('a.txt')).size, size);
      }),
  },
  {
    id: 'F69',
    what: 'the clock jumps back a day',
    how: 'libfaketime',
    needs: means.faketime,
    run: (stage) => clockJump(stage, '-1d'),
  },
  {
    id: 'F70',
    what: 'the clock jumps years ahead',
    how: 'libfaketime',
    needs: means.faketime,
    run: (stage) => clockJump(stage, '+3y'),
  },
  {
    id: 'F71',
    what: 'times in the future and before 1970',
    how: 'utimes',
    async run(stage) {
      await stage.begin();
      stage.put({ 'future.txt': 'f\n', 'past.txt': 'p\n' });
      utimesSync(stage.at('future.txt'), 4e9, 4e9);
      utimesSync(stage.at('past.txt'), -1e8, -1e8);
      await stage.save('both');
      stage.put({ 'future.txt': 'F\n', 'past.txt': 'P\n' });
      utimesSync(stage.at('future.txt'), 4e9, 4e9);
      utimesSync(stage.at('past.txt'), -1e8, -1e8);
      const { changed } = await stage.save('both changed');
      assert.equal(changed.modified, 2);
    },
  },
  {
    id: 'F72',
    what: 'a storm of 100,000 events',
    how: 'appends to 50 files',
    async run(stage) {
      const files = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`s/f${n}`, '0\n']));
      await stage.begin({ 'a.txt': 'one\n', ...files });
      const { memory_bytes: before } = await stage.status();
      for (let n = 0; n < 50_000; n += 1) appendFileSync(stage.at(`s/f${n % 50}`), 'x');
      const { changed } = await stage.save('after the storm');
      assert.equal(changed.modified, 50);
      const { memory_bytes: after } = await stage.status();
      assert(after - before < 200 * 1024 * 1024, 'its memory grew');
    },
  },
];
