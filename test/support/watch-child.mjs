/**
 * A watcher in a process of its own, from the built files. argv: root.
 * Prints "ready", then for each line read: settles and prints {fresh, files, notices}.
 */
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { createWatcher } from '../../dist/watch/watcher.js';

const root = process.argv[2];
const rules = {
  decide: (name, kind) => ({ tracked: true, enter: kind === 'directory', reason: 'all' }),
  enter: () => rules,
};
const notices = [];
const watcher = createWatcher({
  root,
  stateDir: `${root}/.agentsmithy`,
  config: { maxFileBytes: 1_000_000, watcher: 'directories' },
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  log: { write: () => undefined },
  rules: () => Promise.resolve({ root: rules, fingerprint: 'all', outside: [] }),
});
watcher.onNotice((notice) => notices.push(notice));
await watcher.start();
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const { fresh } = await watcher.settle();
  const entries = [...watcher.entries()].map(({ path, hash }) => [path, hash]);
  console.log(JSON.stringify({ asked: line, fresh, notices, entries }));
}
await watcher.stop();
