/**
 * Fails one system call at a time: every call by which a checkpoint, the end of an edit, a restore or a
 * line changes the disk, one after the other, in the daemon's threads and in its git. Whatever
 * fails, the caller gets a typed error or what was asked for, and everything acknowledged is there.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attach } from '../support/strace.mjs';
import { checkLedger, leftLocks, listAll } from '../support/sweep-daemon.mjs';
import { checkAftermath, stateOf } from './aftermath.mjs';
import { Stage } from './stage.mjs';

const CALLS =
  'openat,write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,' +
  'unlink,unlinkat,rmdir,mkdir,mkdirat,symlink,symlinkat,ftruncate';
export const ERRORS = ['EIO', 'ENOSPC'];
/** One thread for files: the n-th call of its kind is then the same step every time. */
const OPTIONS = { env: { UV_THREADPOOL_SIZE: '1' } };
/** Pipes, sockets and wake-ups do not lie on a disk; a log that cannot be written is nobody's loss. */
const ELSEWHERE = /<(socket|pipe|anon_inode|UNIX)|daemon\.log>|\/dev\//u;
/** Between two whole looks; each point has a short one. */
const WHOLE_LOOK_EVERY = 25;
const LOOKED_AT = 5;

export const OPERATIONS = {
  checkpoint: {
    prepare: (stage, n) => stage.put({ 'a.txt': `checkpoint ${n}\n`, [`new/f${n % 7}`]: `${n}\n` }),
    act: (stage) => stage.save('swept'),
  },
  finalize: {
    async prepare(stage, n) {
      const { edits } = await stage.call('list_edits');
      for (const { edit_id: id } of edits) await stage.call('finalize_edit', { edit_id: id });
      stage.edit = (await stage.call('start_edit', { files: ['a.txt'] })).edit_id;
      stage.put({ 'a.txt': `edited ${n}\n` });
    },
    act: (stage) => stage.call('finalize_edit', { edit_id: stage.edit }),
  },
  restore: {
    prepare: (stage, n) => stage.put({ 'a.txt': `pending ${n}\n`, 'src/extra.txt': `${n}\n` }),
    async act(stage) {
      const before = stage.disk();
      const { state } = stage.acknowledged.get(stage.first);
      try {
        const { skipped } = await stage.restore(stage.first);
        if (skipped.length === 0) assert.deepEqual(stage.disk(), state, 'it was not exact');
      } catch (error) {
        if (error.code === 'CLOSED') throw error;
        // The next call takes back what could not be taken back at once.
        await stage.call('list_dialogs');
        stage.afterwards = () => {
          assert.deepEqual(stage.disk(), before, 'half of a refused restore was left');
        };
        throw error;
      }
    },
  },
  append: {
    prepare: () => undefined,
    act: (stage) => stage.call('note', { text: 'swept' }),
  },
};

