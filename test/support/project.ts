import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Path } from '../../src/core/model.js';
import type { Clock, Log } from '../../src/core/ports.js';
import type {
  ChangeBatch,
  FileChange,
  Watcher,
  WatchConfig,
  WatchNotice,
} from '../../src/core/watching.js';
import type { WatcherDeps } from '../../src/watch/settings.js';
import { createWatcher } from '../../src/watch/watcher.js';
import { projectRules } from './rules.mjs';

const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
const silent: Log = { write: () => undefined };

export interface Project {
  readonly root: string;
  readonly stateDir: string;
  /** A watcher on the folder, started; stopped with the project. */
  watch(options?: Partial<WatcherDeps>): Promise<Watched>;
  end(): Promise<void>;
}

export interface Watched {
  readonly watcher: Watcher;
  readonly batches: ChangeBatch[];
  readonly notices: WatchNotice[];
  /** All changes so far, in order. */
  changes(): FileChange[];
  /** path -> "mode hash" of everything known. */
  state(): Map<string, string>;
  settle(): Promise<void>;
}

export const CONFIG: WatchConfig = { maxFileBytes: 1_000_000, watcher: 'directories' };

export function project(): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-watch-')));
  const stateDir = join(root, '.agentsmithy');
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(stateDir, '.gitignore'), '*\n');
  const started: Watcher[] = [];
  return {
    root,
    stateDir,
    async watch(options = {}) {
      const watcher = createWatcher({
        root,
        stateDir,
        config: CONFIG,
        clock,
        log: silent,
        rules: projectRules(root),
        ...options,
        // On a busy machine two seconds pass without any event being lost.
        timing: { cookieMs: 15_000, ...options.timing },
      });
      started.push(watcher);
      const watched = observe(watcher);
      await watcher.start();
      return watched;
    },
    async end() {
      for (const watcher of started) await watcher.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function observe(watcher: Watcher): Watched {
  const batches: ChangeBatch[] = [];
  const notices: WatchNotice[] = [];
  watcher.onChange((batch) => batches.push(batch));
  watcher.onNotice((notice) => notices.push(notice));
  return {
    watcher,
    batches,
    notices,
    changes: () => batches.flatMap(({ changes }) => changes),
    state() {
      const state = new Map<string, string>();
      for (const { path, mode, hash } of watcher.entries()) state.set(path, `${mode} ${hash}`);
      return state;
    },
    async settle() {
      const { fresh } = await watcher.settle();
      if (!fresh) throw new Error('The watcher could not settle.');
    },
  };
}

export const path = (text: string): Path => text as Path;
