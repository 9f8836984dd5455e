import { setTimeout as pause } from 'node:timers/promises';
import { SmithyError } from '../../core/errors.js';
import { findRoot } from '../../host/find-root.js';
import { isHeld, tryReach } from '../../client/reach.js';
import type { GlobalFlags } from '../args.js';
import type { Around } from '../local-run.js';
import { printable } from '../text.js';

/** Draining may take five seconds, the rest of the way a moment. */
const STOP_TIMEOUT_MS = 15_000;
const LOOK_AGAIN_MS = 50;

export async function stop(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  read(words);
  const root = findRoot(globals.root, process.cwd());
  const wasRunning = await end(root);
  if (globals.json) process.stdout.write(`${JSON.stringify({ stopped: wasRunning })}\n`);
  else {
    const what = wasRunning ? 'The daemon stopped for' : 'No daemon runs for';
    process.stdout.write(`${what} ${printable(root)}.\n`);
  }
  return 0;
}

/** False when there was nobody to stop. */
async function end(root: string): Promise<boolean> {
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  for (let wasRunning = false; ; wasRunning = true) {
    const reached = await tryReach({ root });
    if (reached !== undefined) {
      const { wire, daemon } = reached;
      await wire.call('shutdown', {}, STOP_TIMEOUT_MS).catch(unlessStopping);
      // The daemon keeps this one connection until its process is gone.
      await within(STOP_TIMEOUT_MS, wire.closed, daemon.pid);
      return true;
    }
    // One that begins, or still answers what is under way, cannot be reached and holds the lock.
    if (!(await isHeld(root))) return wasRunning;
    if (performance.now() > deadline) throw stillThere(root);
    await pause(LOOK_AGAIN_MS);
  }
}

function stillThere(root: string): SmithyError {
  return new SmithyError('TIMEOUT', `The daemon of ${root} does not end.`, {
    hint: 'Look at .agentsmithy/run/daemon.log; it may be waiting for the disk.',
    data: { root, retry_after_ms: 1000 },
  });
}

/** Somebody else asked a moment before us: the end is the same. */
function unlessStopping(thrown: unknown): void {
  const { code } = SmithyError.from(thrown);
  if (code !== 'SHUTTING_DOWN' && code !== 'DAEMON_UNAVAILABLE') throw thrown;
}

async function within(milliseconds: number, ended: Promise<void>, pid: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const hint = `Look at the log; \`kill -9 ${pid}\` loses nothing that was acknowledged.`;
      reject(new SmithyError('TIMEOUT', `Process ${pid} does not end.`, { hint, data: { pid } }));
    }, milliseconds);
  });
  await Promise.race([ended, late]).finally(() => clearTimeout(timer));
}
