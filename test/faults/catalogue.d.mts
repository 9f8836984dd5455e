export interface Fault {
  /** Its number in the catalogue: `F22`. */
  readonly id: string;
  readonly what: string;
  /** How it is made to happen. */
  readonly how: string;
  /** Why it cannot be made to happen here. */
  readonly needs?: () => string | undefined;
  /** One of those that every test run tries. */
  readonly fast?: boolean;
}

export interface Place {
  /** The built command line. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly outcome: 'survived' | 'failed' | 'skipped';
  readonly reason?: string;
  readonly ms: number;
}

export const LAST: number;
export const CASES: readonly Fault[];
/** Number -> why it cannot happen to this product. */
export const NOT_APPLICABLE: Readonly<Record<string, string>>;
export function tryFault(fault: Fault, place: Place): Promise<Outcome>;
