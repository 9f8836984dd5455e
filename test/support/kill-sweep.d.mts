export interface SweepOptions {
  readonly root: string;
  readonly seed: number;
  readonly kills: number;
  /** The built command line. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tell?: (line: string) => void;
}

export interface SweepReport {
  readonly kills: number;
  /** Kills that came before the answer. */
  readonly interrupted: number;
  /** Checkpoints that were acknowledged, all of which were found again. */
  readonly acknowledged: number;
  /** Per call: how many interrupted ones were found finished and not begun. */
  readonly outcomes: Readonly<Record<string, { finished: number; notBegun: number }>>;
}

/** @throws Error at the first promise that is not kept. */
export function killSweep(options: SweepOptions): Promise<SweepReport>;
