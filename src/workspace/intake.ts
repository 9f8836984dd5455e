import type { Config } from '../core/config.js';
import type { PublishedEvent } from '../core/events.js';
import type { Unexplained } from '../core/known-state.js';
import type { Path } from '../core/model.js';
import type { FileChange, Watcher } from '../core/watching.js';
import type { Claims } from './claims.js';
import type { EventStream } from './event-stream.js';
import { changeType } from './unknown-result.js';

/** More than anybody reads in one event; the total is always told. */
const MOST_LISTED = 200;

/** Turns what the watcher notices into events. */
export function publishChanges(
  watcher: Watcher,
  events: EventStream,
  { claims, config }: { readonly claims: Claims; readonly config: () => Config },
): void {
  let noticed = nothing();
  watcher.onChange((batch) => {
    const unclaimed = claims.take(batch);
    const isChecked = config().enableUnknownChangeDetection;
    const unknown = isChecked ? unclaimed.filter(({ path }) => !claims.isExcluded(path)) : [];
    add(noticed.unknown, unknown);
    add(
      noticed.tracked,
      batch.changes.filter(({ origin }) => origin === 'rules'),
    );
    add(noticed.untracked, batch.untracked);
    if (batch.more) return;
    const { unknown: all } = noticed;
    if (all.length > 0) events.publish(unknownChange(all));
    const tracking = trackingChange(noticed);
    if (tracking !== undefined) events.publish(tracking);
    noticed = nothing();
  });
  watcher.onNotice((notice) => events.publish(notice));
}

/** Of what turned out to be nobody's after it was noticed. */
export function publishUnknown(events: EventStream, found: readonly Unexplained[]): void {
  if (found.length === 0) return;
  const changes = found.map((one): FileChange => {
    const { path, expected, actual, origin } = one;
    return {
      ...{ path, change: changeType(one), origin, echo: false },
      ...(expected === null ? {} : { before: expected }),
      ...(actual === null ? {} : { after: actual }),
    };
  });
  events.publish(unknownChange(changes));
}

/** One event for everything that was noticed together: a checkout is one thing, not a thousand. */
function unknownChange(changes: readonly FileChange[]): PublishedEvent {
  return {
    type: 'unknown_change',
    origin: changes[0]?.origin,
    total: changes.length,
    changes: changes.slice(0, MOST_LISTED).map(({ path, change, before, after, origin }) => {
      return { path, change, before: before ?? null, after: after ?? null, origin };
    }),
  };
}

/** Of all parts of a batch so far. */
interface Noticed {
  readonly unknown: FileChange[];
  readonly tracked: FileChange[];
  readonly untracked: Path[];
}

function nothing(): Noticed {
  return { unknown: [], tracked: [], untracked: [] };
}

function add<T>(to: T[], more: readonly T[]): void {
  for (const each of more) to.push(each);
}

function trackingChange({ tracked, untracked }: Noticed): PublishedEvent | undefined {
  if (tracked.length + untracked.length === 0) return undefined;
  return {
    type: 'tracking_changed',
    tracked: tracked.slice(0, MOST_LISTED).map(({ path }) => path),
    tracked_total: tracked.length,
    untracked: untracked.slice(0, MOST_LISTED),
    untracked_total: untracked.length,
  };
}
