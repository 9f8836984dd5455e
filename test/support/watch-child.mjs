/**
 * A watcher in a process of its own, from the built files. argv: root, largest file.
 * Prints "ready", then for each line read: settles and prints {fresh, notices, entries, peakBytes}.
 */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { createWatcher } from '../../dist/watch/watcher.js';

const [, , root, largest = '1000000'] = process.argv;
const rules = {
  decide: (name, kind) => ({ tracked: true, enter: kind === 'directory', reason: 'all' }),
  enter: () => rules,
};
const notices = [];
const watcher = createWatcher({
  root,
  stateDir: `${root}/.agentsmithy`,
  config: { maxFileBytes: Number(largest), watcher: 'directories' },
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  log: { write: () => undefined },
  rules: () => Promise.resolve({ root: rules, fingerprint: 'all', outside: [] }),
});

/** The most memory this process ever had at once, all threads included. */
function peakBytes() {
  const peak = /VmHWM:\s+(\d+) kB/u.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(peak[1]) * 1024;
}

watcher.onNotice((notice) => notices.push(notice));
await watcher.start();
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const { fresh } = await watcher.settle();
  const entries = [...watcher.entries()].map(({ path, hash }) => [path, hash]);
  console.log(JSON.stringify({ asked: line, fresh, notices, entries, peakBytes: peakBytes() }));
}
await watcher.stop();
