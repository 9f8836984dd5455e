import { exposition, Histogram, Summary, type Family } from '../core/exposition.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { Clock, Log } from '../core/ports.js';
import { describeRecorded } from '../core/recorded.js';
import type { CheckpointStore } from '../core/store.js';
import type { DoubtReason } from '../core/watching.js';

/** Queues that let go of something when they are full. */
const QUEUES = ['subscriber', 'semantics'] as const;

/** What the parts of the product report of themselves; each word once, whoever does it. */
export interface Meter {
  eventsWritten(count: number): void;
  /** What it added to the store: it shares all else with the checkpoints. */
  snapshotSaved(bytes: number): void;
  replayed(ms: number, succeeded: boolean): void;
  /** A restore, undo, redo, reset or rewind: from the first file to the line that tells of it. */
  restored(ms: number): void;
  /** Given back to the disk. Whatever prunes the store is counted there already. */
  freed(bytes: number): void;
  dropped(queue: (typeof QUEUES)[number]): void;
  desynced(reason: DoubtReason): void;
}

/** Something that is looked up when somebody asks. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly value: number;
}

/** Counted since the daemon started. Label values come from fixed sets, so it is bounded. */
export interface Metrics extends Meter {
  /** To be called with the outcome when the call has ended. */
  beginCall(method: string): (outcome: string) => void;
  render(gauges: readonly Gauge[]): string;
}

/** Seconds. A bracket takes 5 ms, a checkpoint 30, a first one some seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(clock: Clock): Metrics {
  const calls = new Map<string, { labels: Record<string, string>; count: number }>();
  const durations = new Map<string, Histogram>();
  const dropped = new Map<string, number>(QUEUES.map((queue) => [queue, 0]));
  const desyncs = new Map<string, number>();
  const restores = new Summary();
  const replays = { all: 0, succeeded: 0, took: new Summary() };
  const totals = { events: 0, snapshotBytes: 0, freedBytes: 0 };

  function count(method: string, outcome: string): void {
    const series = `${method} ${outcome}`;
    const known = calls.get(series);
    if (known !== undefined) known.count += 1;
    else calls.set(series, { labels: { method, outcome }, count: 1 });
  }

  function durationOf(method: string): Histogram {
    const known = durations.get(method);
    if (known !== undefined) return known;
    const fresh = new Histogram(BOUNDS);
    durations.set(method, fresh);
    return fresh;
  }

  /** The names of S2-58, there from the first scrape so that a dashboard need not guess. */
  const ledger = (): Family[] => [
    counter('events_written_total', 'Lines written to the ledger.', totals.events),
    counter('snapshot_bytes_total', 'What snapshots added to the store.', totals.snapshotBytes),
    gauge({
      name: 'replay_success_rate',
      help: 'Replays that gave what was recorded, of all; NaN before the first.',
      value: replays.succeeded / replays.all,
    }),
    {
      name: 'replay_duration_ms',
      help: 'How long replays took, in ms.',
      type: 'summary',
      samples: replays.took.samples(),
    },
    {
      name: 'restore_duration_ms',
      help: 'How long it took to bring the project to another state, in ms.',
      type: 'summary',
      samples: restores.samples(),
    },
    counter('gc_bytes_freed_total', 'Bytes given back to the disk.', totals.freedBytes),
  ];

  const own = (): Family[] => [
    {
      name: 'smithyd_calls_total',
      help: 'Calls of methods by their outcome: ok, or the code of the error.',
      type: 'counter',
      samples: [...calls.values()].map(({ labels, count: value }) => ({ labels, value })),
    },
    {
      name: 'smithyd_call_duration_seconds',
      help: 'How long calls took, from the parsed request to the answer.',
      type: 'histogram',
      samples: [...durations].flatMap(([method, one]) => one.samples({ method })),
    },
    labelled(dropped, 'queue', {
      name: 'smithyd_dropped_total',
      help: 'What a full queue let go of: subscribers, and files nobody looked into.',
    }),
    labelled(desyncs, 'reason', {
      name: 'smithyd_watch_desyncs_total',
      help: 'How often changes may have been missed, and a scan made up for it.',
    }),
  ];

  return {
    beginCall(method) {
      const begun = clock.monotonic();
      return (outcome) => {
        count(method, outcome);
        durationOf(method).observe((clock.monotonic() - begun) / 1000);
      };
    },
    eventsWritten: (more) => void (totals.events += more),
    snapshotSaved: (bytes) => void (totals.snapshotBytes += bytes),
    freed: (bytes) => void (totals.freedBytes += bytes),
    restored: (ms) => restores.observe(ms),
    replayed(ms, succeeded) {
      replays.all += 1;
      if (succeeded) replays.succeeded += 1;
      replays.took.observe(ms);
    },
    dropped: (queue) => raise(dropped, queue),
    desynced: (reason) => raise(desyncs, reason),
    render: (gauges) => exposition([...own(), ...gauges.map(gauge), ...ledger()]),
  };
}

function counter(name: string, help: string, value: number): Family {
  return { name, help, type: 'counter', samples: [{ value }] };
}

function gauge({ name, help, value }: Gauge): Family {
  return { name, help, type: 'gauge', samples: [{ value }] };
}

function labelled(
  counts: ReadonlyMap<string, number>,
  label: string,
  named: { readonly name: string; readonly help: string },
): Family {
  const samples = [...counts].map(([of, value]) => ({ labels: { [label]: of }, value }));
  return { ...named, type: 'counter', samples };
}

function raise(counts: Map<string, number>, of: string): void {
  counts.set(of, (counts.get(of) ?? 0) + 1);
}

/** Whoever prunes. */
export function countingFreed(store: CheckpointStore, meter: Meter): CheckpointStore {
  return {
    ...store,
    prune: async (how) => {
      const freed = await store.prune(how);
      meter.freed(freed.freedBytes);
      return freed;
    },
  };
}

/** Lines that are on the disk, for those who look at numbers and logs. */
export function reportRecorded(
  { metrics, log }: { readonly metrics: Meter; readonly log: Log },
  entries: readonly LedgerEntry[],
): void {
  if (entries.length === 0) return;
  metrics.eventsWritten(entries.length);
  log.write('info', 'recorded', describeRecorded(entries));
}
