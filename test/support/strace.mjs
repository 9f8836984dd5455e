/**
 * Faults in a running process, by strace: a call fails, or the process is killed as it enters one.
 * Nothing has to be compiled in, and the process cannot know.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { clearTimeout, setTimeout } from 'node:timers';

const DEADLINE_MS = 60_000;
const PATIENCE_MS = 300;
const MOST_ATTEMPTS = 5;

/** Whether this machine lets us look into a process that is not our child. */
export function canTrace() {
  const works = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
  return works && (process.getuid?.() === 0 || ptraceScope() === '0');
}

function ptraceScope() {
  try {
    return readFileSync('/proc/sys/kernel/yama/ptrace_scope', 'utf8').trim();
  } catch {
    return '0';
  }
}

/**
 * Attaches to all threads of the process; to what they start as well when `follow` is set, to none
 * but the one of this very number when `only` is. Resolves when every call from now on is under it.
 */
export async function attach(pid, args, how = {}) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attachOnce(pid, args, how);
    } catch (error) {
      // A thread that had nothing more to do was listed and is gone; the others are still there.
      const isGone = error.message.includes('No such process') && existsSync(`/proc/${pid}`);
      if (!isGone || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

async function attachOnce(pid, args, { follow = false, only = false }) {
  const threads = only ? [String(pid)] : readdirSync(`/proc/${pid}/task`);
  const who = follow ? ['-f', '-p', String(pid)] : threads.flatMap((thread) => ['-p', thread]);
  const child = spawn('strace', [...who, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const ended = once(child, 'exit');
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`strace is silent: ${said}`)), DEADLINE_MS);
    child.stderr.on('data', (chunk) => {
      said += chunk;
      const attached = said.match(/ attached/gu)?.length ?? 0;
      if (attached < (follow ? 1 : threads.length)) return;
      clearTimeout(timer);
      resolve();
    });
    void ended.then(() => {
      clearTimeout(timer);
      reject(new Error(`strace ended: ${said}`));
    });
  });
  return {
    said: () => said,
    ended,
    /** Lets go of the process. */
    async stop() {
      child.kill('SIGTERM');
      // After a kill of many threads strace 6.1 may wait for one that is gone already.
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/**
 * Starts a program with a fault in it from its first call on. The program is our child and strace
 * looks on from aside, so that strace alone can be sent away and the program stays.
 */
export function startUnder(args, command, env) {
  return spawn('strace', ['-D', '-f', '-o', '/dev/null', ...args, ...command], {
    env,
    stdio: 'ignore',
  });
}
