import { processEnvironment } from '../../config.js';
import { reachDaemon } from '../../client/reach.js';
import { SmithyError } from '../../core/errors.js';
import { findRoot } from '../../host/find-root.js';
import type { GlobalFlags } from '../args.js';
import type { Around } from '../local-run.js';

/** The daemon loads the protocol at its first use. */
const OPEN_TIMEOUT_MS = 30_000;

/**
 * A pipe between an agent and the daemon, which speaks the protocol itself: this process loads
 * nothing of it, so that agents need not wait for it. It ends with its agent, and an edit that the
 * agent left open ends with it.
 */
export async function mcp(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  read(words);
  const root = findRoot(globals.root, process.cwd());
  const { wire } = await reachDaemon({
    root,
    startFrom: processEnvironment,
    force: globals.force,
  });
  await wire.call('open_mcp', {}, OPEN_TIMEOUT_MS);
  const socket = wire.release();
  process.stdin.pipe(socket).pipe(process.stdout);
  await wire.closed;
  if (process.stdin.readableEnded) return 0;
  throw new SmithyError('DAEMON_UNAVAILABLE', 'The daemon ended.', {
    hint: 'Start this again; it starts a daemon when there is none.',
  });
}
