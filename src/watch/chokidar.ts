import { type FSWatcher, watch } from 'chokidar';
import type { Engine, EngineEvents } from './engine.js';

/**
 * chokidar, for systems where watching directory by directory is not enough. It reports after
 * work of its own, so the order of its events proves nothing: a barrier needs a scan.
 */
export function createChokidarEngine(root: string, isLeftOut: (path: string) => boolean): Engine {
  let watcher: FSWatcher | undefined;
  let events: EngineEvents | undefined;

  function relative(path: string): string {
    return path === root ? '' : path.slice(root.length + 1);
  }

  function tell(path: string): void {
    const entry = relative(path);
    const slash = entry.lastIndexOf('/');
    if (entry === '') events?.lost('');
    else events?.hint(slash < 0 ? '' : entry.slice(0, slash), entry.slice(slash + 1));
  }

  async function begin(): Promise<void> {
    const mine = watch(root, {
      followSymlinks: false,
      ignoreInitial: true,
      ignorePermissionErrors: true,
      atomic: false,
      ignored: (path, stats) =>
        stats?.isDirectory() === true && path !== root && isLeftOut(relative(path)),
    });
    watcher = mine;
    mine.on('all', (_, path) => tell(path));
    mine.on('error', (error) => events?.failed('', error));
    await new Promise<void>((resolve) => {
      mine.once('ready', () => resolve());
    });
  }

  async function end(): Promise<void> {
    const mine = watcher;
    watcher = undefined;
    await mine?.close();
  }

  return {
    name: 'chokidar',
    ordered: false,
    async open(to) {
      events = to;
      await begin();
    },
    watch: () => 'watching',
    unwatch: () => undefined,
    async rulesChanged() {
      await end();
      await begin();
    },
    async close() {
      events = undefined;
      await end();
    },
  };
}
