export interface TourStep {
  readonly command: string;
  readonly expected: readonly string[];
}

export interface RanStep extends TourStep {
  readonly printed: string;
  readonly code: number;
}

export function readTour(readme: string): TourStep[];
export function runTour(tour: {
  readonly steps: readonly TourStep[];
  readonly folder: string;
  readonly cli: string;
}): Promise<RanStep[]>;
export function missing(step: RanStep): string[];
