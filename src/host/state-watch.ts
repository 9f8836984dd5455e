import { existsSync, watch, type FSWatcher } from 'node:fs';
import { basename } from 'node:path';
import type { StatePaths } from './state-folder.js';

export interface StateListener {
  /** The socket's file is gone while we listen: nobody new can reach us. */
  socketGone(): void;
  /** The state folder is gone: there is nothing left to be the daemon of. */
  stateGone(): void;
  configChanged(): void;
}

/** Notices what others do to our own folder. Costs nothing while nothing happens. */
export function watchState(
  paths: StatePaths,
  address: string,
  listener: StateListener,
): () => void {
  const look = (file: string | null): void => {
    if (!existsSync(paths.run)) listener.stateGone();
    else if (file === basename(address) && !existsSync(address)) listener.socketGone();
    else if (file === basename(paths.config)) listener.configChanged();
  };
  const watchers: FSWatcher[] = [paths.state, paths.run].map((folder) => {
    const watcher = watch(folder, { persistent: false }, (_, file) => look(file));
    // Out of watches: the daemon works without these conveniences.
    watcher.on('error', () => undefined);
    return watcher;
  });
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}
