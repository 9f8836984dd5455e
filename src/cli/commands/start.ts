import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { dropUnsafeEnvironment, processEnvironment } from '../../config.js';
import { keepMemoryOutOfCoreFiles } from '../../host/core-dumps.js';
import { findRoot } from '../../host/find-root.js';
import { requireSensibleRoot } from '../../host/sensible-root.js';
import { reachDaemon } from '../../client/reach.js';
import type { GlobalFlags } from '../args.js';
import { ownFailure } from '../errors.js';
import type { Around } from '../local-run.js';
import { printable, printableJson } from '../text.js';

/** The descriptor on which the one who started us waits for one line. */
const REPORT = 3;
/** Draining has its own deadline; beyond this something hangs and must not keep the lock. */
const LAST_RESORT_MS = 10_000;
/** Nobody types it: how a client starts a daemon and hears of it. */
const REPORTING = '--report';

export async function start(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  const flags = read(words.filter((word) => word !== REPORTING));
  const root = findRoot(globals.root, process.cwd());
  const wanted = { root, force: globals.force, rebind: flags['rebind'] === true };
  if (words.includes(REPORTING)) return reporting(() => foreground(wanted, true));
  if (flags['foreground'] === true) return foreground(wanted, false);
  if (!globals.force) requireSensibleRoot(root);
  return background(wanted, globals);
}

interface Wanted {
  readonly root: string;
  readonly force: boolean;
  readonly rebind: boolean;
}

async function background(wanted: Wanted, globals: GlobalFlags): Promise<number> {
  const { root } = wanted;
  const { wire, daemon, started } = await reachDaemon({ ...wanted, startFrom: processEnvironment });
  wire.close();
  if (globals.json) {
    process.stdout.write(printableJson({ ...daemon, started }));
    return 0;
  }
  const what = started ? 'started for' : 'was running already for';
  process.stdout.write(`The daemon ${what} ${printable(root)} (process ${daemon.pid}).\n`);
  return 0;
}

async function foreground(wanted: Wanted, reports: boolean): Promise<number> {
  const { root } = wanted;
  keepMemoryOutOfCoreFiles();
  const umask = process.umask(0o077);
  dropUnsafeEnvironment(root);
  // V8 would wake an idle process for minutes to give a little memory back; idle means idle.
  setFlagsFromString('--no-memory-reducer');
  // From the first moment on: whoever sees that it is ready may stop it in the next.
  const early: string[] = [];
  let onSignal = (signal: string): void => {
    // A second one does not wait for a start that takes long.
    if (early.length > 0) process.exit(1);
    early.push(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => onSignal(signal));
  }
  const { startDaemon } = await import('../../daemon.js');
  const daemon = await startDaemon({ ...wanted, umask });
  onSignal = (signal) => void daemon.stop(signal);
  early.forEach((signal) => onSignal(signal));
  if (reports) report({ ready: true });
  else process.stdout.write(`Watching ${printable(root)}; stop with Ctrl-C or \`smithyd stop\`.\n`);
  await daemon.stopping;
  setTimeout(() => process.exit(1), LAST_RESORT_MS).unref();
  await daemon.stopped;
  // Whoever asked us to stop holds a connection and sees its end as ours.
  process.exit(0);
}

/** Makes a failed start known to the one who waits for it. */
async function reporting(begin: () => Promise<number>): Promise<number> {
  try {
    return await begin();
  } catch (thrown) {
    const error = ownFailure(thrown);
    report({ error: error.toWire() });
    return error.exitCode;
  }
}

function report(message: object): void {
  try {
    writeSync(REPORT, `${JSON.stringify(message)}\n`);
  } catch {
    // Nobody waits any more.
  }
}
