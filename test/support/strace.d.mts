import type { ChildProcess } from 'node:child_process';

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
  options?: { readonly follow?: boolean; readonly only?: boolean },
): Promise<Attached>;

export function startUnder(
  args: readonly string[],
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess;
