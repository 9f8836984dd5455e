import { REMEDIES } from '../core/doubt.js';
import type { DoubtReason, WatchNotice } from '../core/watching.js';

/** Whether what is known may be behind the disk without anybody having been told, and why. */
export class Doubts {
  readonly #notify: (notice: WatchNotice) => void;
  /** Counts raises, so that a scan clears only doubts from before it began. */
  #raised = 0;
  #passing: DoubtReason | undefined;
  #lasting: DoubtReason | undefined;
  #isSilent = false;

  constructor(notify: (notice: WatchNotice) => void) {
    this.#notify = notify;
  }

  get mark(): number {
    return this.#raised;
  }

  /** A scan will make up for this one. */
  raise(reason: DoubtReason): void {
    this.#raised += 1;
    if (this.#passing !== undefined) return;
    this.#passing = reason;
    this.#notify({ type: 'watch_desynced', reason });
  }

  clear(mark: number): void {
    const reason = this.#passing;
    if (reason === undefined || mark !== this.#raised) return;
    this.#passing = undefined;
    this.#notify({ type: 'watch_resynced', reason });
  }

  /** Some folders have no watch, for as long as it lasts. */
  setLasting(reason: DoubtReason | undefined): void {
    if (this.#lasting === reason) return;
    const before = this.#lasting;
    this.#lasting = reason;
    if (before !== undefined) this.#notify({ type: 'watch_resynced', reason: before });
    if (reason !== undefined) this.#notify({ type: 'watch_desynced', reason });
  }

  /** Some of the tree lies where no events come from; stays so until a restart. */
  setSilent(): void {
    if (this.#isSilent) return;
    this.#isSilent = true;
    this.#notify({ type: 'watch_desynced', reason: 'no_events' });
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  get isClear(): boolean {
    return this.#passing === undefined;
  }

  get isDegraded(): boolean {
    return this.#lasting !== undefined || this.#isSilent;
  }

  get report(): { reason?: string; remedy?: string } {
    const reason = this.#lasting ?? this.#passing ?? (this.#isSilent ? 'no_events' : undefined);
    if (reason === undefined) return {};
    const remedy = REMEDIES[reason];
    return { reason, ...(remedy === undefined ? {} : { remedy }) };
  }
}
