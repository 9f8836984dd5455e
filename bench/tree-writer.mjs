/**
 * Restores 5,000 changed files of 5 KB (every tenth new, every tenth deleted) in 250 folders, content from
 * memory, and says how long it took and how long the event loop was held; beside it a bare loop of
 * "write a new file, rename it over the old one", the least such a restore can cost. Needs a build.
 *   node bench/tree-writer.mjs [files] [folder to work in]
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { planRestore } from '../dist/core/restore-plan.js';
import { createTreeWriter } from '../dist/files/tree-writer.js';

const count = Number(process.argv[2] ?? 5000);
const root = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'smithyd-bench-'));
const bytesOf = (number, version) => Buffer.from(`${version} ${number}\n`.repeat(500));
const hashOf = (bytes) =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  const store = new Map();
  const entryOf = (bytes) => {
    const hash = hashOf(bytes);
    store.set(hash, bytes);
    return { mode: '100644', hash };
  };
  const sides = Array.from({ length: count }, (_, number) => {
    const path = `src/part-${number % 25}/folder-${number % 250}/file-${number}.ts`;
    const a = number % 10 === 1 ? null : entryOf(bytesOf(number, 'first'));
    const b = number % 10 === 2 ? null : entryOf(bytesOf(number, 'second'));
    return { path, a, b };
  });
  for (const { path, a } of sides) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    if (a !== null) writeFileSync(join(root, path), store.get(a.hash));
  }
  const writer = createTreeWriter({ root });
  const times = [];
  const work = [];
  const bare = [];
  const longest = [];
  for (let round = 0; round < 9; round += 1) {
    const forth = round % 2 === 0;
    const differences = sides.map(({ path, a, b }) => ({
      path,
      from: forth ? a : b,
      to: forth ? b : a,
    }));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const cpu = process.cpuUsage();
    const start = performance.now();
    const { steps } = planRestore({ differences });
    const outcomes = await writer.apply(steps, (hash) => Promise.resolve(store.get(hash)));
    times.push(performance.now() - start);
    const used = process.cpuUsage(cpu);
    work.push((used.user + used.system) / 1000);
    delay.disable();
    longest.push(delay.max / 1e6);
    const bad = outcomes.filter(({ result }) => result === 'skipped');
    if (bad.length > 0) throw new Error(JSON.stringify(bad[0]));
    const again = performance.now();
    for (const { path, to } of differences) {
      if (to === null) continue;
      writeFileSync(join(root, `${path}.new`), store.get(to.hash));
      renameSync(join(root, `${path}.new`), join(root, path));
    }
    bare.push(performance.now() - again);
  }
  console.log(
    `${count} files: median ${median(times).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)} ms; ` +
      `processor time ${median(work).toFixed(0)} ms; bare loop ${median(bare).toFixed(0)} ms; ` +
      `event loop held: median of the longest ${median(longest).toFixed(0)} ms, worst ${Math.max(...longest).toFixed(0)} ms`,
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}
