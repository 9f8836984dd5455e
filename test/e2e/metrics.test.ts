import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { editing } from '../support/edits.js';
import { scrape, type Scraped } from '../support/exposition.js';
import { sharedWork, type Work } from '../support/work.js';

const SEVEN = [
  'events_written_total',
  'snapshot_bytes_total',
  'events_since_last_snapshot',
  'replay_success_rate',
  'replay_duration_ms',
  'restore_duration_ms',
  'gc_bytes_freed_total',
];

async function metrics(work: Work): Promise<Map<string, Scraped>> {
  return scrape((await work.call<{ text: string }>('get_metrics')).text);
}

async function value(work: Work, family: string, series = family): Promise<number | undefined> {
  return (await metrics(work)).get(family)?.samples.get(series);
}

describe('metrics', () => {
  const shared = sharedWork();

  it('have the names that dashboards know from the first scrape on', async () => {
    const families = await metrics(shared());
    for (const name of SEVEN) expect(families.has(name)).toBe(true);
    expect([...(families.get('smithyd_dropped_total')?.samples.values() ?? [])]).toEqual([0, 0]);
    expect(await value(shared(), 'smithyd_fresh')).toBe(1);
  });

  it('are printed as they are by the command line', async () => {
    const { stdout, code } = await shared().project.cli(['metrics']);
    expect(code).toBe(0);
    expect([...scrape(stdout).keys()]).toEqual(expect.arrayContaining(SEVEN));
  });

  it('count the lines of the ledger, here and since the last snapshot', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const before = (await value(work, 'events_written_total')) ?? NaN;
    const edit = editing(work);
    const started = await edit.start(['a']);
    work.put({ a: '2\n' });
    await edit.finalize(started);
    expect(await value(work, 'events_written_total')).toBe(before + 2);
    const { ledger } = await work.call<{ ledger: { events: number } }>('status');
    expect(await value(work, 'smithyd_ledger_events')).toBe(ledger.events);
    expect(await value(work, 'events_since_last_snapshot')).toBeLessThanOrEqual(ledger.events);
  });

  it('tell what snapshots added, and begin anew after each', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const bytes = (await value(work, 'snapshot_bytes_total')) ?? NaN;
    work.put({ a: `${Math.random()}\n`.repeat(100) });
    await work.call('snapshot_save', { name: 'green' });
    expect(await value(work, 'snapshot_bytes_total')).toBeGreaterThan(bytes);
    expect(await value(work, 'events_since_last_snapshot')).toBe(0);
    await work.call('user_message', { content: 'hello' });
    expect(await value(work, 'events_since_last_snapshot')).toBeGreaterThan(0);
  });

  it('tell how long restores and calls took, by the name of the method', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const { commit_id: first } = await work.save('first');
    work.put({ a: '2\n' });
    const count = () => value(work, 'restore_duration_ms', 'restore_duration_ms_count');
    const before = (await count()) ?? NaN;
    await work.restore(first);
    expect(await count()).toBe(before + 1);
    const median = 'restore_duration_ms{quantile="0.5"}';
    expect(await value(work, 'restore_duration_ms', median)).toBeGreaterThan(0);
    // A look at what would be is no restore.
    await work.restore(first, { dry_run: true });
    expect(await count()).toBe(before + 1);
    const calls = 'smithyd_call_duration_seconds';
    expect(await value(work, calls, `${calls}_count{method="restore"}`)).toBe(2);
    expect(await value(work, calls, `${calls}_bucket{method="restore",le="+Inf"}`)).toBe(2);
  });

  it('have no more labels than there are methods, whatever is called', async () => {
    const work = shared();
    for (let number = 0; number < 20; number += 1) await work.refusal(`made_up_${number}`);
    const samples = (await metrics(work)).get('smithyd_calls_total')?.samples;
    const series = [...(samples?.keys() ?? [])].filter((one) => one.includes('METHOD_NOT_FOUND'));
    expect(series).toEqual(['smithyd_calls_total{method="unknown",outcome="METHOD_NOT_FOUND"}']);
  });

  it('count what a deleted dialog gave back', async () => {
    const work = shared();
    const { dialog_id: dialog } = await work.fresh({ a: `${Math.random()}\n`.repeat(10_000) });
    await work.fresh({ b: '1\n' });
    const before = (await value(work, 'gc_bytes_freed_total')) ?? NaN;
    const { freed_bytes: freed } = await work.call<{ freed_bytes: number }>('delete_dialog', {
      dialog_id: dialog,
    });
    expect(freed).toBeGreaterThan(0);
    expect(await value(work, 'gc_bytes_freed_total')).toBe(before + freed);
  });
});

describe('the log', () => {
  const shared = sharedWork();

  interface Ready {
    readonly tools: { readonly node: string; readonly grammars: string };
  }
  interface Line extends Readonly<Record<string, unknown>> {
    readonly what: string;
  }
  const lines = (work: Work): Line[] =>
    readFileSync(work.project.path('run/daemon.log'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);

  it('names events, runs, edits and the versions of tools', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const edit = editing(work);
    const agent = { name: 'ann', version: '4.5' };
    const started = await edit.start(['a'], { agent, run_id: 'run-99' });
    work.put({ a: '2\n' });
    const { events } = await edit.finalize(started);
    const recorded = lines(work).find((line) => {
      return line.what === 'recorded' && (line['events'] as string[]).includes(events[0] ?? '');
    });
    expect(recorded).toMatchObject({
      level: 'info',
      events,
      actions: ['edit_replace'],
      edits: [started.edit_id],
      run_ids: ['run-99'],
      tools: ['agent:ann 4.5'],
    });
    const { tools } = lines(work).find(({ what }) => what === 'ready') as unknown as Ready;
    expect(tools.node).toBe(process.version);
    expect(tools.grammars).toContain('tree-sitter-python 0.25.0');
  });
});
