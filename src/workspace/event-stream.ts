import {
  formatCursor,
  isAfter,
  planResume,
  type Position,
  type StreamState,
} from '../core/event-cursor.js';
import type { EventType, PublishedEvent, StreamedEvent } from '../core/events.js';
import { eventOf } from '../core/ledger-events.js';
import type { Ledger, LedgerEntry } from '../core/ledger.js';
import type { Cursor } from '../core/model.js';
import type { Clock } from '../core/ports.js';

export interface Filter {
  readonly types?: readonly EventType[] | undefined;
  readonly dialogId?: string | undefined;
}

export interface Subscriber {
  deliver(event: StreamedEvent): void;
  /** Resolves when there is room for more, or nobody left to take it. */
  drained(): Promise<void>;
}

export interface Subscription {
  /** The position before the next event. */
  readonly cursor: Cursor;
  /** True when something after the given position cannot be told any more: look again instead. */
  readonly gap: boolean;
  cancel(): void;
}

export interface EventStream {
  /** Something that no ledger line stands for: a hint, gone with this run. */
  publish(event: PublishedEvent): void;
  /** Lines that are on the disk, in their order. */
  tell: (entries: readonly LedgerEntry[], more?: (entry: LedgerEntry) => object) => void;
  /** How the text of an edit is found again when its line is read back. */
  describeWith(describe: (entry: LedgerEntry) => Promise<object>): void;
  /** Delivers what came after `since`, if given, and then everything new. */
  subscribe(
    filter: Filter,
    since: string | undefined,
    subscriber: Subscriber,
  ): Promise<Subscription>;
}

export interface EventStreamDeps {
  readonly clock: Clock;
  /** Open already: what it holds now was told by daemons before this one. */
  readonly ledger: Pick<Ledger, 'head' | 'read'>;
  readonly root: string;
  /** Hex digits that tell this run apart from the one before it. */
  readonly run: string;
}

interface Remembered {
  readonly position: Position;
  readonly event: StreamedEvent;
}

/** Enough for a client that lost its connection; lines before are read from the ledger. */
const REMEMBERED = 4096;
/** Of texts in them: one edit may bring megabytes. */
const MOST_TEXT = 16 * 1024 * 1024;
const PAGE = 500;

export function createEventStream({ clock, ledger, run, root }: EventStreamDeps): EventStream {
  const remembered: Remembered[] = [];
  const listeners = new Set<(one: Remembered) => void>();
  let head = ledger.head().seq;
  let floor = head;
  let number = 0;
  let text = 0;
  let last: Position = { seq: head };
  let forgotten: StreamState['forgotten'];
  let describe: (entry: LedgerEntry) => Promise<object> = () => Promise.resolve({});

  function add(position: Position, one: Remembered): void {
    last = position;
    remembered.push(one);
    text += textIn(one);
    while (remembered.length > REMEMBERED || text > MOST_TEXT) forget(remembered.shift());
    for (const listener of listeners) listener(one);
  }

  function forget(one: Remembered | undefined): void {
    if (one === undefined) return;
    text -= textIn(one);
    const { seq, within } = one.position;
    if (within === undefined) floor = seq;
    else forgotten = { seq, within };
  }

  /** The lines between a position and those in memory, which may go on moving meanwhile. */
  async function replay(
    from: Position,
    subscriber: Subscriber,
    deliver: (event: StreamedEvent) => void,
  ): Promise<Position> {
    let at = from;
    while (at.seq < floor) {
      const end = floor;
      const entries = await ledger.read({ after: at.seq, limit: PAGE });
      for (const entry of entries.filter(({ seq }) => seq <= end)) {
        const event = streamed(entry, root);
        if (event === undefined) continue;
        deliver(event.type === 'file_edit' ? { ...event, ...(await describe(entry)) } : event);
      }
      // Damaged lines are not among them, and must not be waited for.
      const reached = entries.at(-1)?.seq ?? end;
      at = { ...at, seq: Math.min(reached, end) };
      await subscriber.drained();
    }
    return at;
  }

  return {
    publish(event) {
      const position = { seq: head, within: { run, number: ++number } };
      const at = new Date(clock.now()).toISOString();
      add(position, { position, event: { ...event, cursor: formatCursor(position), at } });
    },

    tell(entries, more = () => ({})) {
      for (const entry of entries) {
        head = entry.seq;
        const event = streamed(entry, root);
        const position = { seq: entry.seq };
        if (event !== undefined) add(position, { position, event: { ...event, ...more(entry) } });
      }
    },

    describeWith(given) {
      describe = given;
    },

    async subscribe(filter, since, subscriber) {
      const deliver = (event: StreamedEvent): void => {
        if (passes(filter, event)) subscriber.deliver(event);
      };
      const { from, gap } =
        since === undefined
          ? { from: last, gap: false }
          : planResume(since, { run, head, floor, forgotten });
      const at = await replay(from, subscriber, deliver);
      // From here to the end in one turn: nothing can come between memory and the present.
      const listener = ({ position, event }: Remembered): void => {
        if (isAfter(position, at)) deliver(event);
      };
      for (const one of remembered) listener(one);
      listeners.add(listener);
      return { cursor: formatCursor(last), gap, cancel: () => listeners.delete(listener) };
    },
  };
}

function textIn({ event }: Remembered): number {
  const { diff } = event;
  return typeof diff === 'string' ? diff.length : 0;
}

function streamed(entry: LedgerEntry, root: string): StreamedEvent | undefined {
  const event = eventOf(entry, root);
  if (event === undefined) return undefined;
  return { ...event, cursor: formatCursor({ seq: entry.seq }), at: entry.ts };
}

function passes({ types, dialogId }: Filter, event: StreamedEvent): boolean {
  if (types !== undefined && !types.includes(event.type)) return false;
  const owner = event['dialog_id'];
  return dialogId === undefined || owner === undefined || owner === null || owner === dialogId;
}
