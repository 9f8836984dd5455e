export interface PowerCutOptions {
  readonly rounds: number;
  readonly seed: number;
  /** The built command line. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whole numbers from 0 to below `end`. */
  readonly random: (end: number) => number;
  readonly tell?: (line: string) => void;
}

export interface PowerCutReport {
  readonly rounds: number;
  /** Calls that had no answer when the power went. */
  readonly interrupted: number;
  /** Files of the user, flushed by nobody, that the cuts took: the sign that they were cuts. */
  readonly lostFiles: number;
  /** Checkpoints that were acknowledged, all of which were found again after every cut. */
  readonly acknowledged: number;
}

/** Why it cannot be done on this machine; undefined when it can. */
export function whyNoPowerCut(): string | undefined;

/** @throws Error at the first promise that is not kept. */
export function powerCuts(options: PowerCutOptions): Promise<PowerCutReport>;
