/**
 * One watcher on one tree in a process of its own; prints what it measured as JSON.
 * argv: smithyd|chokidar|watchman, root, and `ready` to end there, or `idle` to add a minute of doing nothing.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { watchman } from './watch-watchman.mjs';

const [, , subject, root, idle] = process.argv;
const CHANGES = 500;
const BURST = 5_000;

async function smithyd() {
  const { watchAll } = await import('./watch-all.mjs');
  const watcher = await watchAll(root);
  return {
    isKnown: (path, hash) => watcher.get(path)?.hash !== hash,
    hashOf: (path) => watcher.get(path)?.hash,
    settle: () => watcher.settle(),
    has: (path) => watcher.get(path) !== undefined,
    stop: () => watcher.stop(),
  };
}

async function chokidar() {
  const { watch } = await import('chokidar');
  const seen = new Map();
  const watcher = watch(root, { followSymlinks: false, atomic: false });
  watcher.on('all', (event, path) => {
    const name = path.slice(root.length + 1);
    if (event.startsWith('unlink')) seen.delete(name);
    else seen.set(name, (seen.get(name) ?? 0) + 1);
  });
  await new Promise((resolve) => watcher.once('ready', resolve));
  return {
    isKnown: (path, count) => seen.get(path) !== count,
    hashOf: (path) => seen.get(path),
    // It has no barrier: give it time.
    settle: () => setTimeout(5_000),
    has: (path) => seen.has(path),
    stop: () => watcher.close(),
  };
}

function memory(pid = 'self') {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (key) => Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)[1]) / 1024);
  return { rss_mb: read('VmRSS'), peak_mb: read('VmHWM') };
}

function cpuTicks(pid = 'self') {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

const quantile = (list, q) => Number(list[Math.floor(list.length * q)].toFixed(3));

async function latency(watched) {
  const times = [];
  for (let index = 0; index < CHANGES; index += 1) {
    const path = `src/part-0/module-${index % 100}/file-${index % 10}.ts`;
    const before = watched.hashOf(path);
    const begun = performance.now();
    writeFileSync(`${root}/${path}`, `changed ${process.pid} ${index}\n`);
    while (!watched.isKnown(path, before)) {
      await setImmediate();
      if (performance.now() - begun > 10_000) break;
    }
    times.push(performance.now() - begun);
    await setTimeout(2);
  }
  times.sort((a, b) => a - b);
  return {
    p50_ms: quantile(times, 0.5),
    p99_ms: quantile(times, 0.99),
    max_ms: quantile(times, 1 - 1e-9),
  };
}

/** Creates, renames and deep folders as fast as they can be made; counts what stays unknown. */
async function burst(watched) {
  rmSync(`${root}/burst`, { recursive: true, force: true });
  await watched.settle();
  const expected = [];
  for (let index = 0; index < BURST; index += 1) {
    const folder = `burst/${index % 50}/${index % 7}/deep/${index % 3}`;
    mkdirSync(`${root}/${folder}`, { recursive: true });
    writeFileSync(`${root}/${folder}/${index}`, String(index));
    const isMoved = index % 5 === 0;
    if (isMoved) renameSync(`${root}/${folder}/${index}`, `${root}/${folder}/moved-${index}`);
    expected.push(`${folder}/${isMoved ? `moved-${index}` : index}`);
  }
  for (let index = 0; index < 50; index += 2) {
    renameSync(`${root}/burst/${index}`, `${root}/burst/renamed-${index}`);
  }
  await watched.settle();
  const missed = expected.filter((path) => {
    const parts = path.split('/');
    if (Number(parts[1]) % 2 === 0) parts[1] = `renamed-${parts[1]}`;
    return !watched.has(parts.join('/'));
  });
  rmSync(`${root}/burst`, { recursive: true });
  await watched.settle();
  return { files: BURST, missed: missed.length };
}

async function settling(watched) {
  const times = [];
  for (let index = 0; index < 200; index += 1) {
    const begun = performance.now();
    await watched.settle();
    times.push(performance.now() - begun);
    await setTimeout(2);
  }
  times.sort((a, b) => a - b);
  return { p50_ms: quantile(times, 0.5), p99_ms: quantile(times, 0.99) };
}

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const begun = performance.now();
const watched = await { smithyd, chokidar, watchman }[subject](root);
const isReadyAt = watched.isReadyAt ?? performance.now();
const result = { ready_s: Number(((isReadyAt - begun) / 1000).toFixed(3)), ...memory(watched.pid) };
delay.disable();
result.longest_block_ms = Math.round(delay.max / 1e6);
if (idle !== 'ready') {
  await setTimeout(3_000);
  result.settled = memory(watched.pid);
  if (idle === 'idle') {
    const before = cpuTicks(watched.pid);
    await setTimeout(60_000);
    result.idle_cpu_ticks_in_60_s = cpuTicks(watched.pid) - before;
  }
  result.change = await latency(watched);
  if (subject !== 'chokidar') result.settle = await settling(watched);
  result.burst = await burst(watched);
  result.end = memory(watched.pid);
}
await watched.stop();
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);
