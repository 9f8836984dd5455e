import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { WireLimits } from './api/connection.js';
import { createDispatch } from './api/dispatch.js';
import { createHttpDoor } from './api/http/door.js';
import { createSocketServer } from './api/socket-server.js';
import { METHODS } from './api/table.js';
import { readHost } from './config.js';
import { SmithyError } from './core/errors.js';
import type { Ledger } from './core/ledger.js';
import type { Log } from './core/ports.js';
import { createRedactor } from './core/redaction/redactor.js';
import type { CheckpointStore } from './core/store.js';
import { systemClock } from './host/clock.js';
import {
  readDaemonFile,
  removeDaemonFile,
  writeDaemonFile,
  type DaemonFile,
} from './host/daemon-file.js';
import { createDiagnostics } from './host/diagnostics.js';
import { findRoot } from './host/find-root.js';
import { requireRecentGit } from './host/git-program.js';
import { requireSensibleRoot } from './host/sensible-root.js';
import { tryLock } from './host/lock.js';
import { openLogFile } from './host/log-file.js';
import { openSettingsFile } from './host/settings-file.js';
import { memorySampler } from './host/memory.js';
import { replaceFile } from './host/small-files.js';
import { bindState } from './host/root-binding.js';
import { protectSocket, takeSocketPlace } from './host/socket-place.js';
import { prepareStateFolder, type StatePaths } from './host/state-folder.js';
import { holdState, watchState } from './host/state-watch.js';
import { Teardown } from './host/teardown.js';
import { packageVersion } from './host/version.js';
import { composeLedger, composeRedaction, composeStorage, composeWatcher } from './parts.js';
import { createEventStream } from './workspace/event-stream.js';
import { createMetrics } from './workspace/metrics.js';
import { createSettings } from './workspace/settings.js';
import { createWorkspace } from './workspace/workspace.js';

const PROTOCOL = 1;

export interface DaemonOptions {
  readonly root: string;
  /** Accept a broad root, or one that belongs to somebody else. */
  readonly force?: boolean;
  /** Take over a state folder that was made for another root: a copy, or a moved project. */
  readonly rebind?: boolean;
  readonly limits?: Partial<WireLimits>;
  /** The user's mask for new files, when this process has another one. */
  readonly umask?: number;
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
  const paths = prepareStateFolder(root);
  const teardown = new Teardown();
  const lock = tryLock(paths.lock);
  if (lock === undefined) throw alreadyRunning(root, readDaemonFile(paths.daemon));
  teardown.add('lock', () => lock.release());
  try {
    bindState(paths, root, options.rebind ?? false);
    return await build({ options, root, paths, teardown });
  } catch (error) {
    await teardown.run(() => undefined);
    throw error;
  }
}

interface Site {
  readonly options: DaemonOptions;
  readonly root: string;
  readonly paths: StatePaths;
  readonly teardown: Teardown;
}

