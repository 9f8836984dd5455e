import type { Config } from '../core/config.js';
import type { PublishedEvent } from '../core/events.js';
import type { ChangeBatch, FileChange, Watcher } from '../core/watching.js';
import type { Claims } from './claims.js';
import type { EventStream } from './event-stream.js';

/** More than anybody reads in one event; the total is always told. */
const MOST_LISTED = 200;

/** Turns what the watcher notices into events. */
export function publishChanges(
  watcher: Watcher,
  events: EventStream,
  { claims, config }: { readonly claims: Claims; readonly config: () => Config },
): void {
  watcher.onChange((batch) => {
    const unclaimed = claims.take(batch);
    const isChecked = config().enableUnknownChangeDetection;
    const unknown = isChecked ? unclaimed.filter(({ path }) => !claims.isExcluded(path)) : [];
    if (unknown.length > 0) events.publish(unknownChange(unknown));
    const tracking = trackingChange(batch);
    if (tracking !== undefined) events.publish(tracking);
  });
  watcher.onNotice((notice) => events.publish(notice));
}

/** One event for everything that was noticed together: a checkout is one thing, not a thousand. */
export function unknownChange(changes: readonly FileChange[]): PublishedEvent {
  return {
    type: 'unknown_change',
    origin: changes[0]?.origin,
    total: changes.length,
    changes: changes.slice(0, MOST_LISTED).map(({ path, change, before, after, origin }) => {
      return { path, change, before: before ?? null, after: after ?? null, origin };
    }),
  };
}

function trackingChange({ changes, untracked }: ChangeBatch): PublishedEvent | undefined {
  const tracked = changes.filter(({ origin }) => origin === 'rules');
  if (tracked.length + untracked.length === 0) return undefined;
  return {
    type: 'tracking_changed',
    tracked: tracked.slice(0, MOST_LISTED).map(({ path }) => path),
    tracked_total: tracked.length,
    untracked: untracked.slice(0, MOST_LISTED),
    untracked_total: untracked.length,
  };
}
