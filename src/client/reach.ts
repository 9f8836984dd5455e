import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '../core/environment.js';
import { SmithyError } from '../core/errors.js';
import type { StreamedEvent } from '../core/events.js';
import { readDaemonFile, type DaemonFile } from '../host/daemon-file.js';
import { requirePrivate, statePaths } from '../host/state-folder.js';
import { requireTrustedSocket } from '../host/trusted-socket.js';
import { openWire, type Wire } from './wire.js';

export interface Reached {
  readonly wire: Wire;
  readonly daemon: DaemonFile;
  /** True when this call started it. */
  readonly started: boolean;
}

export interface ReachOptions {
  readonly root: string;
  /** The environment a new daemon is started from; undefined: never start one. */
  readonly startFrom?: Environment | undefined;
  /** Accept a broad root or somebody else's. */
  readonly force?: boolean;
  /** Take over the state of another root. */
  readonly rebind?: boolean;
  readonly onEvent?: (event: StreamedEvent) => void;
  /** How long to wait for one that is starting, or still answers what is under way before it ends. */
  readonly timeoutMs?: number;
}

/** A daemon that ends as soon as it is ready: beyond this many something is wrong. */
const ATTEMPTS = 5;
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 100;
/** No socket, nobody behind it, or somebody who was killed before he opened. */
const NOBODY = ['ENOENT', 'ENOTDIR', 'ENOTSOCK', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'];
const GONE: readonly string[] = ['DAEMON_UNAVAILABLE', 'SHUTTING_DOWN'];

/** Connects to the project's daemon, starting one when there is none and that is wanted. */
export async function reachDaemon(options: ReachOptions): Promise<Reached> {
  const { root, startFrom, timeoutMs = PATIENCE_MS } = options;
  const end = performance.now() + timeoutMs;
  let busy: SmithyError | undefined;
  let attempts = 0;
  for (;;) {
    const reached = await tryReach(options);
    if (reached !== undefined) {
      const { wire } = reached;
      if (await isAlive(wire, timeoutMs)) return { ...reached, started: attempts > 0 && !busy };
      await pause(LOOK_AGAIN_MS);
    }
    if (startFrom === undefined || attempts === ATTEMPTS) throw unavailable(root);
    if (performance.now() > end) throw busy === undefined ? unavailable(root) : silent(root, busy);
    // A process that only learns that it is one too many costs half a second of a processor.
    if (busy === undefined || !(await isHeld(root)))
      busy = await startInBackground(options, startFrom);
    if (busy === undefined) attempts++;
    else await pause(LOOK_AGAIN_MS);
  }
}

/**
 * A daemon that was just killed, or is ending, still has a socket that accepts. Asked something
 * harmless first, it cannot take a real request with it into the grave.
 */
async function isAlive(wire: Wire, timeoutMs: number): Promise<boolean> {
  try {
    await wire.call('status', {}, timeoutMs);
    return true;
  } catch (error) {
    wire.close();
    const isGone = error instanceof SmithyError && GONE.includes(error.code);
    if (!isGone) throw error;
    return false;
  }
}

/** Undefined when nobody listens there. */
export async function tryReach(
  options: ReachOptions,
): Promise<{ wire: Wire; daemon: DaemonFile } | undefined> {
  try {
    const daemon = readDaemonFile(statePaths(options.root).daemon);
    // A folder that was copied with its state names the daemon of the original.
    if (daemon?.root !== options.root) return undefined;
    requirePrivate(statePaths(options.root).run);
    requireTrustedSocket(daemon.socket);
    return { wire: await openWire(daemon.socket, options.onEvent), daemon };
  } catch (error) {
    if (hasCode(error, ...NOBODY)) return undefined;
    throw hasCode(error, 'EACCES', 'EPERM') ? notYours(options.root, error) : error;
  }
}

/** Nothing when the new process became the daemon; what it said when another one was first. */
async function startInBackground(
  options: ReachOptions,
  from: Environment,
): Promise<SmithyError | undefined> {
  // Most commands find a daemon and need no process of their own making.
  const { spawnDaemon } = await import('./spawn-daemon.js');
  const report = await spawnDaemon(options, from);
  if (report === undefined) throw unavailable(options.root);
  if (!('error' in report)) return undefined;
  const error = SmithyError.fromWire(report.error);
  if (error.code === 'BUSY') return error;
  throw error;
}

/** By a daemon that begins, that ends, or that cannot be reached. */
export async function isHeld(root: string): Promise<boolean> {
  const { lock } = statePaths(root);
  if (!existsSync(lock)) return false;
  const { isLocked } = await import('../host/lock.js');
  return isLocked(lock);
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

function notYours(root: string, cause: unknown): SmithyError {
  return new SmithyError('FORBIDDEN', `The daemon of ${root} is closed to this user.`, {
    hint: 'Only the user who started it may talk to it.',
    data: { root },
    cause,
  });
}

/** Somebody holds the lock and was not to be reached all the time. */
function silent(root: string, { data }: SmithyError): SmithyError {
  const { pid } = data as { readonly pid: number | null };
  const who = pid === null ? 'A daemon' : `The daemon (process ${pid})`;
  return new SmithyError('BUSY', `${who} of ${root} runs and cannot be reached.`, {
    hint: 'Try again in a moment; .agentsmithy/run/daemon.log tells what it does. Killing it loses nothing that was acknowledged.',
    data: { root, pid, retry_after_ms: 1000 },
  });
}

function unavailable(root: string): SmithyError {
  return new SmithyError('DAEMON_UNAVAILABLE', `No daemon runs for ${root}.`, {
    hint: 'Start one with `smithyd start`; if that fails, `smithyd start --foreground` shows why.',
    data: { root },
  });
}
