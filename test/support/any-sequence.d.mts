export interface AnySequenceOptions {
  readonly root: string;
  /** The built command line. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of the first sequence; the others have the numbers after it. */
  readonly seed: number;
  readonly sequences: number;
  readonly steps: number;
  readonly tell?: (line: string) => void;
}

export interface AnySequenceReport {
  readonly sequences: number;
  /** How often each kind of step was done. */
  readonly done: Readonly<Record<string, number>>;
}

/** @throws Error at the first promise that is not kept; it names the seed. */
export function anySequences(options: AnySequenceOptions): Promise<AnySequenceReport>;
