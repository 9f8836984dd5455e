import type { EventType, PublishedEvent, StreamedEvent } from '../core/events.js';
import type { Cursor } from '../core/model.js';
import type { Clock } from '../core/ports.js';

export interface Filter {
  readonly types?: readonly EventType[] | undefined;
  readonly dialogId?: string | undefined;
}

export interface Subscription {
  /** The position before the next event. */
  readonly cursor: Cursor;
  /** True when events after the given position are no longer here: look again instead. */
  readonly gap: boolean;
  cancel(): void;
}

export interface EventStream {
  publish(event: PublishedEvent): void;
  /** Delivers what came after `since`, if given, and then everything new. */
  subscribe(
    filter: Filter,
    since: string | undefined,
    deliver: (event: StreamedEvent) => void,
  ): Subscription;
  cursor(): Cursor;
}

/** A subscriber that was away for longer than this many events starts over. */
const REMEMBERED = 4096;

/** `run` tells positions of this daemon apart from those of the one before it. */
export function createEventStream(clock: Clock, run: string): EventStream {
  const remembered: { number: number; event: StreamedEvent }[] = [];
  const listeners = new Set<(event: StreamedEvent) => void>();
  let last = 0;
  const cursorAt = (number: number): Cursor => `${run}-${number}` as Cursor;

  /** The first event to deliver, or undefined when the position is not ours any more. */
  function firstAfter(since: string): number | undefined {
    const [givenRun, digits] = splitCursor(since);
    if (givenRun !== run || digits > last) return undefined;
    const oldest = remembered[0]?.number ?? last + 1;
    return digits + 1 < oldest ? undefined : digits + 1;
  }

  return {
    publish(event) {
      last++;
      const at = new Date(clock.now()).toISOString();
      const streamed: StreamedEvent = { ...event, cursor: cursorAt(last), at };
      remembered.push({ number: last, event: streamed });
      if (remembered.length > REMEMBERED) remembered.shift();
      for (const listener of listeners) listener(streamed);
    },
    subscribe(filter, since, deliver) {
      const listener = (event: StreamedEvent): void => {
        if (passes(filter, event)) deliver(event);
      };
      const first = since === undefined ? last + 1 : firstAfter(since);
      for (const { number, event } of remembered) if (number >= (first ?? 1)) listener(event);
      listeners.add(listener);
      return {
        cursor: cursorAt(last),
        gap: first === undefined,
        cancel: () => listeners.delete(listener),
      };
    },
    cursor: () => cursorAt(last),
  };
}

function splitCursor(cursor: string): [run: string, number: number] {
  const dash = cursor.lastIndexOf('-');
  const number = Number(cursor.slice(dash + 1));
  return [cursor.slice(0, Math.max(0, dash)), Number.isSafeInteger(number) ? number : Infinity];
}

function passes({ types, dialogId }: Filter, event: StreamedEvent): boolean {
  if (types !== undefined && !types.includes(event.type)) return false;
  const owner = event['dialog_id'];
  return dialogId === undefined || owner === undefined || owner === dialogId;
}
