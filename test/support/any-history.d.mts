export interface HistoryOptions {
  readonly root: string;
  /** The built command line. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
  readonly seed: number;
  /** At least so many lines of the ledger. */
  readonly events: number;
  /** Pairs of an event and a path that are looked at. */
  readonly samples: number;
  readonly tell?: (line: string) => void;
}

/** @throws Error at the first file or answer that is not what it should be. */
export function anyHistory(
  options: HistoryOptions,
): Promise<{ readonly events: number; readonly checked: number }>;
