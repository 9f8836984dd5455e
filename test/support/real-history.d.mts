export interface RealHistoryOptions {
  /** Any repository; it is only read. */
  readonly repository: string;
  /** An empty folder. */
  readonly root: string;
  /** The built command line. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
  /** The newest so many, along the first parents. */
  readonly commits: number;
  readonly seed: number;
  /** Checkpoints that are gone back to. */
  readonly samples: number;
  readonly tell?: (line: string) => void;
}

interface Percentiles {
  readonly p50: number | null;
  readonly p99: number | null;
  readonly most: number | null;
}

/** @throws Error at the first path that is not what git has. */
export function realHistory(options: RealHistoryOptions): Promise<{
  readonly commits: number;
  /** In the last tree. */
  readonly paths: number;
  readonly files: number;
  readonly bytes: number;
  readonly named: number;
  readonly commands: number;
  readonly empty: number;
  readonly leftOut: Readonly<Record<string, number>>;
  readonly ms: Readonly<Record<'checkpoint' | 'start' | 'finalize', Percentiles>>;
  readonly restored: { readonly checkpoints: number; readonly stayed: number };
  readonly store: { readonly bytes: number; readonly ledger: number };
  readonly repository: { readonly bytes: number; readonly commits: number };
}>;
