/** Counters and gauges in Prometheus' text form. Label values come from fixed sets, so it is bounded. */
export interface Metrics {
  /** One call of a method ended. */
  countCall(method: string, outcome: string): void;
  render(gauges: Readonly<Record<string, number>>): string;
}

/** Names of S2-58, present from the first scrape so that a dashboard need not guess. */
const LEDGER_METRICS: Readonly<Record<string, number>> = {
  events_written_total: 0,
  snapshot_bytes_total: 0,
  events_since_last_snapshot: 0,
  // No replay has run: neither all nor none of them succeeded.
  replay_success_rate: NaN,
  replay_duration_ms: 0,
  restore_duration_ms: 0,
  gc_bytes_freed_total: 0,
};

export function createMetrics(): Metrics {
  const calls = new Map<string, number>();
  return {
    countCall(method, outcome) {
      const series = `smithyd_calls_total{method="${method}",outcome="${outcome}"}`;
      calls.set(series, (calls.get(series) ?? 0) + 1);
    },
    render(gauges) {
      const lines = ['# TYPE smithyd_calls_total counter'];
      for (const [series, count] of calls) lines.push(`${series} ${count}`);
      for (const [name, value] of Object.entries({ ...gauges, ...LEDGER_METRICS })) {
        lines.push(`# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`);
        lines.push(`${name} ${value}`);
      }
      return `${lines.join('\n')}\n`;
    },
  };
}
