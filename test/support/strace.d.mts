export interface Attached {
  /** What strace wrote so far. */
  said(): string;
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

export function canTrace(): boolean;

export function attach(
  pid: number,
  args: readonly string[],
  options?: { readonly follow?: boolean },
): Promise<Attached>;
