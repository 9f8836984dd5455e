/** What was acknowledged, what was refused and how long it took, while a soak goes on. */
import { performance } from 'node:perf_hooks';
const SLICE_S = 10;

export function createRecord(random) {
  const begun = performance.now();
  const done = new Map();
  const refused = new Map();
  const contents = new Set();
  /** Dialog -> commits that were answered. */
  const checkpoints = new Map();
  const failures = [];
  const slices = new Map();
  const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
  const seconds = () => (performance.now() - begun) / 1000;
  return {
    ...{ done: (what) => count(done, what), refused: (code) => count(refused, code) },
    content: (hash) => contents.add(hash),
    fail: (why) => failures.push(why),
    checkpoint(dialog, commit) {
      checkpoints.set(dialog, checkpoints.get(dialog) ?? new Set());
      checkpoints.get(dialog).add(commit);
    },
    anyCheckpoint(dialog) {
      const known = [...(checkpoints.get(dialog) ?? [])].slice(-20);
      return known[random(Math.max(1, known.length))];
    },
    latency(method, ms) {
      const slice = Math.floor(seconds() / SLICE_S);
      const key =
        method === 'status' ? 'status' : method === 'create_checkpoint' ? 'checkpoint' : '';
      if (key === '') return;
      slices.set(key, slices.get(key) ?? new Map());
      const times = slices.get(key);
      times.set(slice, [...(times.get(slice) ?? []), ms]);
    },
    /** The worst of each ten seconds. */
    worst(key) {
      const times = [...(slices.get(key) ?? [])].sort(([a], [b]) => a - b);
      return times.map(([slice, all]) => [slice * SLICE_S, Math.max(...all)]);
    },
    all: (key) => [...(slices.get(key) ?? new Map()).values()].flat(),
    seconds,
    ...{ doneCounts: done, refusedCounts: refused, contents, checkpoints, failures },
  };
}
