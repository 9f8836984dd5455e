import { describe, expect, it } from '@jest/globals';
import { NewEvent, placed } from '../../src/core/ledger.js';
import { describeRecorded } from '../../src/core/recorded.js';

function entry(seq: number, more: object) {
  const event = NewEvent.parse({
    ts: '2026-01-31T00:00:00.000Z',
    author: { name: 'ann', version: '1.2', kind: 'agent' },
    action_type: 'edit_insert',
    ...more,
  });
  return placed(event, seq, '0'.repeat(64));
}

describe('what the log says of recorded lines', () => {
  it('names events, runs, tools, edits and bookmarks, each once', () => {
    const run = { run_id: 'run-7', edit: { id: 'E1', what: 'finalized' } };
    expect(describeRecorded([entry(1, run), entry(2, { ...run, bookmark: 'green' })])).toEqual({
      events: ['evt-000001', 'evt-000002'],
      count: 2,
      actions: ['edit_insert'],
      edits: ['E1'],
      run_ids: ['run-7'],
      tools: ['agent:ann 1.2'],
      bookmarks: ['green'],
    });
  });

  it('stays short', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => entry(at + 1, {}));
    const told = describeRecorded(many);
    expect(told['count']).toBe(5_000);
    expect(JSON.stringify(told).length).toBeLessThan(400);
  });
});
