import type { GlobalFlags } from './args.js';
import type { Catalogue } from './help.js';

export interface Around extends Catalogue {
  /** Words as the flags of the command have them. */
  readonly read: (words: readonly string[]) => Record<string, unknown>;
}

export type LocalRun = (
  globals: GlobalFlags,
  words: readonly string[],
  around: Around,
) => Promise<number>;
