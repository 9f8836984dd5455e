export interface WalkOptions {
  readonly root: string;
  readonly seed: number;
  readonly steps: number;
  /** The built command line. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tell?: (line: string) => void;
  /** Called with every step. */
  readonly trace?: (line: string) => void;
}

/** @throws Error at the first difference between the daemon and the model. */
export function editWalk(
  options: WalkOptions,
): Promise<{ readonly steps: number; readonly counts: Readonly<Record<string, number>> }>;