async function build({ options, root, paths, teardown }: Site): Promise<Daemon> {
  const host = readHost(root);
  const builtIn = createRedactor();
  let clean = (text: string): string => builtIn(text).text;
  const log = openLogFile({
    ...{ path: paths.log, clock: systemClock, least: host.logLevel },
    clean: (text) => clean(text),
  });
  teardown.add('log', () => log.close());

  // Asked beside the rest: a process takes a few ms, and a start is waited for.
  const recentGit = requireRecentGit(host.environment);
  recentGit.catch(() => undefined);

  // What was put in the place of our folder is another daemon's: not ours to take away.
  const isOurs = holdState(paths);
  const ifOurs = (undo: () => void) => (): void => {
    if (isOurs()) undo();
  };

  const previous = readDaemonFile(paths.daemon)?.socket;
  const place = takeSocketPlace({ paths, runtimeFolders: host.runtimeFolders, previous });
  const removePlace = (): void => place.remove();
  teardown.add('socket file', place.isMoved ? removePlace : ifOurs(removePlace));

  const ledger = composeLedger(paths);
  await openLedger(ledger, log);
  teardown.add('ledger', () => ledger.close());
  const run = randomBytes(6).toString('hex');
  const events = createEventStream({ clock: systemClock, ledger, run, root });
  const settings = createSettings(openSettingsFile(paths.config), events);
  const redaction = composeRedaction(settings);
  clean = redaction.always;
  const materials = { root, paths, log, host, settings, umask: options.umask };
  await recentGit;
  const storage = composeStorage(materials, ledger);
  await openStore(storage.store, log);
  teardown.add('store', () => storage.store.close());
  teardown.add('journal', () => storage.journal.close());
  const { watcher, ruleWarnings, track } = composeWatcher(materials);
  // Whoever deletes the folder must not find it filled again.
  teardown.add('watcher', () => watcher.stop(isOurs()));

  const version = packageVersion();
  const identity = { version, protocol: PROTOCOL, pid: process.pid, root };
  const metrics = createMetrics(systemClock);
  const workspace = createWorkspace({
    identity,
    run,
    clock: systemClock,
    settings,
    watcher,
    ledger,
    ...storage,
    redaction,
    log,
    diagnostics: createDiagnostics({
      paths,
      address: place.address,
      environment: host.environment,
    }),
    events,
    metrics,
    memoryBytes: memorySampler(systemClock),
    ruleWarnings,
    web: { warnings: () => http.warnings(), invite: () => http.invite() },
    track,
    stop: (reason) => void stop(reason),
  });

  // After the socket is closed, when nobody writes any more.
  teardown.add('derived', async () => (isOurs() ? workspace.putAside() : undefined));
  const doorstep = {
    limits: { ...defaultLimits(() => settings.config().wire.maxFrameBytes), ...options.limits },
    dispatch: createDispatch(METHODS, { observe: (name) => metrics.beginCall(name), log }),
    onDropped: () => metrics.dropped('subscriber'),
    workspace,
    log,
  };
  const token = randomBytes(32).toString('base64url');
  const http = createHttpDoor({ ...doorstep, clock: systemClock, token });
  const socket = createSocketServer({
    ...doorstep,
    address: place.address,
    protect: protectSocket,
  });
  await socket.open();
  teardown.add('socket', () => socket.close(DRAIN_MS));

  const writeToken = (): void => replaceFile(paths.token, `${token}\n`);
  writeToken();
  teardown.add(
    'token',
    ifOurs(() => rmSync(paths.token, { force: true })),
  );

  const startedAt = new Date(systemClock.now()).toISOString();
  const info = (): DaemonFile => {
    return { ...identity, socket: place.address, http: http.where(), started_at: startedAt };
  };
  const writeInfo = (): void => writeDaemonFile(paths.daemon, info());
  await http.apply(settings.config().http);
  writeInfo();
  teardown.add(
    'daemon.json',
    ifOurs(() => removeDaemonFile(paths.daemon)),
  );
  teardown.add('http', () => http.close(DRAIN_MS));
  settings.onChange(async (config) => {
    const hasMoved = await http.apply(config.http);
    if (hasMoved && isOurs()) writeInfo();
  });
  async function reopen(path: string): Promise<void> {
    if (path === paths.daemon) writeInfo();
    else if (path === paths.token) writeToken();
    else await socket.reopen().catch(() => stop('the socket cannot be made'));
  }
  const failed = (what: string) => (error: unknown) =>
    log.write('error', what, { error: String(error) });
  const unwatchState = watchState(
    { paths, address: place.address, isOurs },
    {
      doorGone: (path) => void reopen(path).catch(failed('nobody new can reach us')),
      stateGone: () => void stop('the state folder was removed'),
      configChanged: () =>
        void settings.reload().catch(failed('the settings could not be taken up')),
    },
  );
  // Before those files are taken away in order.
  teardown.add('state watch', unwatchState);
  const tools = { node: process.version, grammars: storage.semantics.edition };
  log.write('info', 'ready', { ...info(), tools });

  const stopping = signal();
  const stopped = signal();
  function stop(reason = 'asked by its owner'): Promise<void> {
    if (stopping.isGiven()) return stopped.promise;
    stopping.give();
    log.write('info', 'stopping', { reason });
    events.publish({ type: 'shutting_down', reason });
    const onFailure = (what: string, error: unknown): void => {
      log.write('error', 'stopping left something behind', { what, error: String(error) });
    };
    void teardown.run(onFailure).finally(stopped.give);
    return stopped.promise;
  }

  watcher.onNotice((notice) => {
    // The state is gone with the root, so there is nothing left to be the daemon of.
    if (notice.type === 'root_lost') void stop(`the project folder is gone: ${notice.reason}`);
  });
  // Nobody waits for the first look: methods that answer about files do.
  watcher.start().catch((error: unknown) => {
    log.write('error', 'watching cannot begin', { error: String(error) });
    void stop('watching cannot begin');
  });
  teardown.add('history', () => workspace.close(isOurs()));
  workspace.open().catch(failed('the history cannot be opened'));
  return { info: info(), stop, stopping: stopping.promise, stopped: stopped.promise };
}

/** Opens the ledger and says what a crash had left in it. */
async function openLedger(ledger: Ledger, log: Log): Promise<void> {
  const found = await ledger.open();
  if (found.cutBytes > 0 || found.damageCount > 0) {
    log.write('warn', 'the ledger was damaged', { ...found });
  }
}

async function openStore(store: CheckpointStore, log: Log): Promise<void> {
  const mended = await store.open();
  if (mended.removed.length + mended.mended.length + mended.foreign.length > 0) {
    log.write('warn', 'the store was mended', { ...mended });
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
