import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventIndex, type EventQuery } from '../../src/core/event-index.js';
import { NewEvent, placed, type LedgerEntry } from '../../src/core/ledger.js';

const PATHS = ['a', 'a/b', 'a/b/c', 'ab', 'd'] as const;
const AUTHORS = ['ann', 'bob'] as const;
const KINDS = ['agent', 'command'] as const;
const SESSIONS = ['session_1', 'session_2', null] as const;
const ACTIONS = ['edit_insert', 'file_create', 'meta_note'] as const;
const DIALOGS = ['D1', 'D2', null] as const;

interface Given {
  readonly path: string;
  readonly name: string;
  readonly kind: string;
  readonly session: string | null;
  readonly action: (typeof ACTIONS)[number];
  readonly dialog: string | null;
  readonly minute: number;
  readonly by: boolean;
}

const given: fc.Arbitrary<Given> = fc.record({
  path: fc.constantFrom(...PATHS),
  name: fc.constantFrom(...AUTHORS),
  kind: fc.constantFrom(...KINDS),
  session: fc.constantFrom(...SESSIONS),
  action: fc.constantFrom(...ACTIONS),
  dialog: fc.constantFrom(...DIALOGS),
  minute: fc.integer({ min: 0, max: 59 }),
  by: fc.boolean(),
});

const query: fc.Arbitrary<EventQuery> = fc.record(
  {
    file: fc.constantFrom(...PATHS),
    author: fc.constantFrom('ann', 'agent:ann', 'command:bob', 'nobody'),
    branch: fc.constantFrom('session_1', 'session_2', 'main'),
    action: fc.constantFrom(...ACTIONS),
    dialog: fc.constantFrom('D1', 'D2'),
    since: fc.integer({ min: 0, max: 59 }).map((minute) => Date.parse(at(minute))),
    after: fc.integer({ min: 0, max: 60 }),
    before: fc.integer({ min: 0, max: 60 }),
    limit: fc.integer({ min: 1, max: 70 }),
  },
  { requiredKeys: ['limit'] },
);

function at(minute: number): string {
  return `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
}

function toEntry({ path, name, kind, session, action, dialog, minute, by }: Given, seq: number) {
  const event = NewEvent.parse({
    ts: at(minute),
    author: { name, kind },
    action_type: action,
    files: [path],
    session,
    dialog_id: dialog,
    changes: by ? [{ path, before: null, after: '1'.repeat(40) }] : [],
    ...(by ? { by: `${kind}:${name}` } : {}),
  });
  return placed(event, seq, '0'.repeat(64));
}

function isMeant(entry: LedgerEntry, wanted: EventQuery): boolean {
  const { author, session, action_type: action, dialog_id: dialog, seq, ts } = entry;
  const { file } = wanted;
  const tests = [
    file === undefined || entry.files.some((path) => path === file || path.startsWith(`${file}/`)),
    wanted.author === undefined ||
      [author.name, `${author.kind}:${author.name}`].includes(wanted.author),
    wanted.branch === undefined || session === wanted.branch,
    wanted.action === undefined || action === wanted.action,
    wanted.dialog === undefined || dialog === wanted.dialog,
    Date.parse(ts) >= (wanted.since ?? -Infinity),
    seq > (wanted.after ?? 0) && seq < (wanted.before ?? Infinity),
  ];
  return tests.every((passed) => passed);
}

describe('the index of events', () => {
  it('finds what a look at every line finds, newest first', () => {
    fc.assert(
      fc.property(fc.array(given, { maxLength: 60 }), query, (all, wanted) => {
        // Damaged lines leave gaps.
        const entries = all.map((one, number) => toEntry(one, number + 1 + (number > 30 ? 5 : 0)));
        const index = new EventIndex();
        for (const entry of entries) index.add(entry);
        const expected = entries
          .filter((entry) => isMeant(entry, wanted))
          .map(({ seq }) => seq)
          .reverse()
          .slice(0, wanted.limit);
        expect(index.find(wanted)).toEqual(expected);
        for (const path of PATHS) {
          const changed = entries.filter(({ changes }) => changes[0]?.path === path);
          expect(index.changesOf(path)).toEqual(changed.map(({ seq }) => seq));
        }
      }),
    );
  });

  it('takes a line in once, however often it is read', () => {
    const one = { path: 'a', name: 'ann', kind: 'agent', session: null, dialog: null } as const;
    const entry = toEntry({ ...one, action: 'meta_note', minute: 1, by: true }, 1);
    const index = new EventIndex();
    index.add(entry);
    index.add(entry);
    expect(index.find({ limit: 5 })).toEqual([1]);
    expect(index.changesOf('a')).toEqual([1]);
  });

  it('finds lines that name their branch in full', () => {
    const index = new EventIndex();
    const line = NewEvent.parse({
      ts: at(1),
      author: { name: 'smithyd', kind: 'daemon' },
      action_type: 'save',
      branch: 'refs/heads/main',
    });
    index.add(placed(line, 1, '0'.repeat(64)));
    expect(index.find({ branch: 'main', limit: 5 })).toEqual([1]);
    expect(index.find({ branch: 'refs/heads/main', limit: 5 })).toEqual([1]);
  });
});
