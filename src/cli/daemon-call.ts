import { processEnvironment } from '../config.js';
import { reachDaemon } from '../client/reach.js';
import { findRoot } from '../host/find-root.js';
import type { GlobalFlags } from './args.js';

/** Long enough for a first checkpoint of a large project. */
const TIMEOUT_MS = 10 * 60_000;

/** One call to the daemon of the project the command line means, started if need be. */
export async function callDaemon(
  globals: GlobalFlags,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const root = findRoot(globals.root, process.cwd());
  const { wire } = await reachDaemon({ root, startFrom: processEnvironment, force: globals.force });
  try {
    return await wire.call(method, params, TIMEOUT_MS);
  } finally {
    wire.close();
  }
}
