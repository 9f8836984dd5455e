import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { WireLimits } from './api/connection.js';
import { createDispatch } from './api/dispatch.js';
import { createSocketServer } from './api/socket-server.js';
import { METHODS } from './api/table.js';
import { readHost } from './config.js';
import { SmithyError } from './core/errors.js';
import { systemClock } from './host/clock.js';
import {
  readDaemonFile,
  removeDaemonFile,
  writeDaemonFile,
  type DaemonFile,
} from './host/daemon-file.js';
import { createDiagnostics } from './host/diagnostics.js';
import { findRoot, requireSensibleRoot } from './host/find-root.js';
import { tryLock } from './host/lock.js';
import { openLogFile } from './host/log-file.js';
import { openSettingsFile } from './host/settings-file.js';
import { replaceFile } from './host/small-files.js';
import { protectSocket, takeSocketPlace } from './host/socket-place.js';
import { prepareStateFolder } from './host/state-folder.js';
import { watchState } from './host/state-watch.js';
import { packageVersion } from './host/version.js';
import { createEventStream } from './workspace/event-stream.js';
import { createMetrics } from './workspace/metrics.js';
import { createWorkspace } from './workspace/workspace.js';

const PROTOCOL = 1;

export interface DaemonOptions {
  readonly root: string;
  /** Accept a broad root, or one that belongs to somebody else. */
  readonly force?: boolean;
  readonly limits?: Partial<WireLimits>;
}

export interface Daemon {
  /** What `run/daemon.json` says. */
  readonly info: DaemonFile;
  /** Finishes what is under way, then leaves nothing behind but the state. */
  stop(reason?: string): Promise<void>;
  /** Resolve when stopping begins and when it is done, whoever asked for it. */
  readonly stopping: Promise<void>;
  readonly stopped: Promise<void>;
}

/** How long requests under way may take to end when the daemon stops. */
const DRAIN_MS = 5_000;

/** The composition root: builds everything, starts in order, stops in reverse. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const root = findRoot(options.root, '/');
  if (options.force !== true) requireSensibleRoot(root);
  const host = readHost(root);
  const paths = prepareStateFolder(root);
  const undo: (() => void | Promise<void>)[] = [];
  const unwind = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const lock = tryLock(paths.lock);
    if (lock === undefined) throw alreadyRunning(root, readDaemonFile(paths.daemon));
    undo.push(() => lock.release());

    const log = openLogFile({ path: paths.log, clock: systemClock, least: host.logLevel });
    undo.push(() => log.close());

    const previous = readDaemonFile(paths.daemon)?.socket;
    const place = takeSocketPlace({ paths, runtimeFolders: host.runtimeFolders, previous });
    undo.push(() => place.remove());

    const version = packageVersion();
    const metrics = createMetrics();
    const workspace = createWorkspace({
      identity: { version, protocol: PROTOCOL, pid: process.pid, root },
      clock: systemClock,
      settingsFile: openSettingsFile(paths.config),
      diagnostics: createDiagnostics({
        paths,
        address: place.address,
        environment: host.environment,
      }),
      events: createEventStream(systemClock, randomBytes(6).toString('hex')),
      metrics,
      memoryBytes: () => process.memoryUsage.rss(),
      stop: (reason) => void stop(reason),
    });

    const socket = createSocketServer({
      address: place.address,
      protect: protectSocket,
      limits: { ...defaultLimits(() => workspace.config().wire.maxFrameBytes), ...options.limits },
      dispatch: createDispatch(METHODS, (name, outcome) => metrics.countCall(name, outcome)),
      workspace,
      log,
    });
    await socket.open();
    undo.push(() => socket.close(DRAIN_MS));

    undo.push(
      watchState(paths, place.address, {
        socketGone: () => void socket.reopen(),
        stateGone: () => void stop('the state folder was removed'),
        configChanged: () => void workspace.reloadConfig(),
      }),
    );

    replaceFile(paths.token, `${randomBytes(32).toString('base64url')}\n`);
    undo.push(() => rmSync(paths.token, { force: true }));

    const info: DaemonFile = {
      pid: process.pid,
      version,
      protocol: PROTOCOL,
      root,
      socket: place.address,
      http: null,
      started_at: new Date(systemClock.now()).toISOString(),
    };
    writeDaemonFile(paths.daemon, info);
    undo.push(() => removeDaemonFile(paths.daemon));
    log.write('info', 'ready', { root, version, pid: process.pid, socket: place.address });

    const stopping = signal();
    const stopped = signal();
    function stop(reason = 'asked by its owner'): Promise<void> {
      if (stopping.isGiven()) return stopped.promise;
      stopping.give();
      log.write('info', 'stopping', { reason });
      workspace.events.publish({ type: 'shutting_down', reason });
      void unwind().finally(stopped.give);
      return stopped.promise;
    }
    return { info, stop, stopping: stopping.promise, stopped: stopped.promise };
  } catch (error) {
    await unwind();
    throw error;
  }
}

/** Something that happens once and that others wait for. */
function signal() {
  let isGiven = false;
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  const give = (): void => {
    isGiven = true;
    resolve();
  };
  return { promise, give, isGiven: () => isGiven };
}

function defaultLimits(maxFrameBytes: () => number): WireLimits {
  return {
    maxFrameBytes,
    partialFrameMs: 60_000,
    // An hour: long enough for an agent that thinks, short enough for one that died badly.
    idleMs: 3_600_000,
    inFlight: 256,
    unsentBytes: 32 * 1024 * 1024,
  };
}

function alreadyRunning(root: string, holder: DaemonFile | undefined): SmithyError {
  const who = holder === undefined ? '' : ` (process ${holder.pid})`;
  return new SmithyError('BUSY', `A daemon for ${root} is running already${who}.`, {
    hint: 'Commands use it as it is; `smithyd stop` ends it.',
    data: { root, pid: holder?.pid ?? null, retry_after_ms: 200 },
  });
}
