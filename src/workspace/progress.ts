import type { OnProgress } from '../core/store.js';
import type { Clock } from '../core/ports.js';
import type { EventStream } from './event-stream.js';

export interface ProgressDeps {
  readonly events: EventStream;
  readonly clock: Clock;
}

export interface LongWork {
  /** The verb a client asked for. */
  readonly what: 'checkpoint' | 'restore' | 'delete_dialog' | 'gc';
  /** None: it is about the whole project. */
  readonly dialog?: string;
}

/** Work that is done sooner needs no word about it, and nobody reads faster than this. */
const EVERY_MS = 500;
/** Nor does work on fewer files; with as many more there is something to say on any machine. */
const EVERY_FILES = 5_000;

/** Publishes how far long work has come: now and then, not after each file. */
export function reportProgress({ events, clock }: ProgressDeps, work: LongWork): OnProgress {
  let last = clock.monotonic();
  return (done, total) => {
    const now = clock.monotonic();
    const isMilestone = done > 0 && done % EVERY_FILES === 0;
    if (!isMilestone && now - last < EVERY_MS) return;
    last = now;
    const of = work.dialog === undefined ? {} : { dialog_id: work.dialog };
    events.publish({ type: 'progress', what: work.what, ...of, done, total });
  };
}
