/** F22 to F36: the machine has no more of something, or a disk fails. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as means from './means.mjs';

const MEGABYTE = 1024 * 1024;
const ledger = (stage) => stage.path('ledger/events.jsonl');

/** Takes all bytes but a few, in a file that is nobody's. */
function fill(stage, left) {
  const { bavail, bsize } = statfsSync(stage.root);
  const file = stage.at('.git/filler');
  mkdirSync(stage.at('.git'), { recursive: true });
  writeFileSync(file, Buffer.alloc(bavail * bsize - left));
  stage.onHeal(() => rmSync(file));
}

/** The checkpoint is refused with this code, and everything can still be read. */
async function refusesAndReads(stage, codes) {
  stage.put({ 'a.txt': 'refused\n' });
  const error = await stage.refusal('create_checkpoint', { message: 'refused' });
  assert([codes].flat().includes(error.code), `${error.code}: ${error.message}`);
  const { checkpoints } = await stage.call('list_checkpoints', { dialog_id: stage.dialog });
  assert.equal(checkpoints.length, 2, 'a refused checkpoint is listed');
  const { content } = await stage.call('show', { at: stage.first, path: 'a.txt' });
  assert.equal(content, 'one\n');
  return error;
}

/** A fault in every write to the ledger, until it is healed. */
async function withLedger(stage, fault, code) {
  await stage.begin();
  const tracing = await stage.inject(`pwrite64:error=${fault}`, { path: ledger(stage) });
  const error = await refusesAndReads(stage, code);
  await tracing.stop();
  if (code === 'STORAGE_FULL') await stage.save('there is room again');
  return error;
}

function limit(pid, what) {
  execFileSync('prlimit', ['--pid', String(pid), what]);
}

