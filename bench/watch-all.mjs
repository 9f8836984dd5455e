/** A watcher of the built files on a folder, with rules that leave nothing out. */
import { mkdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { createWatcher } from '../dist/watch/watcher.js';

const rules = {
  decide: (name, kind) => ({ tracked: true, enter: kind === 'directory', reason: 'all' }),
  enter: () => rules,
};

export async function watchAll(root, maxFileBytes = 52_428_800) {
  mkdirSync(`${root}/.agentsmithy`, { recursive: true, mode: 0o700 });
  const watcher = createWatcher({
    root,
    stateDir: `${root}/.agentsmithy`,
    config: { maxFileBytes, watcher: 'directories' },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    log: { write: (level, what, fields) => console.error(level, what, fields) },
    rules: () => Promise.resolve({ root: rules, fingerprint: 'all', outside: [] }),
  });
  await watcher.start();
  return watcher;
}
