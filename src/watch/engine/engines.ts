import type { WatchConfig } from '../../core/watching.js';
import { createChokidarEngine } from './chokidar.js';
import { createDirectoryEngine } from './directories.js';
import type { Engine } from './engine.js';

/** The engine the configuration asks for. */
export function makeEngine(
  root: string,
  wanted: WatchConfig['watcher'],
  isLeftOut: (path: string) => boolean,
): Engine {
  // Only Linux has one queue of events for all watched directories.
  const isDirectories =
    wanted === 'directories' || (wanted === 'auto' && process.platform === 'linux');
  return isDirectories ? createDirectoryEngine(root) : createChokidarEngine(root, isLeftOut);
}