/** @throws Error at the first promise that is not kept. `step`: every so manieth point. */
export async function callSweep({
  cli,
  env,
  operation,
  errors = ERRORS,
  step = 1,
  most = Infinity,
}) {
  const stage = new Stage({ cli, env });
  const { prepare, act } = OPERATIONS[operation];
  const counts = { points: 0, refused: 0, answered: 0, missed: 0, restarts: 0 };
  let number = 0;
  try {
    stage.options = OPTIONS;
    await stage.begin();
    // Threads and children that come with the first calls are there.
    for (let warm = 0; warm < 2; warm += 1) {
      await prepare(stage, (number += 1));
      await act(stage);
    }
    const points = await record();
    for (const point of points.filter((_, at) => at % step === 0).slice(0, most)) {
      for (const error of errors) {
        await tryPoint(point, error).catch((cause) => {
          const where = `${error} on ${point.name} ${point.number} of ${point.who}`;
          throw new Error(`${operation}, ${where} (${point.line}): ${cause.message}`, { cause });
        });
        if (counts.points % WHOLE_LOOK_EVERY === 0) await wholeLook();
      }
    }
    await wholeLook();
    return { operation, known: points.length, ...counts };
  } finally {
    await stage.end();
  }

  /** Does it once under strace: which calls there are, whose, and in which order. */
  async function record() {
    const log = join(stage.folder, 'record.log');
    const args = ['-y', '-o', log, '-e', `trace=${CALLS}`];
    const git = gitOf(stage).flatMap((pid) => ['-p', String(pid)]);
    await prepare(stage, (number += 1));
    const tracing = await attach(stage.daemon.pid, [...git, ...args]);
    await act(stage);
    await tracing.stop();
    stage.beside.add('record.log');
    const seen = new Map();
    return readFileSync(log, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, thread, name] = /^(\d+) +(\w+)\(/u.exec(line) ?? [];
        if (name === undefined) return [];
        const key = `${thread} ${name}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
        const isWrite = name !== 'openat' || line.includes('O_CREAT');
        if (!isWrite || ELSEWHERE.test(line)) return [];
        return [{ who: roleOf(Number(thread)), name, number: seen.get(key), line: short(line) }];
      });
  }

  /** The thread or child that does it, by a name that outlives a restart. */
  function roleOf(pid) {
    const git = gitOf(stage).indexOf(pid);
    if (git !== -1) return `git ${git}`;
    return `thread ${threadsOf(stage).indexOf(pid)}`;
  }

  function pidOf(role) {
    const [kind, at] = role.split(' ');
    return (kind === 'git' ? gitOf(stage) : threadsOf(stage))[Number(at)];
  }

  async function tryPoint({ who, name, number: nth }, error) {
    await prepare(stage, (number += 1));
    stage.afterwards = () => undefined;
    const pid = pidOf(who);
    if (pid === undefined) {
      counts.missed += 1;
      return;
    }
    const tracing = await stage.inject(`${name}:error=${error}:when=${nth}`, { pid, only: true });
    const outcome = await act(stage).then(
      () => 'answered',
      (failure) => failure,
    );
    await tracing.stop();
    const isElsewhere = ELSEWHERE.test(injected(tracing.said()));
    counts.points += 1;
    if (!tracing.isHit()) counts.missed += 1;
    else if (outcome === 'answered') counts.answered += 1;
    else counts.refused += 1;
    await stage.heal();
    if (isElsewhere) {
      // Node ends when it cannot wake its own threads, and not at once.
      if (!stage.isGone()) await stage.daemon.kill();
      await stage.start();
    } else {
      assert(!stage.isGone(), 'the daemon died of it');
      if (outcome instanceof assert.AssertionError) throw outcome;
      if (outcome !== 'answered') {
        assert(
          !['INTERNAL', undefined].includes(outcome.code),
          `${outcome.code} ${outcome.message}`,
        );
      }
      stage.afterwards();
    }
    await shortLook();
  }

  /** Acknowledged checkpoints are whole, and the next one works, after a restart at the latest. */
  async function shortLook() {
    stage.put({ 'next.txt': `${(number += 1)}\n` });
    await stage.save('next').catch(async (error) => {
      assert(/^STORAGE_/u.test(error.code), `the next call: ${error.code} ${error.message}`);
      counts.restarts += 1;
      await stage.daemon.stop();
      await stage.start();
      await stage.save('next');
    });
    const listed = await listAll(stage.daemon, stage.dialog);
    for (const [commit, { state }] of [...stage.acknowledged].slice(-LOOKED_AT)) {
      assert(listed.has(commit), `checkpoint ${commit} is lost`);
      assert.deepEqual(stateOf(stage, stage.dialog, commit), state, `${commit} is not whole`);
    }
    checkLedger(stage.root);
    assert.deepEqual(await leftLocks(stage.root), [], 'locks were left');
  }

  async function wholeLook() {
    const { edits } = await stage.call('list_edits');
    for (const { edit_id: id } of edits) await stage.call('finalize_edit', { edit_id: id });
    const first = stage.acknowledged.get(stage.first);
    stage.keepSome(LOOKED_AT);
    stage.acknowledged.set(stage.first, first);
    await checkAftermath(stage);
    await stage.start();
    await prepare(stage, (number += 1));
    await act(stage);
  }
}

const threadsOf = (stage) =>
  readdirSync(`/proc/${stage.daemon.pid}/task`)
    .map(Number)
    .sort((a, b) => a - b);
const gitOf = (stage) => stage.children('cat-file');

function injected(text) {
  return text.split('\n').find((line) => line.includes('INJECTED')) ?? '';
}

/** The file's name without what differs each time. */
function short(line) {
  const [path = ''] =
    /[^/"<>]+(?=["<>])/u.exec(line.slice(line.lastIndexOf('/', line.indexOf(')')))) ?? [];
  return path.replace(/[0-9a-f]{12,}/gu, '*').slice(0, 60);
}
