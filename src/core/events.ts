import { z } from 'zod';

/** The kinds of things a subscriber can hear of. Append-only. */
export const EVENT_TYPES = [
  'user',
  'dialog',
  'checkpoint',
  'session',
  'restore',
  'progress',
  'edit_started',
  'file_edit',
  'edit_aborted',
  'edit_incomplete',
  'unknown_change',
  'tracking_changed',
  'watch_desynced',
  'watch_resynced',
  'root_lost',
  'root_found',
  'config_changed',
  'shutting_down',
  'bookmark',
  'note',
  'eval',
  'snapshot',
  'git_operation',
] as const;

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
