import { z } from 'zod';
import { EVENT_TYPES } from './event-types.js';

export const EventType = z.enum(EVENT_TYPES);
export type EventType = z.output<typeof EventType>;

/** What is published; `type` tells the rest apart. */
export interface PublishedEvent extends Readonly<Record<string, unknown>> {
  readonly type: EventType;
}

/** What a subscriber gets: the event, its position and its time. */
export interface StreamedEvent extends PublishedEvent {
  readonly cursor: string;
  readonly at: string;
}
