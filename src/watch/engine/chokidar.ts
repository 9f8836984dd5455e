import { type FSWatcher, watch } from 'chokidar';
import { codeOf } from '../content/content.js';
import { type Engine, type EngineEvents, LIMITS } from './engine.js';

const READY_MS = 10_000;

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
    mine.on('error', (error) => {
      // It also reports files that changed under its hands; those are no news.
      if (LIMITS.has(codeOf(error))) events?.failed(undefined, error);
    });
    await new Promise<void>((resolve) => {
      mine.once('ready', () => resolve());
      // While somebody writes without pause it may never be ready; scans do not depend on it.
      setTimeout(resolve, READY_MS).unref();
    });
  }

  let turn = Promise.resolve();

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
    rulesChanged() {
      // One after the other: a second one beside it would never be closed.
      turn = turn
        .then(end)
        .then(() => (events === undefined ? undefined : begin()))
        .catch(() => undefined);
    },
    async close() {
      events = undefined;
      await turn;
      await end();
    },
  };
}
