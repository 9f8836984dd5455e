import type { Watched } from './project.js';

export function oracle(options: {
  root: string;
  watched: Watched;
  seed: number;
  steps: number;
  /** Most steps between two comparisons. */
  pause: number;
}): Promise<{ moments: number; settledInBetween: number }>;
