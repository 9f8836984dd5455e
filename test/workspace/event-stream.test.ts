import { describe, expect, it } from '@jest/globals';
import { MOST_REPLAYED } from '../../src/core/event-cursor.js';
import type { StreamedEvent } from '../../src/core/events.js';
import type { Ledger, NewEvent } from '../../src/core/ledger.js';
import { createEventStream, type Subscriber } from '../../src/workspace/event-stream.js';
import { ledgerIn, note, temporaryFolder } from '../ledger/helpers.js';

const clock = { now: () => 0, monotonic: () => 0 };

function used(dialog = 'D'): NewEvent {
  return note('a fact', { action_type: 'dialog', dialog_id: dialog, fact: { what: 'used' } });
}

async function opened(): Promise<Ledger> {
  const ledger = ledgerIn(temporaryFolder());
  await ledger.open();
  return ledger;
}

/** Keeps what it gets; `pause` runs whenever the stream waits for it. */
function subscriber(pause: () => Promise<void> = () => Promise.resolve()) {
  const events: StreamedEvent[] = [];
  const one: Subscriber = { deliver: (event) => void events.push(event), drained: pause };
  return { events, one, cursors: () => events.map(({ cursor }) => cursor) };
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

describe('the stream of events over a ledger', () => {
  it('reads back what earlier daemons wrote, in order and once', async () => {
    const ledger = await opened();
    await ledger.append(Array.from({ length: 1_300 }, () => used()));
    const stream = createEventStream({ clock, ledger, run: 'aa', root: '/project' });
    const { one, cursors } = subscriber();
    const { gap, cursor } = await stream.subscribe({}, '7', one);
    expect(gap).toBe(false);
    expect(cursor).toBe('1300');
    expect(cursors()).toEqual(numbers(8, 1_300));
  });

  it('gives each line once when more are written while it reads back', async () => {
    const ledger = await opened();
    await ledger.append(Array.from({ length: 1_200 }, () => used()));
    const stream = createEventStream({ clock, ledger, run: 'aa', root: '/project' });
    const write = async (): Promise<void> => stream.tell(await ledger.append([used(), used()]));
    const { one, cursors } = subscriber(write);
    await stream.subscribe({}, '0', one);
    await write();
    const { seq } = ledger.head();
    expect(seq).toBeGreaterThan(1_202);
    expect(cursors()).toEqual(numbers(1, seq));
  });

  it('gives a line once that is in the ledger and not told yet', async () => {
    const ledger = await opened();
    const stream = createEventStream({ clock, ledger, run: 'aa', root: '/project' });
    const entries = await ledger.append([used()]);
    const { one, cursors } = subscriber();
    await stream.subscribe({}, '0', one);
    stream.tell(entries);
    expect(cursors()).toEqual(['1']);
  });

  it('goes on over what memory has forgotten, and says when a hint is among it', async () => {
    const ledger = await opened();
    const stream = createEventStream({ clock, ledger, run: 'aa', root: '/project' });
    stream.tell(await ledger.append([used()]));
    stream.publish({ type: 'config_changed', keys: [] });
    for (let round = 0; round < 5; round++) {
      stream.tell(await ledger.append(Array.from({ length: 1_000 }, () => used())));
    }
    const early = subscriber();
    expect(await stream.subscribe({}, '1', early.one)).toMatchObject({ gap: true });
    expect(early.cursors()).toEqual(numbers(2, 5_001));
    const late = subscriber();
    expect(await stream.subscribe({}, '2', late.one)).toMatchObject({ gap: false });
    expect(late.cursors()).toEqual(numbers(3, 5_001));
  });

  it('keeps no more text in memory than fits, and reads the rest back', async () => {
    const ledger = await opened();
    const stream = createEventStream({ clock, ledger, run: 'aa', root: '/project' });
    const diff = 'x'.repeat(4 * 1024 * 1024);
    for (let round = 0; round < 8; round++) {
      stream.tell(await ledger.append([used()]), () => ({ diff }));
    }
    const { events, cursors, one } = subscriber();
    await stream.subscribe({}, '0', one);
    expect(cursors()).toEqual(numbers(1, 8));
    expect(events.map((event) => 'diff' in event)).toEqual([
      ...[false, false, false, false],
      ...[true, true, true, true],
    ]);
  });

  it('reads back no more than its bound, the newest of it, and says so', async () => {
    const ledger = await opened();
    for (let rest = MOST_REPLAYED + 3; rest > 0; rest -= 2_000) {
      await ledger.append(Array.from({ length: Math.min(rest, 2_000) }, () => used()));
    }
    const stream = createEventStream({ clock, ledger, run: 'aa', root: '/project' });
    const { one, cursors } = subscriber();
    expect(await stream.subscribe({}, '2', one)).toMatchObject({ gap: true });
    expect(cursors()).toEqual(numbers(4, MOST_REPLAYED + 3));
  });

  it('reads back for one dialog and for some types alone', async () => {
    const ledger = await opened();
    const remark = { remark: true };
    await ledger.append([used('A'), used('B'), note('nobody’s news'), used('A')]);
    await ledger.append([note('of B', { dialog_id: 'B', ...remark }), note('of none', remark)]);
    const stream = createEventStream({ clock, ledger, run: 'aa', root: '/project' });
    const own = subscriber();
    await stream.subscribe({ dialogId: 'A' }, '0', own.one);
    expect(own.cursors()).toEqual(['1', '4', '6']);
    const none = subscriber();
    await stream.subscribe({ types: ['user'] }, '0', none.one);
    expect(none.cursors()).toEqual([]);
  });

  it('tells hints after the line that was the newest when they came', async () => {
    const ledger = await opened();
    const stream = createEventStream({ clock, ledger, run: 'aa', root: '/project' });
    stream.publish({ type: 'config_changed', keys: [] });
    stream.tell(await ledger.append([used()]));
    stream.publish({ type: 'config_changed', keys: [] });
    const all = subscriber();
    await stream.subscribe({}, '0', all.one);
    expect(all.cursors()).toEqual(['0-aa-1', '1', '1-aa-2']);
    const rest = subscriber();
    await stream.subscribe({}, '1', rest.one);
    expect(rest.cursors()).toEqual(['1-aa-2']);
  });
});
