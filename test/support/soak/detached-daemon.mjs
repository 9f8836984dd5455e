/** A daemon that anybody may have started: commands do so when there is none. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Connection } from '../daemon-process.mjs';

const run = promisify(execFile);
const POLL_MS = 10;

export function detachedDaemon({ root, cli, env }) {
  const file = join(root, '.agentsmithy/run/daemon.json');
  const info = () => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      return undefined;
    }
  };

  /** Whether there is one now does not matter: the command finds out. */
  const start = () => run(process.execPath, [cli, '--root', root, 'start'], { env, cwd: '/' });

  async function end(signal) {
    const pid = info()?.pid;
    if (pid === undefined) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    while (existsSync(`/proc/${pid}`) && !isZombie(pid)) await pause(POLL_MS);
  }

  return { start, end, open: async () => Connection.open(info()?.socket ?? file) };
}

function isZombie(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].startsWith('Z');
  } catch {
    return true;
  }
}