export const diskAndLimits = [
  {
    id: 'F22',
    what: 'no space while writing an object',
    how: 'a tmpfs that is full',
    needs: means.tmpfs,
    fast: true,
    async run(stage) {
      stage.onSmallDisk('size=64m');
      await stage.begin();
      fill(stage, 40 * 1024);
      const { data } = await refusesAndReads(stage, 'STORAGE_FULL');
      assert(Number.isFinite(data.free), 'it does not say how much is free');
    },
  },
  {
    id: 'F23',
    what: 'no space while writing the ledger',
    how: 'ENOSPC on its writes',
    needs: means.strace,
    fast: true,
    run: (stage) => withLedger(stage, 'ENOSPC', 'STORAGE_FULL'),
  },
  {
    id: 'F24',
    what: 'no space during a restore',
    how: 'a tmpfs that is nearly full',
    needs: means.tmpfs,
    async run(stage) {
      stage.onSmallDisk('size=128m');
      await stage.begin({ 'a.txt': 'one\n', large: Buffer.alloc(30 * MEGABYTE, 'large ') });
      stage.put({ large: 'small now\n' });
      await stage.save('small');
      const before = stage.disk();
      fill(stage, 22 * MEGABYTE);
      const { code } = await stage.refusal('restore', { checkpoint_id: stage.first });
      assert.equal(code, 'STORAGE_FULL');
      assert.deepEqual(stage.disk(), before, 'it wrote before it refused');
    },
  },
  {
    id: 'F25',
    what: 'no inode left',
    how: 'a tmpfs without inodes',
    needs: means.tmpfs,
    async run(stage) {
      stage.onSmallDisk('size=64m,nr_inodes=2000');
      await stage.begin();
      const folder = stage.at('.git/many');
      mkdirSync(folder, { recursive: true });
      stage.onHeal(() => rmSync(folder, { recursive: true }));
      const takeAll = () => {
        for (let n = 0; ; n += 1) writeFileSync(join(folder, String(n)), '');
      };
      assert.throws(takeAll, { code: 'ENOSPC' });
      const { message, data } = await refusesAndReads(stage, 'STORAGE_FULL');
      assert.match(`${message} ${JSON.stringify(data)}`, /inode/u);
    },
  },
  {
    id: 'F26',
    what: 'quota exceeded, for which Node has no name',
    how: 'EDQUOT on writes of the ledger, and on a flush of the store',
    needs: means.strace,
    fast: true,
    async run(stage) {
      await withLedger(stage, 'EDQUOT', 'STORAGE_FULL');
      const tracing = await stage.inject('fsync:error=EDQUOT');
      stage.put({ 'a.txt': 'over the quota\n' });
      const { code } = await stage.refusal('create_checkpoint', { message: 'refused' });
      assert.equal(code, 'STORAGE_FULL');
      await tracing.stop();
      // What could not be flushed could not be taken away either: only a new start looks again.
      await stage.daemon.stop();
    },
  },
  {
    id: 'F27',
    what: 'a file larger than the limit of the process',
    how: 'RLIMIT_FSIZE during a restore',
    needs: means.prlimit,
    async run(stage) {
      await stage.begin({ 'a.txt': 'one\n', large: Buffer.alloc(3 * MEGABYTE, 'x') });
      stage.put({ large: 'small now\n' });
      await stage.save('small');
      limit(stage.daemon.pid, `--fsize=${MEGABYTE}:unlimited`);
      stage.onHeal(() => stage.isGone() || limit(stage.daemon.pid, '--fsize=unlimited:unlimited'));
      const { restored, skipped } = await stage.call('restore', { checkpoint_id: stage.first });
      assert.deepEqual(
        skipped.map(({ path }) => path),
        ['large'],
      );
      assert.match(skipped[0].reason, /EFBIG|too large/u);
      assert(restored.includes('a.txt'), 'the others were not restored');
    },
  },
  {
    id: 'F28',
    what: 'too many open files in the daemon',
    how: 'RLIMIT_NOFILE of 1',
    needs: means.prlimit,
    async run(stage) {
      await stage.begin();
      limit(stage.daemon.pid, '--nofile=1:');
      stage.onHeal(() => stage.isGone() || limit(stage.daemon.pid, '--nofile=1024:'));
      stage.put({ 'a.txt': 'not to be read\n' });
      const { code } = await stage.refusal('create_checkpoint', { message: 'refused' });
      assert(['STORAGE_IO', 'BUSY', 'TIMEOUT'].includes(code), code);
      const { watcher } = await stage.status();
      assert.equal(watcher.fresh, false, 'the doubt is not told');
      await stage.heal();
      await stage.until('everything is known again', async () => {
        return (await stage.call('known_files')).fresh;
      });
    },
  },
  {
    id: 'F29',
    what: 'too many open files on the machine',
    how: 'ENFILE on every open',
    needs: means.strace,
    async run(stage) {
      await stage.begin();
      const tracing = await stage.inject('openat:error=ENFILE');
      stage.put({ 'a.txt': 'not to be read\n' });
      const { code } = await stage.refusal('create_checkpoint', { message: 'refused' });
      assert(['STORAGE_IO', 'BUSY', 'TIMEOUT'].includes(code), code);
      await tracing.stop();
      await stage.until('everything is known again', async () => {
        return (await stage.call('known_files')).fresh;
      });
    },
  },
  {
    id: 'F30',
    what: 'no process can be started for git',
    how: 'EAGAIN on every fork, after git was killed',
    needs: means.strace,
    async run(stage) {
      await stage.begin();
      const tracing = await stage.inject('fork,vfork,clone,clone3:error=EAGAIN');
      for (const pid of stage.children('cat-file')) process.kill(pid, 'SIGKILL');
      // Small contents need no git; this one is streamed through a child.
      stage.put({ 'large.bin': Buffer.alloc(3 * MEGABYTE, 'no git') });
      const { code } = await stage.refusal('create_checkpoint', { message: 'refused' });
      assert(['STORAGE_IO', 'BUSY', 'TIMEOUT'].includes(code), code);
      await tracing.stop();
      await stage.save('git again');
    },
  },
  {
    id: 'F31',
    what: 'the daemon is killed for its memory',
    how: 'a control group with too little memory',
    needs: means.all(means.root, means.cgroups),
    async run(stage) {
      const group = means.newGroup('memory');
      mkdirSync(group);
      stage.onHeal(() => stage.until('the group is empty', () => means.ran('rmdir', group)));
      await stage.begin();
      writeFileSync(join(group, 'cgroup.procs'), String(stage.daemon.pid));
      const limitFile = ['memory.limit_in_bytes', 'memory.max'].find((name) =>
        means.ran('test', '-e', join(group, name)),
      );
      writeFileSync(join(group, limitFile), String(24 * MEGABYTE));
      stage.put({
        'a.txt': 'not seen by anybody\n',
        'large.bin': Buffer.alloc(40 * MEGABYTE, 'm'),
      });
      const padding = { message: 'x'.repeat(15 * MEGABYTE) };
      await stage.until('it is killed', async () => {
        await stage.call('create_checkpoint', padding).catch(() => undefined);
        return stage.isGone();
      });
      await stage.start({});
      const { unknownChanges } = await stage.call('detect_unknown_modifications');
      const paths = unknownChanges.map(({ filePath }) => filePath);
      assert(paths.includes('a.txt'), 'a change of the time between is not told');
    },
  },
  {
    id: 'F32',
    what: 'git is killed for its memory',
    how: 'SIGKILL of git in the middle of a checkpoint',
    fast: true,
    async run(stage) {
      await stage.begin();
      stage.put({ 'large.bin': randomBytes(30 * MEGABYTE) });
      const saving = stage.save('by another git');
      await stage.until('git takes the large file', () => {
        const [git] = stage.children('fast-import');
        if (git !== undefined) process.kill(git, 'SIGKILL');
        return git !== undefined;
      });
      // A child that was killed says nothing about its work: another one does it.
      await saving;
    },
  },
  {
    id: 'F33',
    what: 'a read-only file system at the start',
    how: 'a tmpfs mounted read-only',
    needs: means.tmpfs,
    async run(stage) {
      const disk = stage.onSmallDisk('size=64m');
      await stage.begin();
      await stage.daemon.stop();
      assert(means.ran('mount', '-o', 'remount,ro', disk));
      stage.onHeal(() => assert(means.ran('mount', '-o', 'remount,rw', disk)));
      const said = await stage.noStart();
      // A daemon that can write nothing down would be none: it says why and does not start.
      assert.match(said, /read-only|EROFS/u);
      const { code, stderr } = stage.command(['--json', 'status']);
      assert.notEqual(code, 0);
      assert.match(stderr, /"code"/u);
    },
  },
  {
    id: 'F34',
    what: 'the file system turns read-only while it runs',
    how: 'EROFS on every change of the disk',
    needs: means.strace,
    async run(stage) {
      await stage.begin();
      const calls = 'pwrite64,fsync,fdatasync,rename,link,unlink,mkdir,ftruncate';
      await stage.inject(`${calls}:error=EROFS`);
      await refusesAndReads(stage, 'STORAGE_IO');
      await stage.heal();
      await stage.daemon.stop();
    },
  },
  {
    id: 'F35',
    what: 'one file cannot be read',
    how: 'EIO on its reads',
    needs: means.strace,
    fast: true,
    async run(stage) {
      await stage.begin();
      const tracing = await stage.inject('read,pread64:error=EIO', { path: stage.at('a.txt') });
      stage.put({ 'a.txt': 'cannot be read\n', 'src/b.js': 'let b = 2;\n' });
      const { commit_id: id, skipped } = await stage.call('create_checkpoint', { message: 'most' });
      assert.deepEqual(
        skipped.map(({ path }) => path),
        ['a.txt'],
      );
      const { content } = await stage.call('show', { at: id, path: 'src/b.js' });
      assert.equal(content, 'let b = 2;\n');
      await tracing.stop();
      await stage.until('it is read again', async () => {
        await stage.call('rescan');
        const { changed } = await stage.save('all');
        return changed.modified > 0;
      });
    },
  },
  {
    id: 'F36',
    what: 'the disk of the store fails',
    how: 'EIO on every flush',
    needs: means.strace,
    async run(stage) {
      await stage.begin();
      const tracing = await stage.inject('fsync,fdatasync:error=EIO');
      const { data } = await refusesAndReads(stage, 'STORAGE_IO');
      assert.match(data.hint, /doctor|disk/u);
      await tracing.stop();
      const again = await stage.refusal('create_checkpoint', { message: 'no further writes' });
      assert.equal(again.code, 'STORAGE_IO');
      assert(!readFileSync(ledger(stage), 'utf8').includes('no further writes'));
      await stage.daemon.stop();
    },
  },
];
