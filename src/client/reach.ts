import { spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { devNull } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SmithyError, type WireError } from '../core/errors.js';
import { safeEnvironment, type Environment } from '../core/environment.js';
import type { StreamedEvent } from '../core/events.js';
import { readDaemonFile, type DaemonFile } from '../host/daemon-file.js';
import { requireTrustedSocket } from '../host/socket-place.js';
import { requirePrivate, statePaths } from '../host/state-folder.js';
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
  readonly onEvent?: (event: StreamedEvent) => void;
}

/** A daemon that ends as soon as it is ready: beyond this many something is wrong. */
const ATTEMPTS = 5;
/** Another one is starting, or still answers what is under way before it ends. */
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 100;

/** Connects to the project's daemon, starting one when there is none and that is wanted. */
export async function reachDaemon(options: ReachOptions): Promise<Reached> {
  const end = performance.now() + PATIENCE_MS;
  let started = false;
  let attempts = 0;
  for (;;) {
    const reached = await tryReach(options);
    if (reached !== undefined) return { ...reached, started };
    const isOver = attempts === ATTEMPTS || performance.now() > end;
    if (options.startFrom === undefined || isOver) throw unavailable(options.root);
    started = await startInBackground(options, options.startFrom);
    if (started) attempts++;
    else await pause(LOOK_AGAIN_MS);
  }
}

/** Undefined when nobody answers there. */
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
    // The file of a daemon that was killed: no socket any more, or nobody behind it.
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ENOTSOCK')) return undefined;
    throw hasCode(error, 'EACCES', 'EPERM') ? notYours(options.root, error) : error;
  }
}

/** What a starting daemon tells the one who started it, as one line on descriptor 3. */
type Report = { readonly ready: true } | { readonly error: WireError };

/** True when the new process became the daemon; false when another one was first. */
async function startInBackground(options: ReachOptions, from: Environment): Promise<boolean> {
  const report = await spawnDaemon(options, from);
  if (report === undefined) throw unavailable(options.root);
  if (!('error' in report)) return true;
  const error = SmithyError.fromWire(report.error);
  if (error.code === 'BUSY') return false;
  throw error;
}

/** Set later, as a foreground daemon does, it comes too late for the first wake-up of an idle one. */
const V8_FLAGS = ['--no-memory-reducer'];

async function spawnDaemon(
  { root, force }: ReachOptions,
  from: Environment,
): Promise<Report | undefined> {
  const entry = fileURLToPath(new URL('../cli/main.js', import.meta.url));
  const flags = [
    'start',
    '--foreground',
    '--report',
    '--root',
    root,
    ...(force ? ['--force'] : []),
  ];
  const nothing = openSync(devNull, 'r+');
  const child = spawn(process.execPath, [...V8_FLAGS, entry, ...flags], {
    cwd: '/',
    detached: true,
    env: safeEnvironment(from, root),
    stdio: [nothing, nothing, nothing, 'pipe'],
  });
  closeSync(nothing);
  const pipe = child.stdio[3];
  let text = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    pipe?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve();
    });
    pipe?.once('end', resolve);
    pipe?.once('error', () => resolve());
  });
  pipe?.destroy();
  child.unref();
  const [line] = text.split('\n');
  return line === undefined || line === '' ? undefined : (JSON.parse(line) as Report);
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

function unavailable(root: string): SmithyError {
  return new SmithyError('DAEMON_UNAVAILABLE', `No daemon runs for ${root}.`, {
    hint: 'Start one with `smithyd start`; if that fails, `smithyd start --foreground` shows why.',
    data: { root },
  });
}
