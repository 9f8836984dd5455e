import { processEnvironment, wantsColour } from '../config.js';
import { reachDaemon } from '../client/reach.js';
import type { StreamedEvent } from '../core/events.js';
import { findRoot } from '../host/find-root.js';
import type { GlobalFlags } from './args.js';
import { printable } from './text.js';

/** Long enough for a first checkpoint of a large project. */
const TIMEOUT_MS = 10 * 60_000;

/** Methods a person may have to wait for. */
const SLOW: readonly string[] = ['doctor', 'verify', 'gc'];
const ERASE = '\r\u001b[K';

function showProgress({ what, step, percent, done, total }: StreamedEvent): void {
  const far = percent === undefined ? `${Number(done)} of ${Number(total)}` : `${Number(percent)}%`;
  process.stderr.write(`${ERASE}${printable([what, step, far].filter(Boolean).join(' '))}`);
}

/** One call to the daemon of the project the command line means, started if need be. */
export async function callDaemon(
  globals: GlobalFlags,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const root = findRoot(globals.root, process.cwd());
  const isShown = SLOW.includes(method) && !globals.json && wantsColour(process.stderr);
  const { wire } = await reachDaemon({
    root,
    startFrom: processEnvironment,
    force: globals.force,
    ...(isShown ? { onEvent: showProgress } : {}),
  });
  try {
    if (isShown) await wire.call('subscribe', { types: ['progress'] }, TIMEOUT_MS);
    return await wire.call(method, params, TIMEOUT_MS);
  } finally {
    if (isShown) process.stderr.write(ERASE);
    wire.close();
  }
}
