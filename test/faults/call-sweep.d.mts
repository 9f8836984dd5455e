import type { Place } from './catalogue.mjs';

export interface CallSweep extends Place {
  readonly operation: 'checkpoint' | 'finalize' | 'restore' | 'append';
  readonly errors?: readonly string[];
  /** Every so manieth call. */
  readonly step?: number;
  readonly most?: number;
}

export interface CallSweepReport {
  readonly operation: string;
  /** Calls that change the disk. */
  readonly known: number;
  /** Faults that were set. */
  readonly points: number;
  readonly refused: number;
  /** Done all the same. */
  readonly answered: number;
  /** Never reached. */
  readonly missed: number;
  /** Refusals that lasted until a new start, as they do where a flush failed. */
  readonly restarts: number;
}

/** @throws Error at the first promise that is not kept. */
export function callSweep(options: CallSweep): Promise<CallSweepReport>;
