import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { basename } from 'node:path';
import { looksLikeOverflow } from '../../core/doubt.js';
import { codeOf } from '../content/content.js';
import { type Engine, type EngineEvents, LIMITS, type WatchResult } from './engine.js';

// Longer than any burst takes to read, shorter than anybody waiting would notice.
const FLOOD_MS = 20;
const FLOOD_EVENTS = 256;
// As long as a flood is only counted: a queue that ran over is read in a part of it.
const LONGEST_READ_MS = 50;
// No kernel hands out more in a millisecond: 50 ns each.
const MOST_EVENTS_PER_MS = 20_000;

/**
 * One watch per directory, not recursive. On Linux all of them share one inotify queue, so events
 * of different folders keep their order.
 */
export function createDirectoryEngine(root: string): Engine {
  const handles = new Map<string, FSWatcher>();
  const queueLimit = readQueueLimit();
  let events: EngineEvents | undefined;
  let inThisRead = 0;
  let readBegan = 0;
  /** Since then some events of this read are not told to us. */
  let cutOffAt: number | undefined;
  const perFolder = new Map<string, number>();
  /** Folders in a flood: until the read ends their events are only counted. */
  const muted = new Set<string>();

  function count(folder: string): void {
    inThisRead += 1;
    if (inThisRead > 1) {
      perFolder.set(folder, (perFolder.get(folder) ?? 0) + 1);
      return;
    }
    readBegan = performance.now();
    // The kernel's queue is read to its end before anything scheduled here runs.
    setImmediate(endRead);
  }

  function endRead(): void {
    const suspicious = looksLikeOverflow(inThisRead + uncounted(), queueLimit);
    const flooded = [...muted];
    inThisRead = 0;
    cutOffAt = undefined;
    perFolder.clear();
    muted.clear();
    for (const folder of flooded) {
      unwatch(folder);
      events?.flooded(folder);
    }
    if (suspicious) events?.overflow();
  }

  /** Once a watch is off, libuv drops what is left of its events: as many as the time since allows. */
  function uncounted(): number {
    return cutOffAt === undefined ? 0 : (performance.now() - cutOffAt) * MOST_EVENTS_PER_MS;
  }

  /**
   * libuv reads until the queue is empty, so one process that writes without pause keeps this
   * thread inside that loop. Taking the watch off is the only way out, but what it would have told is
   * then not counted any more: only when there was enough for an overflow, or it takes too long.
   */
  function countMuted(folder: string): void {
    if (inThisRead % 64 !== 0) return;
    const isLong = performance.now() - readBegan > LONGEST_READ_MS;
    if (!isLong && !looksLikeOverflow(inThisRead, queueLimit)) return;
    cutOffAt ??= performance.now();
    handles.get(folder)?.close();
    handles.delete(folder);
  }

  function isFlood(folder: string): boolean {
    if (inThisRead % 64 !== 0 || performance.now() - readBegan < FLOOD_MS) return false;
    return (perFolder.get(folder) ?? 0) > FLOOD_EVENTS;
  }

  function unwatch(folder: string): void {
    muted.delete(folder);
    handles.get(folder)?.close();
    handles.delete(folder);
  }

  function add(folder: string): void {
    const path = folder === '' ? root : `${root}/${folder}`;
    const own = basename(path);
    const handle = watch(path, (type, name) => {
      count(folder);
      if (muted.has(folder)) {
        countMuted(folder);
        return;
      }
      // A name that is no UTF-8 arrives damaged; the folder's listing has the truth.
      events?.hint(folder, name?.includes('\uFFFD') === true ? undefined : (name ?? undefined));
      // libuv reports the folder's own end under its own name, like an entry of it.
      if (type === 'rename' && name === own) events?.lost(folder);
      if (isFlood(folder)) muted.add(folder);
    });
    handle.on('error', (error) => {
      if (handles.get(folder) !== handle) return;
      unwatch(folder);
      events?.failed(folder, error);
    });
    handles.set(folder, handle);
  }

  return {
    name: 'directories',
    ordered: true,
    open(to) {
      events = to;
      return Promise.resolve();
    },
    watch(folder): WatchResult {
      unwatch(folder);
      try {
        add(folder);
        return 'watching';
      } catch (error) {
        const code = codeOf(error);
        if (code === 'ENOENT' || code === 'ENOTDIR') return 'gone';
        return LIMITS.has(code) ? 'limit' : 'failed';
      }
    },
    unwatch,
    rulesChanged: () => undefined,
    close() {
      events = undefined;
      for (const folder of [...handles.keys()]) unwatch(folder);
      return Promise.resolve();
    },
  };
}

function readQueueLimit(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || 16_384;
  } catch {
    return 16_384;
  }
}
