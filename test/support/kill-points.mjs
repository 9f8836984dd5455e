/**
 * Ways to kill a daemon in the middle of a call. Where strace works, at the very system call that
 * would have been the next step; otherwise after a part of the time that such a call usually takes.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { attach } from './strace.mjs';

const DEADLINE_MS = 30_000;
/** Everything that leaves a trace on the disk, and the pipes to git and to the client. */
const CALLS =
  'rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,link,linkat,symlink,symlinkat,' +
  'ftruncate,fsync,fdatasync,pwrite64,write,fchmod,chmod';
/** What `git repack` does to the packs. */
const REPACK_CALLS = 'rename,unlink,link,fsync,chmod';

/** Does the call once under strace and says which points there are: [system call, how often]. */
export async function pointsOf({ folder, daemon, act }) {
  const log = join(folder, 'points.log');
  const tracing = await attach(daemon.pid, ['-o', log, '-e', `trace=${CALLS}`]);
  await act();
  await tracing.stop();
  const counts = new Map();
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [, thread, name] = /^(\d+) +(\w+)\(/u.exec(line) ?? [];
    if (name === undefined) continue;
    const perThread = counts.get(name) ?? new Map();
    counts.set(name, perThread.set(thread, (perThread.get(thread) ?? 0) + 1));
  }
  return [...counts].flatMap(([name, threads]) => {
    return numbers(Math.max(...threads.values())).map((number) => ({ name, number }));
  });
}

/** All of a few; of many the first, the last and some in between. */
function numbers(count) {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  if (count <= 8) return all;
  const middle = [0.2, 0.4, 0.6, 0.8].map((part) => Math.round(count * part));
  return [...new Set([1, 2, 3, ...middle, count - 2, count - 1, count])].sort((a, b) => a - b);
}

/** Kills at the point; answers the step it came to, or undefined when the call ended before it. */
export async function killAt({ folder, root, daemon, act }, { name, number }) {
  const log = join(folder, 'kill.log');
  const fault = `inject=${name}:signal=KILL:when=${number}`;
  const tracing = await attach(daemon.pid, ['-y', '-o', log, '-e', `trace=${name}`, '-e', fault]);
  const acted = act();
  const isKilled = () => readFileSync(log, 'utf8').includes('killed by SIGKILL');
  let isOver = false;
  void acted.then(() => (isOver = true));
  while (!isOver && !isKilled()) await pause(2);
  await tracing.stop();
  if (!isKilled()) return { step: undefined, acted };
  const text = readFileSync(log, 'utf8');
  const calls = text.split('\n').filter((line) => line.includes(`${name}(`));
  return { step: stepOf(calls.at(-1) ?? name, root), acted };
}

/** `rename .git/refs/heads/session_*.lock`: the call and the file, without what differs each time. */
function stepOf(line, root) {
  const [, name = '', rest = ''] = /(\w+)\((.*)/u.exec(line) ?? [];
  const [, path = ''] = /^(?:AT_FDCWD[^,]*, )?(?:\d+<([^>]*)>|"([^"]*)")/u.exec(rest) ?? [];
  const named = path === '' ? (/"([^"]*)"/u.exec(rest)?.[1] ?? '') : path;
  const place = named
    .replace(root, '')
    .replace(/^\/proc\/self\/fd\/\d+\//u, 'tree:')
    .replace(/[0-9a-f]{40}|[0-9a-f]{12}|[0-9A-Z]{26}/gu, '*')
    .replace(/(socket|pipe|anon_inode|UNIX[^:]*):.*/u, '$1')
    .replace(/\/d\d\/f\d+|f\d+$/u, 'file')
    .replace(/\d+/gu, 'N');
  return `${name} ${place}`.trim();
}

/**
 * A git for the daemon's PATH that kills, or holds up, a repack at a step of our choice and is git
 * otherwise. It must lie outside the project: no git inside one is ever started.
 */
export function repackTrap(folder, realGit) {
  const [bin, plan, log] = ['bin', 'plan', 'repack.log'].map((name) => join(folder, name));
  mkdirSync(bin);
  const script = [
    '#!/bin/sh',
    `case " $* " in *" repack "*) if [ -f '${plan}' ]; then fault=$(cat '${plan}'); rm '${plan}'`,
    `exec strace -f -o '${log}' -e trace=${REPACK_CALLS} -e "inject=$fault" '${realGit}' "$@"; fi;;`,
    'esac',
    `exec '${realGit}' "$@"`,
  ];
  writeFileSync(join(bin, 'git'), `${script.join('\n')}\n`, { mode: 0o755 });
  return {
    bin,
    set(fault) {
      rmSync(log, { force: true });
      writeFileSync(plan, fault);
    },
    isSet: () => existsSync(plan),
    /** The repack is gone, one way or the other. */
    async over() {
      const end = performance.now() + DEADLINE_MS;
      const pids = () =>
        [...readFileSync(log, 'utf8').matchAll(/^(\d+) /gmu)].map(([, pid]) => pid);
      while (pids().some((pid) => existsSync(`/proc/${pid}/exe`))) {
        if (performance.now() > end) throw new Error('a repack does not end');
        await pause(5);
      }
    },
    /** True once the trap was hit, false when the repack ended without. */
    async sprung(daemonEnded) {
      const end = performance.now() + DEADLINE_MS;
      for (;;) {
        const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
        if (/killed by SIGKILL|stopped by SIGSTOP/u.test(text)) return true;
        if (/\+\+\+ exited with \d+ \+\+\+\n$/u.test(text) && !existsSync(plan)) return false;
        if (performance.now() > end) throw new Error(`no repack was seen: ${text.slice(-500)}`);
        await Promise.race([pause(2), daemonEnded]);
      }
    },
    /** Processes held up at the step. */
    held() {
      const text = readFileSync(log, 'utf8');
      return [...text.matchAll(/^(\d+) .*stopped by SIGSTOP/gmu)].map(([, pid]) => Number(pid));
    },
  };
}
