import { existsSync, statSync, watch, type FSWatcher } from 'node:fs';
import { basename } from 'node:path';
import type { StatePaths } from './state-folder.js';

export interface StateListener {
  /** A file that leads to us is gone while we listen: nobody new can reach us. */
  doorGone(path: string): void;
  /** The state folder is gone, or another one is in its place: we are nobody's daemon any more. */
  stateGone(): void;
  configChanged(): void;
}

export interface WatchedState {
  readonly paths: StatePaths;
  readonly address: string;
  readonly isOurs: () => boolean;
}

/** Whoever deletes the whole folder deletes these a moment before the rest. */
const DOOR_GRACE_MS = 100;

/**
 * Tells whether the state folder is still the one we took. The lock file is open as long as we
 * live, so its number cannot be given to another one.
 */
export function holdState({ lock }: StatePaths): () => boolean {
  const { ino, dev } = statSync(lock);
  return () => {
    try {
      const stat = statSync(lock, { throwIfNoEntry: false });
      return stat?.ino === ino && stat.dev === dev;
    } catch {
      // Nobody lets us in any more.
      return false;
    }
  };
}

/** Out of watches, or of instances of them: the daemon works without these conveniences. */
function watchIfPossible(folder: string, look: (file: string | null) => void): FSWatcher[] {
  try {
    const watcher = watch(folder, { persistent: false }, (_, file) => look(file));
    watcher.on('error', () => undefined);
    return [watcher];
  } catch {
    return [];
  }
}

/** Notices what others do to our own folder. Costs nothing while nothing happens. */
export function watchState(watched: WatchedState, listener: StateListener): () => void {
  const { paths, address, isOurs } = watched;
  const doors = [address, paths.daemon, paths.token];
  const names = new Set(doors.map((path) => basename(path)));
  let grace: NodeJS.Timeout | undefined;
  const lookAtDoors = (): void => {
    const gone = doors.filter((path) => !existsSync(path));
    if (!isOurs()) listener.stateGone();
    else gone.forEach((path) => listener.doorGone(path));
  };
  const look = (file: string | null): void => {
    if (!isOurs()) listener.stateGone();
    else if (file !== null && names.has(file)) {
      clearTimeout(grace);
      grace = setTimeout(lookAtDoors, DOOR_GRACE_MS);
    } else if (file === basename(paths.config)) listener.configChanged();
  };
  const watchers = [paths.state, paths.run].flatMap((folder) => watchIfPossible(folder, look));
  // Clients find us before we listen: what they took away by now no event tells of.
  const first = setImmediate(lookAtDoors);
  return () => {
    clearImmediate(first);
    clearTimeout(grace);
    for (const watcher of watchers) watcher.close();
  };
}
