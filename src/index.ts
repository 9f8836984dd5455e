import { createClient, type Client, type ClientOptions } from './client/client.js';
import { processEnvironment } from './config.js';
import { findRoot } from './host/find-root.js';

export { startDaemon, type Daemon, type DaemonOptions } from './daemon.js';
export { SmithyError, type ErrorCode } from './core/errors.js';
export type { Answer, MethodName, Params } from './api/table.js';
export type { Config } from './core/config.js';
export type { EventType, StreamedEvent } from './core/events.js';
export type { EditOptions, EditOutcome } from './client/edit-bracket.js';
export type { Client };

export interface ConnectOptions extends Pick<ClientOptions, 'timeoutMs' | 'force'> {
  /** Start a daemon when none runs; on by default. */
  readonly start?: boolean;
}

/** A typed client for the project at `root`. It reconnects by itself until it is closed. */
export function connect(root: string, options: ConnectOptions = {}): Promise<Client> {
  const { start = true, ...rest } = options;
  const startFrom = start ? processEnvironment : undefined;
  return createClient({ ...rest, root: findRoot(root, process.cwd()), startFrom });
}
