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
  /** Per call: what the next start said it did about it. */
  readonly outcomes: Readonly<
    Record<string, { finished: number; takenBack: number; nothingToMend: number }>
  >;
  /** Per call: how many kills at which step. */
  readonly steps: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** @throws Error at the first promise that is not kept. */
export function killSweep(options: SweepOptions): Promise<SweepReport>;
