export const TESTS: readonly {
  readonly id: string;
  readonly what: string;
  readonly file: string;
  /** A part of the full title; every test with it counts. */
  readonly test: string;
}[];

export const OPEN: readonly { readonly id: string; readonly reason: string }[];
