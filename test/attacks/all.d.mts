import type { Stage } from './stage.mjs';

export interface Attack {
  readonly id: string;
  readonly what: string;
  /** Why it cannot be tried on this machine. */
  readonly needs?: () => string | undefined;
  /** Takes too long for every run of the tests. */
  readonly slow?: boolean;
  run(stage: Stage, options: { readonly seconds: number }): void | Promise<unknown>;
}

export const CASES: readonly Attack[];
